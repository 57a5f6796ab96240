package claim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// File is the Coordinator that needs only the shared folder.
type File struct {
	root    string
	options Options
	within  func(time.Duration, ...func()) // of the failure detector; nil: within
	inOrder bool                           // without goroutines
}

// NewFile returns the coordinator of the data folder root, which must exist.
func NewFile(root string, options Options) (*File, error) {
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return nil, err
	}
	root, err := Canonical(options.FS, root)
	if err != nil {
		return nil, err
	}
	return &File{root: root, options: options}, nil
}

// Canonical returns the one path of a data folder, so that locks and messages have one name for it.
func Canonical(fs vfs.FS, root string) (string, error) {
	if fs != vfs.Default {
		return root, nil
	}
	absolute, err := filepath.Abs(root)
	if err == nil {
		absolute, err = filepath.EvalSymlinks(absolute)
	}
	if err != nil {
		return "", fmt.Errorf("claim: %w", err)
	}
	return absolute, nil
}

// Join implements Coordinator.
func (f *File) Join(ctx context.Context, m Member) (Session, error) {
	s, err := f.enter(m)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, s.exit())
	}
	s.start()
	if err := s.compareNames(ctx); err != nil {
		return nil, errors.Join(err, s.Leave(ctx))
	}
	return s, nil
}

// enter makes m a member, without starting more of it than beats that wait for no disk.
func (f *File) enter(m Member) (*session, error) {
	if err := m.Complete(f.root); err != nil {
		return nil, err
	}
	m.Timed = true
	s := &session{
		root: f.root, options: f.options, fs: f.options.FS, member: m, inOrder: f.inOrder,
		detector: newFailureDetector(f.root, &f.options, m), held: make(map[string]holding), ended: make(chan struct{}),
	}
	if f.within != nil {
		s.detector.within = f.within
	}
	begun, err := s.register()
	if err != nil {
		return nil, fmt.Errorf("claim: join: %w", err)
	}
	s.Deadline = NewDeadline(f.options.Clock, f.options.TTL, begun)
	s.detector.stale = s.Lose
	if s.heartbeat.isLocked() { // the look may wait for the journal for longer than the lease
		s.startBeats()
	}
	// A folder that hangs costs the start no more than a beat.
	if err := s.detector.look(f.options.Beat); err != nil {
		return nil, errors.Join(fmt.Errorf("claim: join: %w", err), s.exit())
	}
	return s, s.Err()
}

// session is a membership by files. Its steps (beat, detector.look, claim, release) do not wait for one another, so
// that a disk call that hangs holds up nothing but itself.
type session struct {
	*Deadline
	root      string
	options   Options
	fs        vfs.FS
	member    Member
	detector  *failureDetector
	heartbeat heartbeat
	inOrder   bool // beats use no goroutines

	showing sync.Mutex     // held while the names for comparison are renamed
	running sync.WaitGroup // the loops
	ended   chan struct{}  // closed by Leave, for the loops

	mu     sync.Mutex
	held   map[string]holding // by name
	unused []Claim            // to be given back
	looked int                // turn of checkHeld among the sacks
	left   bool

	written atomic.Uint64 // files with a name of their own
	last    sync.Map      // Holder as its claim says, the highest that was read, by name
	hanging pause.Hanging // looks at claims
}

// holding is what a session knows of a claim of its own.
type holding struct {
	epoch     uint64        // 0 while it is being claimed
	since     time.Duration // on the clock
	tidied    bool          // files of older epochs are removed
	releasing bool          // it is about to be given back, or was
}

// Member implements Session.
func (s *session) Member() Member { return s.member }

// Members implements Session.
func (s *session) Members(context.Context) ([]Member, error) { return s.detector.live(), nil }

// Watch implements Session.
func (s *session) Watch(ctx context.Context) <-chan struct{} { return s.detector.watchers.Watch(ctx) }

// start begins the heartbeat and the watch over other members.
func (s *session) start() {
	if !s.heartbeat.isLocked() {
		s.startBeats()
	}
	beside := func() error { return s.checkHeld(true) }
	if s.heartbeat.isLocked() {
		beside = func() error {
			return errors.Join(s.checkHeld(true), s.checkHeld(false), s.renameCounter(s.options.Clock.Now()))
		}
	}
	s.loop(s.options.Beat, func() {
		if err := beside(); err != nil && s.Valid() {
			s.options.Logger.Warn("claims not looked at", "member", s.member.ID, "error", err)
		}
	})
	said := "" // the same error is logged once
	s.loop(s.options.Poll, func() {
		err := s.detector.look(0)
		if text := fmt.Sprint(err); err == nil {
			said = ""
		} else if text != said {
			said = text
			s.options.Logger.Warn("members not read", "member", s.member.ID, "error", err)
		}
	})
	if s.detector.asks() {
		go func() { // what hangs in it does not keep the process from leaving
			for s.Err() == nil {
				if err := s.show(); err != nil {
					s.options.Logger.Warn("names for comparison not made", "member", s.member.ID, "error", err)
				}
				select {
				case <-s.Done():
				case <-time.After(showEvery):
				}
			}
		}()
	}
	s.loop(s.options.TTL, func() {
		if err := s.tidy(); err != nil {
			s.options.Logger.Warn("claims not tidied", "member", s.member.ID, "error", err)
		}
	})
	// The beat may hang in the disk; somebody has to notice the deadline nevertheless.
	s.loop(min(s.options.Poll, s.options.TTL/10), func() { s.Valid() })
}

func (s *session) startBeats() {
	s.loop(s.options.Beat, func() {
		if err := s.beat(); err != nil && s.Valid() {
			s.options.Logger.Warn("lease not renewed", "member", s.member.ID, "remaining", s.Remaining(), "error", err)
		}
	})
}

// loop calls f at every interval, until the lease is lost or left.
func (s *session) loop(interval time.Duration, f func()) {
	s.running.Go(func() {
		ticker := time.NewTicker(interval)
		defer ticker.Stop()
		for {
			select {
			case <-s.ended:
				return
			case <-s.Done():
				return
			case <-ticker.C:
				f()
			}
		}
	})
}

var errLeft = errors.New("the process left the cluster")

// Leave implements Session.
func (s *session) Leave(ctx context.Context) error {
	s.mu.Lock()
	if s.left {
		s.mu.Unlock()
		return nil
	}
	s.left = true
	s.mu.Unlock()
	close(s.ended)
	finished := make(chan error, 1)
	go func() {
		s.running.Wait()
		finished <- s.exit()
	}()
	select {
	case err := <-finished:
		return err
	case <-ctx.Done():
		s.Lose(errLeft)
		return fmt.Errorf("claim: leave: %w", ctx.Err())
	}
}

// exit gives all claims back and removes the member.
func (s *session) exit() (err error) {
	defer wrap(&err, "leave")
	s.mu.Lock()
	held, unused := s.held, s.unused
	s.held, s.unused = make(map[string]holding), nil
	s.mu.Unlock()
	var errs []error
	if s.Deadline != nil {
		for _, name := range slices.Sorted(maps.Keys(held)) {
			if epoch := held[name].epoch; epoch != 0 {
				errs = append(errs, s.markReleased(name, epoch))
			}
		}
		for _, c := range unused {
			_, err := s.giveBack(c)
			errs = append(errs, err)
		}
		s.Lose(errLeft)
	}
	return errors.Join(append(errs, s.fs.RemoveAll(s.heartbeat.dir), s.heartbeat.stop())...)
}
