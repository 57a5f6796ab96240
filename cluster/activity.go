package cluster

import (
	"context"
	"slices"
	"sync"

	"github.com/gnocco-db/gnocco/query/activity"
)

// OtherActivity asks the other processes that answer queries for theirs. It leaves out those that do not answer.
func (p *Process) OtherActivity(ctx context.Context, request activity.Request) (reports []*activity.Report) {
	members, err := p.members.session.Members(ctx)
	if err != nil {
		p.logger.Warn("members not read", "error", err)
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, m := range members {
		if m.ID == p.members.own() || !slices.Contains(m.Roles, string(RoleAPI)) {
			continue
		}
		all.Go(func() {
			if report, err := p.members.client.Activity(ctx, m.Address, request); err == nil {
				mu.Lock()
				defer mu.Unlock()
				reports = append(reports, report)
			}
		})
	}
	all.Wait()
	return reports
}
