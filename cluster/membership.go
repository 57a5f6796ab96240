package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// membership is this process among the members of the cluster: it knows the others, and wakes them.
type membership struct {
	session claim.Session
	client  *peer.Client
	logger  *slog.Logger
	woken   [2]chan struct{} // of capacity 1: for the index, and for the rest

	warnEvery time.Duration // that announce waits in vain
	looking   atomic.Bool   // lookSoon is under way

	mu      sync.Mutex
	leaving map[string]bool // IDs of members that are about to leave, this one included: they get nothing more
}

func newMembership(session claim.Session, client *peer.Client, logger *slog.Logger) *membership {
	return &membership{session: session, client: client, logger: logger, warnEvery: announceWarning,
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

// lookSoon lists the members, beside the caller, and makes this process reconcile if it finds another one: members tell
// that they have joined.
func (m *membership) lookSoon() {
	if m.looking.CompareAndSwap(false, true) {
		go func() {
			_ = m.session.Look(context.Background()) // else they are listed within a beat
			m.looking.Store(false)
		}()
	}
}

// staying returns the members that share the stores. Other members of this process's name have ended (refuseNamesake).
// The rest of the cluster may know that first, and gives this process the sacks that it would leave to them.
func (m *membership) staying(ctx context.Context) ([]claim.Member, error) {
	members, err := m.session.Members(ctx)
	own := m.session.Member()
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.DeleteFunc(members, func(member claim.Member) bool {
		return m.leaving[member.ID] || member.Node == own.Node && member.ID != own.ID
	}), err
}

func (m *membership) noteLeaving(member string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.leaving[member] = true
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

// Choices of members.

func everyone(*claim.Member) bool { return true }

func hasRole(role Role) func(*claim.Member) bool {
	return func(m *claim.Member) bool { return m.HasRole(string(role)) }
}

// wakeOthers tells other members, each for which want returns true, that claims have changed. It waits until they have
// looked.
func (m *membership) wakeOthers(ctx context.Context, want func(*claim.Member) bool) {
	m.tellOthers(ctx, new(peer.Notice), want)
}

// tellOthers sends other members a notice, each for which want returns true, and waits until they have acted on it.
func (m *membership) tellOthers(ctx context.Context, notice *peer.Notice, want func(*claim.Member) bool) {
	_ = m.askOthers(ctx, wakeTimeout, want, func(ctx context.Context, o *claim.Member) { m.tell(ctx, o, notice) })
}

// tell sends another member a notice. One that cannot be told looks by itself.
func (m *membership) tell(ctx context.Context, other *claim.Member, notice *peer.Notice) (ok bool) {
	err := m.client.Tell(ctx, other.Address, notice)
	if err != nil {
		m.logger.Debug("member not told", "other", other.ID, "error", err)
	}
	return err == nil
}

// answers reports whether another member runs, and answers at once.
func (m *membership) answers(ctx context.Context, other *claim.Member) bool {
	ctx, cancel := context.WithTimeout(ctx, wakeTimeout/2)
	defer cancel()
	pulse, err := m.client.Pulse(ctx, other.Address)
	return err == nil && pulse.Member == other.ID
}

// claimsOf asks another process which stores it holds: none if it is no member, or does not answer.
func (m *membership) claimsOf(ctx context.Context, other *claim.Member) []peer.ClaimStatus {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askTimeout)
	defer cancel()
	members, err := m.staying(ctx)
	if err != nil || !slices.ContainsFunc(members, func(m claim.Member) bool { return m.ID == other.ID }) {
		return nil
	}
	status, err := m.client.Status(ctx, other.Address)
	if err != nil || status.Member != other.ID {
		return nil
	}
	return status.Claims
}

// tellTaken tells the others that this process has taken a store, which is a sack, or -1.
func (m *membership) tellTaken(ctx context.Context, name string, sack int, epoch uint64) {
	m.tellOthers(context.WithoutCancel(ctx), &peer.Notice{Taken: name, Sack: sack,
		Holder: claim.Holder{Member: m.session.Member(), Epoch: epoch}}, everyone)
}

// askOthers calls ask for the other members, each for which want returns true, all at once, and returns when all calls
// have. They have so long.
func (m *membership) askOthers(ctx context.Context, timeout time.Duration, want func(*claim.Member) bool,
	ask func(ctx context.Context, other *claim.Member)) error {
	members, err := m.session.Members(ctx)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var all sync.WaitGroup
	for i := range members {
		if other := &members[i]; other.ID != m.own() && want(other) {
			all.Go(func() { ask(ctx, other) })
		}
	}
	all.Wait()
	return nil
}

// announce tells every process with workers of an incoming store that is about to accept measures. One that does not
// answer is asked again until it does, or is dead: if it did not know of the store, it could take the store's measures
// for too old. A process that joins after the look finds the store in its first listing (sources.reconcile).
func (m *membership) announce(ctx context.Context, store string) error {
	if err := m.session.Look(ctx); err != nil {
		return err
	}
	told, warned := make(map[string]bool), make(map[string]time.Time)
	for {
		members, err := m.session.Members(ctx)
		if err != nil {
			return err
		}
		waiting := slices.DeleteFunc(members, func(other claim.Member) bool {
			return other.ID == m.own() || told[other.ID] || !other.HasRole(string(RoleMetricd))
		})
		answered, errs := make([]bool, len(waiting)), make([]error, len(waiting))
		var all sync.WaitGroup
		for i, other := range waiting {
			all.Go(func() {
				ctx, cancel := context.WithTimeout(ctx, wakeTimeout)
				defer cancel()
				err := m.client.Tell(ctx, other.Address, &peer.Notice{Store: store})
				answered[i], errs[i] = err == nil, err
			})
		}
		all.Wait()
		for i, other := range waiting {
			told[other.ID] = answered[i]
			if !answered[i] && time.Since(warned[other.ID]) >= m.warnEvery {
				warned[other.ID] = time.Now()
				m.logger.Warn("waiting until a process answers, or is dead: it has to know the incoming store. If it runs, "+
					"the address that it was given by --peer-listen or --peer-advertise is not reached from here",
					"other", other.ID, "address", other.Address, "store", store, "error", errs[i])
			}
		}
		if !slices.Contains(answered, false) {
			return nil
		}
		if err := pause.For(ctx, announcePause); err != nil {
			return err
		}
	}
}

const (
	// announcePause is the time until a process that did not answer is told again.
	announcePause = 100 * time.Millisecond
	// announceWarning is the time between two warnings of a process that does not answer.
	announceWarning = time.Minute
)

// refuseLoopback returns an error if a process of another machine and this one cannot reach each other, because either
// advertises a loopback address: both would wait for ever. A member that died lately is no reason. It is known to be
// dead once grace is over.
func (m *membership) refuseLoopback(ctx context.Context, grace time.Duration) error {
	said := false
	for began := time.Now(); ; {
		members, err := m.session.Members(ctx)
		if err != nil {
			return err
		}
		own := m.session.Member()
		if err = unreachable(&own, members); err == nil || time.Since(began) > grace {
			return err
		}
		if !said {
			said = true
			m.logger.Warn("this process does not start as long as that is so, and gives up if nobody else dies meanwhile",
				"wait", grace, "error", err)
		}
		if err := pause.For(ctx, announcePause); err != nil {
			return err
		}
	}
}

// refuseNamesake returns an error if another process of this one's name runs: each start of one would take sacks from
// the other. A member that does not answer may have died lately.
func (m *membership) refuseNamesake(ctx context.Context) error {
	members, err := m.session.Members(ctx)
	if err != nil {
		return err
	}
	own := m.session.Member()
	for _, other := range members {
		if other.Node != own.Node || other.ID == own.ID {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, wakeTimeout)
		status, err := m.client.Status(ctx, other.Address)
		cancel()
		if err == nil && status.Member == other.ID { // else a later process has its port
			return fmt.Errorf("cluster: a process called %s runs already, on %s at %s: give each one a --node of its own",
				own.Node, other.Process.Host, other.Address)
		}
	}
	return nil
}

// unreachable returns an error if own or a member of another machine advertises a loopback address.
func unreachable(own *claim.Member, members []claim.Member) error {
	for _, other := range members {
		if other.Process.BootID == own.Process.BootID {
			continue
		}
		for _, m := range []*claim.Member{own, &other} {
			if isLoopback(m.Address) {
				return fmt.Errorf("cluster: processes on several machines share this data folder (%s on %s, and %s on %s), "+
					"and %s says that it is reached at %s: start it with --peer-listen ADDRESS:PORT, at an address that the "+
					"other machines reach", own.ID, own.Process.Host, other.ID, other.Process.Host, m.ID, m.Address)
			}
		}
	}
	return nil
}
