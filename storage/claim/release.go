package claim

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// released stands between the epoch and the member's ID in the name of a file that gives a claim back. The ID is needed
// because a member that does not know whether it got an epoch gives it back just in case, and the epoch may be another
// member's.
const released = ".released."

// ErrNotHeld is the error of giving back a claim that is not held.
var ErrNotHeld = errors.New("claim: not held")

// Release implements Session.
func (s *session) Release(_ context.Context, c Claim) error { return s.release(c) }

func (s *session) release(c Claim) error {
	s.mu.Lock()
	h := s.held[c.Name]
	if h.epoch == 0 || h.epoch != c.Epoch {
		s.mu.Unlock()
		return fmt.Errorf("%w: %s at epoch %d", ErrNotHeld, c.Name, c.Epoch)
	}
	h.releasing = true // from now on another member may claim it
	s.held[c.Name] = h
	s.mu.Unlock()
	if err := s.markReleased(c.Name, c.Epoch); err != nil {
		return fmt.Errorf("claim: release %s: %w", c.Name, err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.held, c.Name)
	return nil
}

func (s *session) releasedPath(name string, epoch uint64, id string) string {
	return s.claimPath(name, epoch) + released + id
}

// markReleased gives an epoch back. The file holds a ClosedState.
func (s *session) markReleased(name string, epoch uint64) error {
	rest, err := ClosedStateOf(s.fs, s.root, name, epoch)
	if err != nil {
		return err
	}
	// A fresh name each time: release and leave may give the same epoch back at once.
	fresh := s.fs.PathJoin(s.claimsDir(name), fmt.Sprintf("%s%s.%d-%d%s", temporary, s.member.ID,
		s.written.Add(1), epoch, released))
	if err := write(s.fs, fresh, []byte(rest.String())); err != nil {
		return err
	}
	return s.fs.Rename(fresh, s.releasedPath(name, epoch, s.member.ID))
}

// giveBackLater makes tidy give back an epoch that this process got, or may yet get, and does not use.
func (s *session) giveBackLater(name string, epoch uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.unused = append(s.unused, Claim{name, epoch})
}

// tidy gives unused epochs back, and removes files of older epochs once this process has held the newest for long.
func (s *session) tidy() error {
	s.mu.Lock()
	unused := s.unused
	s.unused = nil
	var overdue []string
	now := s.options.Clock.Now()
	removes := s.detector.isQuiet(now)
	for name, h := range s.held {
		if removes && h.epoch != 0 && !h.tidied && now-h.since > s.options.Grace() {
			overdue = append(overdue, name)
		}
	}
	s.mu.Unlock()
	slices.Sort(overdue)
	_, err := list(s.fs, s.heartbeat.dir) // see due
	errs := []error{err}
	for _, c := range unused {
		done, err := s.giveBack(c)
		if !done {
			s.giveBackLater(c.Name, c.Epoch)
		}
		errs = append(errs, err)
	}
	for _, name := range overdue {
		errs = append(errs, s.removeOldEpochs(name))
	}
	return errors.Join(errs...)
}

// giveBack gives an unused epoch back if this process has it. done is false if the process may still get it.
func (s *session) giveBack(c Claim) (done bool, err error) {
	s.mu.Lock()
	h, busy := s.held[c.Name]
	if busy { // got after all, or being tried again
		s.mu.Unlock()
		return h.epoch != 0, nil
	}
	s.held[c.Name] = holding{} // so that it is not claimed meanwhile
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.held, c.Name)
	}()
	holder, err := s.holder(c.Name)
	if err != nil || holder.Epoch < c.Epoch {
		return false, err
	}
	if holder.Epoch > c.Epoch || holder.Member.ID != s.member.ID || holder.Released {
		return true, nil
	}
	err = s.markReleased(c.Name, c.Epoch)
	return err == nil, err
}

func (s *session) removeOldEpochs(name string) error {
	n, err := s.epochs(name)
	if err != nil {
		return err
	}
	s.mu.Lock()
	h := s.held[name]
	s.mu.Unlock()
	if h.epoch != n.highest {
		return nil // given back meanwhile
	}
	for _, file := range n.old {
		if err := s.fs.Remove(s.fs.PathJoin(s.claimsDir(name), file)); err != nil && !notThere(err) {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held[name] == h {
		h.tidied = true
		s.held[name] = h
	}
	return nil
}
