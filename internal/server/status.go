package server

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"gnocco/api"
	"gnocco/internal/peer"
)

// status is what this process says of itself.
func (n *node) status() *peer.Status {
	s := &peer.Status{Member: n.session.Member().ID, Claims: n.claims.list()}
	now := time.Now()
	for name, store := range n.heldStores() {
		shown := peer.StoreStatus{Name: name, ID: store.ID()}
		for sack, backlog := range store.Backlog().Sacks {
			if backlog.Blocks > 0 {
				shown.Backlog = append(shown.Backlog, peer.SackStatus{Sack: sack, Measures: backlog.Measures, Blocks: backlog.Blocks,
					Seconds: backlog.Age(now).Seconds()})
			}
		}
		s.Stores = append(s.Stores, shown)
	}
	return s
}

// statusTimeout is how long the other processes have to tell of themselves.
const statusTimeout = 2 * time.Second

// clusterStatus asks all processes.
func (n *node) clusterStatus(ctx context.Context) *api.Cluster {
	cluster := &api.Cluster{Members: []api.Member{}, Claims: []api.Claim{}, Sacks: []api.SackLag{}}
	members, err := n.session.Members(ctx)
	if err != nil {
		n.logger.Warn("members not read", "error", err)
		return cluster
	}
	ctx, cancel := context.WithTimeout(ctx, statusTimeout)
	defer cancel()
	answers := make([]*peer.Status, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		cluster.Members = append(cluster.Members, api.Member{ID: m.ID, Address: m.Address, Roles: m.Roles})
		if m.ID == n.session.Member().ID {
			answers[i] = n.status()
			continue
		}
		all.Go(func() {
			if answer, err := n.client.Status(ctx, m.Address); err == nil {
				answers[i] = answer
			}
		})
	}
	all.Wait()
	lags := make(map[int]*api.SackLag)
	for i, answer := range answers {
		if answer == nil {
			cluster.Silent = append(cluster.Silent, members[i].ID)
			continue
		}
		for _, c := range answer.Claims {
			cluster.Claims = append(cluster.Claims, api.Claim{Name: c.Name, Epoch: c.Epoch, Member: answer.Member})
		}
		for _, store := range answer.Stores {
			for _, b := range store.Backlog {
				lag := lags[b.Sack]
				if lag == nil {
					lag = &api.SackLag{Sack: b.Sack}
					lags[b.Sack] = lag
				}
				lag.Measures += b.Measures
				lag.Seconds = max(lag.Seconds, b.Seconds)
				if store.Name != n.ownName { // what our own store has is counted by metric
					cluster.Bundles += b.Blocks
				}
			}
		}
	}
	for _, lag := range lags {
		cluster.Sacks = append(cluster.Sacks, *lag)
	}
	slices.SortFunc(cluster.Sacks, func(a, b api.SackLag) int { return a.Sack - b.Sack })
	slices.SortFunc(cluster.Claims, func(a, b api.Claim) int { return strings.Compare(a.Name, b.Name) })
	return cluster
}
