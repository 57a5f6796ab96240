package claim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// errHeldByOther is the reason of a lease that ends because another member claimed what this one holds.
var errHeldByOther = errors.New("another process claimed what this one holds")

// sacksLooked is how many sacks' claims are looked at in a beat, in turns, on a disk of several machines.
const sacksLooked = 1

// checkHeld ends the lease if another member has a higher claim on anything held here: it took this process for dead.
// That is the second line of defence, for file systems that show others an old heartbeat. The renewal waits for it
// where acknowledged measures and metadata depend on the claim, but not for a folder that hangs. The sacks are many,
// and are looked at beside it. One claim tells of all: others take every sack of a process that they take for dead.
func (s *session) checkHeld(sacks bool) error {
	s.mu.Lock()
	held := make([]Claim, 0, len(s.held))
	for name, h := range s.held {
		if h.epoch != 0 && !h.releasing && strings.HasPrefix(name, "sacks/") == sacks {
			held = append(held, Claim{name, h.epoch})
		}
	}
	if sacks && !s.detector.local && len(held) > sacksLooked {
		slices.SortFunc(held, func(a, b Claim) int { return strings.Compare(a.Name, b.Name) })
		s.looked = (s.looked + sacksLooked) % len(held)
		held = append(held[s.looked:], held[:s.looked]...)[:sacksLooked]
	}
	s.mu.Unlock()
	var group errgroup.Group
	group.SetLimit(16)
	var errs []error
	for _, c := range held {
		if s.inOrder {
			errs = append(errs, s.checkClaim(c))
		} else {
			group.Go(func() error { return s.checkClaim(c) })
		}
	}
	return errors.Join(append(errs, group.Wait())...)
}

// patiently looks at a claim, for half a beat at most: on CephFS, see quiet, its folder may hang for minutes.
func (s *session) patiently(ctx context.Context, name string, look func() (Holder, error)) (Holder, error) {
	if s.detector.local {
		return look()
	}
	if s.inOrder {
		var holder Holder
		err := pause.ErrHangs
		s.detector.within(s.options.Beat/2, func() { holder, err = look() })
		return holder, err
	}
	return pause.Patiently(ctx, &s.hanging, s.options.Beat/2, name, look, func() {
		s.options.Logger.Warn("a claim's folder hangs; going on without it", "member", s.member.ID, "store", name)
	})
}

func (s *session) checkClaim(c Claim) error {
	last, err := s.patiently(context.Background(), c.Name, func() (Holder, error) {
		n, err := s.epochs(c.Name)
		return Holder{Epoch: n.highest}, err
	})
	if errors.Is(err, pause.ErrHangs) {
		return nil
	}
	if err != nil || last.Epoch <= c.Epoch {
		return err
	}
	s.mu.Lock()
	h := s.held[c.Name]
	s.mu.Unlock()
	if h.epoch != c.Epoch || h.releasing { // given back meanwhile
		return nil
	}
	s.Lose(fmt.Errorf("%w: %s at epoch %d, above %d", errHeldByOther, c.Name, last.Epoch, c.Epoch))
	return s.Err()
}
