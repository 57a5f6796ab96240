package cluster

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"gnocco/cluster/peer"
	"gnocco/internal/pause"
	"gnocco/storage/claim"
)

// membership is this process among the members of the cluster: it knows the others, and wakes them.
type membership struct {
	session claim.Session
	client  *peer.Client
	logger  *slog.Logger
	woken   [2]chan struct{} // of capacity 1: for the index, and for the rest

	mu      sync.Mutex
	leaving map[string]bool // IDs of members that are about to leave, this one included: they get nothing more
}

func newMembership(session claim.Session, client *peer.Client, logger *slog.Logger) *membership {
	return &membership{session: session, client: client, logger: logger,
		woken: [2]chan struct{}{make(chan struct{}, 1), make(chan struct{}, 1)}, leaving: make(map[string]bool)}
}

// own returns the ID of this process.
func (m *membership) own() string { return m.session.Member().ID }

// wake makes this process reconcile now.
func (m *membership) wake() {
	for _, woken := range m.woken {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
}

// staying returns the members that share the stores.
func (m *membership) staying(ctx context.Context) ([]claim.Member, error) {
	members, err := m.session.Members(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(members, func(member claim.Member) bool { return m.leaving[member.ID] }), err
}

func (m *membership) noteLeaving(member string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaving[member] = true
}

// announceLeave makes the others expect the stores that this process gives back.
func (m *membership) announceLeave(ctx context.Context) {
	m.noteLeaving(m.own())
	m.tellOthers(ctx, m.own(), everyone)
}

// leave ends the membership.
func (m *membership) leave(ctx context.Context) error {
	err := m.session.Leave(ctx)
	m.wakeOthers(ctx, everyone)
	m.client.Close()
	return err
}

// wakeTimeout bounds the wait for a process that is told of a change: without an answer it soon sees the change by
// itself.
const wakeTimeout = time.Second

// Choices of members for wakeOthers.

func everyone(*claim.Member) bool { return true }

func hasRole(role Role) func(*claim.Member) bool {
	return func(m *claim.Member) bool { return m.HasRole(string(role)) }
}

func hasID(id string) func(*claim.Member) bool {
	return func(m *claim.Member) bool { return m.ID == id }
}

// wakeOthers tells other members, each for which want returns true, that claims have changed. It waits until they have
// looked.
func (m *membership) wakeOthers(ctx context.Context, want func(*claim.Member) bool) {
	m.tellOthers(ctx, "", want)
}

// tellOthers is wakeOthers, and names a member that is about to leave, "" for none.
func (m *membership) tellOthers(ctx context.Context, leaving string, want func(*claim.Member) bool) {
	members, err := m.session.Members(ctx)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, wakeTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, other := range members {
		if other.ID != m.own() && want(&other) {
			all.Go(func() {
				if err := m.client.Wake(ctx, other.Address, leaving); err != nil {
					m.logger.Debug("member not woken", "other", other.ID, "error", err)
				}
			})
		}
	}
	all.Wait()
}

// announce tells every process with workers of an incoming store that is about to accept measures. One that does not
// answer is asked again until it does, or is dead: if it did not know of the store, it could take the store's measures
// for too old.
func (m *membership) announce(ctx context.Context, store string) error {
	told := make(map[string]bool)
	for {
		members, err := m.session.Members(ctx)
		if err != nil {
			return err
		}
		waiting := slices.DeleteFunc(members, func(other claim.Member) bool {
			return other.ID == m.own() || told[other.ID] || !other.HasRole(string(RoleMetricd))
		})
		answered := make([]bool, len(waiting))
		var all sync.WaitGroup
		for i, other := range waiting {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, wakeTimeout)
				defer cancel()
				err := m.client.Announce(ctx, other.Address, store)
				if answered[i] = err == nil; !answered[i] {
					m.logger.Info("waiting until a process knows the incoming store, or is dead", "other", other.ID,
						"store", store, "error", err)
				}
			})
		}
		all.Wait()
		for i, other := range waiting {
			told[other.ID] = answered[i]
		}
		if !slices.Contains(answered, false) {
			return nil
		}
		if err := pause.For(ctx, announcePause); err != nil {
			return err
		}
	}
}

// announcePause is the time until a process that did not answer is told again.
const announcePause = 100 * time.Millisecond

// warnOfLoopback logs a warning if processes on other machines cannot reach this one.
func (m *membership) warnOfLoopback(ctx context.Context) {
	own := m.session.Member()
	if !isLoopback(own.Address) {
		return
	}
	members, err := m.session.Members(ctx)
	if err != nil {
		return // the reconcile loop logs it
	}
	for _, other := range members {
		if other.Process.BootID != own.Process.BootID {
			m.logger.Warn("processes on other machines cannot reach this one: say by --peer-listen where it is",
				"address", own.Address, "other", other.ID)
			return
		}
	}
}
