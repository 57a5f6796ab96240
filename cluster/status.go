package cluster

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/activity"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// status returns the status of this process.
func (p *Process) status() *peer.Status {
	s := &peer.Status{Member: p.members.own(), Claims: p.ownership.list(), Damaged: p.damaged.list(),
		Figures: p.figures()}
	s.Lost, _ = p.reach.Why()
	if p.workers != nil {
		s.Suspended = p.workers.sources.known.suspended()
	}
	now := time.Now()
	for name, store := range p.incoming.held() {
		shown := peer.StoreStatus{Name: name, ID: store.ID()}
		for sack, backlog := range store.Backlog().Sacks {
			if backlog.Blocks > 0 {
				shown.Backlog = append(shown.Backlog, peer.SackStatus{Sack: sack, Measures: backlog.Measures,
					Blocks: backlog.Blocks, Seconds: backlog.Age(now).Seconds()})
			}
		}
		s.Stores = append(s.Stores, shown)
	}
	return s
}

// figures returns what the members show of this process.
func (p *Process) figures() *model.MemberFigures {
	figures := p.options.Figures()
	figures.Uptime = time.Since(p.opened).Seconds()
	if own := p.incoming.own; own != nil {
		figures.Accepted = own.AcceptedMeasures()
	}
	if p.workers != nil {
		figures.Processed = p.workers.metricd.Processed()
	}
	return &figures
}

// statusTimeout is how long the other processes have to answer with their status.
const statusTimeout = 2 * time.Second

// Status asks all processes.
func (p *Process) Status(ctx context.Context) *model.ClusterStatus {
	cluster := &model.ClusterStatus{Members: []model.ClusterMember{}, Claims: []model.ClusterClaim{},
		Sacks: []model.SackLag{}, Damaged: []model.DamagedStore{}}
	members, err := p.members.session.Members(ctx)
	if err != nil {
		p.logger.Warn("members not read", "error", err)
		return cluster
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	answers := make([]*peer.Status, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		cluster.Members = append(cluster.Members, model.ClusterMember{ID: m.ID, Address: m.Address, Roles: m.Roles})
		if m.ID == p.members.own() {
			answers[i] = p.status()
			continue
		}
		all.Go(func() {
			if answer, err := p.members.client.Status(ctx, m.Address); err == nil {
				answers[i] = answer
			}
		})
	}
	all.Wait()
	lags := make(map[int]*model.SackLag)
	for i, answer := range answers {
		if answer == nil {
			cluster.Silent = append(cluster.Silent, members[i].ID)
			continue
		}
		cluster.Members[i].Figures = answer.Figures
		for _, c := range answer.Claims {
			cluster.Claims = append(cluster.Claims,
				model.ClusterClaim{Name: c.Name, Epoch: c.Epoch, Member: answer.Member})
		}
		for _, name := range answer.Suspended {
			if !slices.Contains(cluster.Suspended, name) {
				cluster.Suspended = append(cluster.Suspended, name)
			}
		}
		for _, store := range answer.Damaged {
			if store.Fault == model.StoreLocked {
				continue
			}
			store.Member = answer.Member
			cluster.Damaged = append(cluster.Damaged, store)
		}
		for _, store := range answer.Stores {
			for _, b := range store.Backlog {
				lag := lags[b.Sack]
				if lag == nil {
					lag = &model.SackLag{Sack: b.Sack}
					lags[b.Sack] = lag
				}
				lag.Measures += b.Measures
				lag.Seconds = max(lag.Seconds, b.Seconds)
				if store.Name != p.incoming.ownName { // the backlog of our own store is counted by metric
					cluster.Bundles += b.Blocks
				}
			}
		}
	}
	for _, lag := range lags {
		cluster.Sacks = append(cluster.Sacks, *lag)
	}
	slices.SortFunc(cluster.Sacks, func(a, b model.SackLag) int { return a.Sack - b.Sack })
	slices.SortFunc(cluster.Damaged, func(a, b model.DamagedStore) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(cluster.Claims, func(a, b model.ClusterClaim) int { return strings.Compare(a.Name, b.Name) })
	return cluster
}

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
