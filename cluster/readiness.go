package cluster

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/reach"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// NotReady returns why no requests should be sent to this process, nil if they should.
func (p *Process) NotReady() (reasons []string) {
	if !p.members.session.Valid() {
		reasons = append(reasons, "no lease")
	}
	if p.options.Role.HasAPI() && p.incoming.own == nil {
		reasons = append(reasons, "no incoming store")
	}
	p.Missing()
	if reason, elsewhere := p.reach.Why(); elsewhere {
		reasons = append(reasons, reason)
	}
	return reasons
}

const (
	// missingFor is how long it is believed which stores nobody holds.
	missingFor = time.Second
	// missingWait is how long a caller waits for the disk to tell. A disk that hangs holds up no answer.
	missingWait = 200 * time.Millisecond
)

// missing knows which stores of the cluster nobody holds.
type missing struct {
	look func(context.Context) []string

	mu    sync.Mutex
	names []string
	at    time.Time
	done  chan struct{} // closed when the look under way has ended; nil for none
}

// Missing returns the names of the stores that no process holds, as of a moment ago.
func (p *Process) Missing() []string {
	m := &p.missing
	m.mu.Lock()
	if m.done == nil && time.Since(m.at) > missingFor {
		m.done = make(chan struct{})
		go m.refresh()
	}
	done := m.done
	m.mu.Unlock()
	if done != nil {
		select {
		case <-done:
		case <-time.After(missingWait):
		}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.names)
}

func (m *missing) refresh() {
	names := m.look(context.Background())
	m.mu.Lock()
	defer m.mu.Unlock()
	m.names, m.at = names, time.Now()
	close(m.done)
	m.done = nil
}

// lookForMissing looks up the stores that this process does not hold, and notes which of their holders answer.
func (p *Process) lookForMissing(ctx context.Context) []string {
	names := []string{datafolder.IndexName}
	for sack := range p.cluster.Sacks {
		names = append(names, datafolder.SackName(sack))
	}
	var holders []reach.Holder
	names = slices.DeleteFunc(names, func(name string) bool {
		if _, holds := p.ownership.holds(name); holds {
			return true
		}
		holder, err := p.holders.lookup(ctx, name)
		if err != nil || !holder.Live() {
			return false
		}
		holders = append(holders, reach.Holder{ID: holder.Member.ID, Address: holder.Member.Address,
			Index: name == datafolder.IndexName, Answers: p.holders.confirms(ctx, &holder, name)})
		return true
	})
	var worse atomic.Bool
	if p.reach.Note(time.Now(), holders) != "" {
		_ = p.members.askOthers(ctx, askTimeout, hasRole(RoleAPI), func(ctx context.Context, other *claim.Member) {
			if status, err := p.members.client.Status(ctx, other.Address); err != nil || status.Lost == "" {
				worse.Store(true)
			}
		})
	}
	p.reach.Compare(worse.Load())
	return names
}
