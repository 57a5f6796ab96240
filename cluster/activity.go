package cluster

import (
	"context"
	"sync"

	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// OtherActivity asks the other processes that answer queries for theirs. It leaves out those that do not answer.
func (p *Process) OtherActivity(ctx context.Context, request activity.Request) (reports []*activity.Report) {
	var mu sync.Mutex
	err := p.members.askOthers(ctx, statusTimeout, hasRole(RoleAPI), func(ctx context.Context, other *claim.Member) {
		if report, err := p.members.client.Activity(ctx, other.Address, request); err == nil {
			mu.Lock()
			defer mu.Unlock()
			reports = append(reports, report)
		}
	})
	if err != nil {
		p.logger.Warn("members not read", "error", err)
	}
	return reports
}
