package claim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sync/errgroup"
)

// ErrStaleNames is the reason of a lease that ends because the mount shows old names in a folder: claims of others
// would not be seen, nor their heartbeats.
var ErrStaleNames = errors.New("the mount of the data folder hides what other machines do")

const (
	// shownFolder has names for comparison, <file>-<round>, in a member's folder.
	shownFolder = "shown"
	// shownFiles is the number of files: of a fault that hides one name in six, three rounds miss it once in 10^11.
	shownFiles = 50
	// showEvery is the time from one round to the next.
	showEvery = 2 * time.Minute
	// compareEvery is the least time between two rounds that are looked for, of any member: a few members tell whether
	// a mount hides names.
	compareEvery = 10 * time.Second
	// joinRounds is the number of rounds that a process looks at before it joins, of joinMembers members.
	joinRounds, joinMembers = 3, 3
)

// show gives all files the name of the next round, for others to look at. It is not the heartbeat: on CephFS a process
// that lists a folder and dies holds up the next rename in it.
func (s *session) show() error {
	s.showing.Lock()
	defer s.showing.Unlock()
	dir := s.fs.PathJoin(s.heartbeat.dir, shownFolder)
	if err := s.fs.MkdirAll(dir, folderMode); err != nil {
		return err
	}
	last := s.heartbeat.shown.Load()
	for i := range shownFiles {
		path := func(round uint64) string { return s.fs.PathJoin(dir, fmt.Sprintf("%d-%d", i, round)) }
		err := s.fs.Rename(path(last), path(last+1))
		if notThere(err) {
			var file vfs.File
			if file, err = s.fs.Create(path(last+1), vfs.WriteCategoryUnspecified); err == nil {
				err = file.Close()
			}
		}
		if err != nil {
			return fmt.Errorf("claim: names for comparison: %w", err)
		}
	}
	s.heartbeat.shown.Store(last + 1)
	return nil
}

// ShowNames implements Session.
func (s *session) ShowNames() (round uint64, err error) {
	err = s.show()
	return s.heartbeat.shown.Load(), err
}

// compareNames returns an ErrStaleNames if the mount does not show the names that other members make now: a process
// that joins looks before it claims anything. Those that do not answer are left out.
func (s *session) compareNames(ctx context.Context) error {
	if s.options.Show == nil || s.detector.local {
		return nil
	}
	var group errgroup.Group
	var compared atomic.Int64
	for _, m := range s.detector.live() {
		if m.ID == s.member.ID {
			continue
		}
		group.Go(func() error {
			// One that starts does not answer yet, and the folder of one that died lately may hang.
			if _, ok := s.options.Ask(m); !ok || compared.Add(1) > joinMembers {
				return nil
			}
			for range joinRounds {
				if again, err := s.compareRound(ctx, &m); err != nil || !again {
					return err
				}
			}
			return nil
		})
	}
	return group.Wait()
}

// compareRound looks for one round of a member's names; again is false if the member does not answer.
func (s *session) compareRound(ctx context.Context, m *Member) (again bool, err error) {
	dir := s.fs.PathJoin(s.detector.dir, m.ID, shownFolder)
	if _, err := list(s.fs, dir); err != nil { // a cache that does not follow has the old names from now on
		return false, fmt.Errorf("claim: names of member %s: %w", m.ID, err)
	}
	round, ok := s.options.Show(*m)
	if !ok {
		return false, nil
	}
	for began := s.options.Clock.Now(); ; {
		now := s.options.Clock.Now()
		names, err := list(s.fs, dir)
		if err != nil {
			return false, fmt.Errorf("claim: names of member %s: %w", m.ID, err)
		}
		if lowestShown(names) >= round {
			return true, nil
		}
		if now-began >= s.options.Slack {
			if _, ok := s.options.Show(*m); !ok { // it left meanwhile, and its folder is gone
				return false, nil
			}
			return false, fmt.Errorf("%w: member %s made names of round %d, and %s later its folder shows one of round %d",
				ErrStaleNames, m.ID, round, now-began, lowestShown(names))
		}
		select {
		case <-ctx.Done():
			return false, ctx.Err()
		case <-time.After(s.options.Poll):
		}
	}
}

// comparison is how far a member's names have been compared.
type comparison struct {
	seen   uint64 // the last round that was found
	unseen uint64 // one that was not, 0 for none
	since  time.Duration
}

// compare looks whether the disk shows the names of a round of which a member said that it is there. A round that is
// not seen Slack later was hidden by a cache that does not follow: then this process must not decide by the names that
// it sees.
func (r *failureDetector) compare(known *observation, shown uint64) error {
	if shown <= known.compared.seen {
		return nil
	}
	now := r.options.Clock.Now()
	id := known.member.ID
	r.mu.Lock()
	begins := known.compared.unseen == 0
	if begins && r.compared != 0 && now-r.compared < compareEvery {
		r.mu.Unlock()
		return nil
	}
	if begins {
		r.compared = now
	}
	r.mu.Unlock()
	names, err := r.fs.List(r.fs.PathJoin(r.dir, id, shownFolder))
	if err != nil && !notThere(err) {
		return fmt.Errorf("claim: member %s: %w", id, err)
	}
	seen := lowestShown(names)
	r.mu.Lock()
	defer r.mu.Unlock()
	c := &r.seen[id].compared
	switch {
	case seen >= max(shown, 1) || c.unseen > 0 && seen >= c.unseen:
		*c = comparison{seen: seen}
	case c.unseen == 0:
		c.unseen, c.since = shown, now
	case now-c.since >= r.options.Slack:
		r.stale(fmt.Errorf("%w: member %s made names of round %d, and %s later its folder shows one of round %d",
			ErrStaleNames, id, c.unseen, now-c.since, seen))
	}
	return nil
}

// lowestShown returns the lowest of the rounds that the files show, 0 if one is not to be seen.
func lowestShown(names []string) uint64 {
	var rounds [shownFiles]uint64
	for _, name := range names {
		file, text, _ := strings.Cut(name, "-")
		i, err := strconv.ParseUint(file, 10, 64)
		round, roundErr := strconv.ParseUint(text, 10, 64)
		if err == nil && roundErr == nil && i < shownFiles {
			rounds[i] = max(rounds[i], round)
		}
	}
	return slices.Min(rounds[:])
}
