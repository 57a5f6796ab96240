package cluster

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
)

const (
	// holderFor is how long a known holder of a store is believed without a look at the disk. A process that does not
	// hold the store any more says so when asked.
	holderFor = 10 * time.Second
	// holderWait is how long a request waits for a store without a holder: most likely it is being handed over.
	holderWait = 2 * time.Second
	// silentWait is how much longer a request waits when it has found that the holder is silent, which takes a while.
	// No other process can have the store before the silent one has lost its lease.
	silentWait = 500 * time.Millisecond
	// holderLook is the least time between two looks at the disk for one store. Its taker also says so.
	holderLook = 50 * time.Millisecond
	// answerFor is how long it is believed what a member has said of its stores, or that it does not answer.
	answerFor = 5 * time.Second
)

// holders knows which process to ask for a store that this one does not hold.
type holders struct {
	members *membership
	session claim.Session
	damaged *damagedStores // of this process, which needs to ask no other for them

	elsewhere *damagedElsewhere

	looks singleflight.Group // at the disk, by store: many requests may wait for one

	mu      sync.Mutex
	known   map[string]knownHolder
	answers map[string]answer // by member's ID, since claims have last changed
	changed chan struct{}     // closed when claims have changed
}

// answer is what a member says of its stores.
type answer struct {
	claims []peer.ClaimStatus // none if it did not answer
	at     time.Time
}

func newHolders(members *membership, damaged *damagedStores) *holders {
	return &holders{members: members, session: members.session, damaged: damaged,
		elsewhere: &damagedElsewhere{members: members}, known: make(map[string]knownHolder),
		answers: make(map[string]answer), changed: make(chan struct{})}
}

// lookup returns a store's holder. It asks the last known one, as long as that is a member, whether it still holds the
// store, and looks at the disk only if it does not say so. So loops may look up all stores again and again.
func (h *holders) lookup(ctx context.Context, name string) (claim.Holder, error) {
	h.mu.Lock()
	known := h.known[name]
	h.mu.Unlock()
	if known.Live() && h.confirms(ctx, &known.Holder, name) {
		return h.note(name, known.Holder, true).Holder, nil
	}
	holder, err := h.session.Holder(ctx, name)
	h.note(name, holder, err == nil)
	return holder, err
}

// confirms reports whether the holder of a store says that it has the store.
func (h *holders) confirms(ctx context.Context, holder *claim.Holder, name string) bool {
	id := holder.Member.ID
	if id == h.members.own() {
		return false
	}
	h.mu.Lock()
	a, answers := h.answers[id], h.answers
	h.mu.Unlock()
	if time.Since(a.at) >= answerFor {
		found, _, _ := h.looks.Do("of "+id, func() (any, error) {
			return answer{h.members.claimsOf(ctx, &holder.Member), time.Now()}, nil
		})
		a = found.(answer)
		h.mu.Lock()
		answers[id] = a // unless claims have changed meanwhile
		h.mu.Unlock()
	}
	return slices.Contains(a.claims, peer.ClaimStatus{Name: name, Epoch: holder.Epoch})
}

type knownHolder struct {
	claim.Holder
	at time.Time
}

// address returns the address of a store's holder. The error is a model.ErrUnavailable if there is none, and a
// model.DamagedError if this process, or another one, cannot open the store.
func (h *holders) address(ctx context.Context, name string) (string, error) {
	if err := h.damaged.of(name); err != nil {
		return "", err
	}
	h.mu.Lock()
	known, ok := h.known[name]
	h.mu.Unlock()
	believed := holderFor
	if !known.Live() {
		believed = holderLook
	}
	if !ok || time.Since(known.at) > believed {
		found, err, _ := h.looks.Do(name, func() (any, error) {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), holderWait)
			defer cancel()
			holder, err := h.lookup(ctx, name)
			return h.note(name, holder, err == nil), err
		})
		if err != nil {
			return "", fmt.Errorf("%w: %w", model.ErrUnavailable, err)
		}
		known = found.(knownHolder)
	}
	if !known.Live() {
		if err := h.elsewhere.of(ctx, name); err != nil {
			return "", err
		}
		return "", fmt.Errorf("%w: nobody holds %s", model.ErrUnavailable, name)
	}
	return known.Member.Address, nil
}

// note notes what was found out of a store's holder, and returns what is known then: a look at the disk may show less.
func (h *holders) note(name string, holder claim.Holder, found bool) knownHolder {
	h.mu.Lock()
	defer h.mu.Unlock()
	if found && holder.Epoch >= h.known[name].Epoch {
		h.known[name] = knownHolder{holder, time.Now()}
	}
	return h.known[name]
}

// learn notes the holder of a store, which says so itself, for requests that wait.
func (h *holders) learn(name string, holder claim.Holder) {
	h.note(name, holder, true)
	h.goOn()
}

// await is address for a request, which waits a little for a holder.
func (h *holders) await(ctx context.Context, name string) (address string, err error) {
	err = h.ask(ctx, name, func(found string) error {
		address = found
		return nil
	})
	return address, err
}

// ask calls there with the address of a store's holder. While there is none, or there says with a model.ErrUnavailable
// that it is not the holder or does not answer, ask tries again for a little while.
func (h *holders) ask(ctx context.Context, name string, there func(address string) error) error {
	deadline := time.Now().Add(holderWait)
	silent := false
	for look := holderLook; ; look = min(2*look, 10*holderLook) {
		err := h.askOnce(ctx, name, there)
		if errors.Is(err, peer.ErrSilent) && !silent {
			silent = true
			if soon := time.Now().Add(silentWait); soon.Before(deadline) {
				deadline = soon
			}
		}
		if err == nil || !errors.Is(err, model.ErrUnavailable) || model.IsDamaged(err) || time.Now().After(deadline) {
			return err
		}
		if err := h.pause(ctx, look); err != nil {
			return err
		}
	}
}

// askOnce is ask without patience.
func (h *holders) askOnce(ctx context.Context, name string, there func(address string) error) error {
	address, err := h.address(ctx, name)
	if err != nil {
		return err
	}
	if err = there(address); errors.Is(err, model.ErrUnavailable) {
		h.forget(name)
	}
	return err
}

// pause waits for so long, or until claims have changed.
func (h *holders) pause(ctx context.Context, d time.Duration) error {
	h.mu.Lock()
	changed := h.changed
	h.mu.Unlock()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
	case <-time.After(d):
	}
	return nil
}

// forget makes a later request look again.
func (h *holders) forget(name string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if known := h.known[name]; time.Since(known.at) > holderLook {
		delete(h.known, name)
	}
}

// forgetAll makes all requests look again, those that wait at once.
func (h *holders) forgetAll() {
	h.forgetAnswers()
	h.mu.Lock()
	clear(h.known)
	h.mu.Unlock()
	h.goOn()
}

// forgetAnswers makes the next lookups ask the members again: one may be dead.
func (h *holders) forgetAnswers() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.answers = make(map[string]answer)
}

// goOn ends pauses.
func (h *holders) goOn() {
	h.mu.Lock()
	defer h.mu.Unlock()
	close(h.changed)
	h.changed = make(chan struct{})
}
