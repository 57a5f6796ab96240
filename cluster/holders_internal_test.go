package cluster

import (
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/cluster/peer"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// slowSession is a session whose disk needs a while to say that nobody holds a store.
type slowSession struct {
	knownMembers
	looks atomic.Int32
}

func (s *slowSession) Holder(context.Context, string) (claim.Holder, error) {
	s.looks.Add(1)
	time.Sleep(60 * time.Millisecond)
	return claim.Holder{Epoch: 6, Released: true}, nil
}

// Requests that wait for a store look at the disk together, and go on as soon as its holder says that it has the store.
func TestRequestsWaitTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &slowSession{knownMembers: knownMembers{members: []claim.Member{{ID: "own"}}}}
		logger := slog.New(slog.DiscardHandler)
		h := newHolders(newMembership(s, nil, logger), newDamagedStores(logger))
		began, answered := time.Now(), make(chan error)
		const requests = 50
		for range requests {
			go func() {
				answered <- h.ask(t.Context(), "sacks/001", func(address string) error {
					if address != "new:1" {
						return fmt.Errorf("%w: asked %q", model.ErrUnavailable, address)
					}
					return nil
				})
			}()
		}
		time.Sleep(time.Second)
		looks := s.looks.Load()
		h.learn("sacks/001", claim.Holder{Epoch: 7, Member: claim.Member{ID: "new", Address: "new:1"}})
		h.learn("sacks/001", claim.Holder{Epoch: 5, Member: claim.Member{ID: "old", Address: "old:1"}}) // came late
		for range requests {
			if err := <-answered; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began) - time.Second; looks > 10 || took > 100*time.Millisecond {
			t.Errorf("%d looks in a second, and answers %v after the holder had told", looks, took)
		}
		time.Sleep(5 * time.Second)
		if _, err := h.address(t.Context(), "sacks/001"); err != nil || s.looks.Load() > looks+1 {
			t.Errorf("%v; a holder that answers is not believed", err)
		}
	})
}

// A sack that another member gives is taken at once, unless this process has not begun to take any, or leaves.
func TestGivenSackIsTaken(t *testing.T) {
	s, r, _ := newLocked()
	if err := r.take(t.Context(), 0); err != nil || len(s.tries) != 0 {
		t.Errorf("%d claims before the process takes any: %v", len(s.tries), err)
	}
	r.takes.Store(true)
	if err := r.take(t.Context(), 0); err != nil || len(s.tries) != 1 {
		t.Errorf("%d claims of a sack that was given, want 1: %v", len(s.tries), err)
	}
}

// No sack is given to a member that does not answer: it would be served by nobody.
func TestNothingIsGivenToASilentMember(t *testing.T) {
	s, r := sackOf("a")
	for name, holder := range s.holders {
		holder.Member = s.members[0]
		s.holders[name] = holder
		r.environment.ownership.held[name] = held{Claim: claim.Claim{Name: name, Epoch: 1}}
	}
	client := peer.NewClient("key", nil, peer.TCP)
	defer client.Close()
	r.members.client = client
	s.members[1].Address = "127.0.0.1:1"
	if err := r.reconcile(t.Context(), s.members); err != nil { // it would panic without workers
		t.Error(err)
	}
}
