package backup_test

import (
	"context"
	"errors"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/backup"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// faulty is a storage with faults: some of its requests fail, before or after they are carried out.
type faulty struct {
	backup.Storage
	random *rand.Rand

	unlocked bool // everybody is the one writer, as where conditions do not count
	fails    int  // per cent of all requests
	full     bool // nothing more is stored
	stale    bool // lists lack a tenth of their names
}

var errFault = errors.New("a fault")

// do carries a request out, or fails.
func (s *faulty) do(request func() error) error {
	if s.random.IntN(100) < s.fails {
		if s.random.IntN(2) == 0 {
			_ = request()
		}
		return errFault
	}
	return request()
}

func (s *faulty) Lock(ctx context.Context) (context.Context, func() error, error) {
	held, release, err := s.Storage.Lock(ctx)
	if err == nil && s.unlocked {
		err, release = release(), func() error { return nil }
	}
	return held, release, err
}

func (s *faulty) Put(ctx context.Context, name string, file *os.File) error {
	if s.full {
		return errors.Join(errFault, file.Close(), os.Remove(file.Name()))
	}
	return s.do(func() error { return s.Storage.Put(ctx, name, file) })
}

func (s *faulty) Commit(ctx context.Context, name string, content []byte) error {
	if s.full {
		return errFault
	}
	return s.do(func() error { return s.Storage.Commit(ctx, name, content) })
}

func (s *faulty) Get(ctx context.Context, name string) (content io.ReadCloser, err error) {
	err = s.do(func() error { content, err = s.Storage.Get(ctx, name); return err })
	return content, err
}

func (s *faulty) Delete(ctx context.Context, name string) error {
	return s.do(func() error { return s.Storage.Delete(ctx, name) })
}

func (s *faulty) List(ctx context.Context, folder string) (sizes map[string]int64, err error) {
	err = s.do(func() error { sizes, err = s.Storage.List(ctx, folder); return err })
	if s.stale {
		maps.DeleteFunc(sizes, func(string, int64) bool { return s.random.IntN(10) == 0 })
	}
	return sizes, err
}

// The law of followers holds on every storage: one that fails, is full at times, lists less than it has, or lets two
// followers write at once. After each round the newest backup restores all that the folder held when that one began,
// and it is no older than the last that a follower called complete.
func TestCopiesStayRestorable(t *testing.T) {
	t.Parallel() // it waits for the disk
	for name, s := range map[string]faulty{
		"fails": {fails: 4}, "full": {}, "stale": {stale: true}, "two": {unlocked: true},
		"two of these": {unlocked: true, fails: 2, stale: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s.random = rand.New(rand.NewPCG(seedtest.Next(t), 0))
			d, to := newDataFolder(t), filepath.Join(t.TempDir(), "backups")
			d.grow(s.random)
			s.Storage = backup.Folder(to)
			_, release, err := s.Storage.Lock(t.Context())
			must(t, errors.Join(err, release()))
			followers := make([]*backup.Follower, 1)
			if s.unlocked {
				followers = make([]*backup.Follower, 2)
			}
			truths, complete, failed := make(map[string]map[string]string), time.Time{}, 0
			for round := range *lawRounds {
				if s.random.IntN(2) == 0 {
					d.grow(s.random)
				} else {
					d.append(1 + s.random.IntN(20))
				}
				d.age(time.Hour - time.Duration(round)*time.Minute)
				s.full = name == "full" && round%6 > 3
				truth, f := d.truth(), &followers[s.random.IntN(len(followers))]
				if *f == nil {
					options := backup.Options{Data: d.path, To: &s, Keep: keepOne(t)}
					if *f, err = backup.Follow(t.Context(), options); err != nil {
						*f = nil
						continue
					}
				}
				if s.random.IntN(3) == 0 {
					(*f).SweepNext()
				}
				result, err := (*f).Round()
				if err != nil && !errors.Is(err, errFault) && !errors.Is(err, backup.ErrIncomplete) {
					t.Errorf("round %d: %v", round, err)
				}
				if err != nil {
					failed++
				}
				if result != nil && result.Name() != "" {
					complete = result.Begun
				}
				if s.random.IntN(8) == 0 {
					must(t, (*f).Close())
					*f = nil
				}
				m, err := backup.Open(backup.Folder(to), nil).Find(t.Context(), "")
				if complete.IsZero() && err != nil {
					continue
				}
				must(t, err)
				if m.Begun.Before(complete) {
					t.Fatalf("round %d: the newest backup began %s, and the last complete one %s", round, m.Begun, complete)
				}
				if truths[m.Name()] == nil {
					truths[m.Name()] = truth
				}
				restored := filepath.Join(t.TempDir(), "restored")
				must(t, restore(t, to, "", restored))
				if found := contents(t, restored); !maps.Equal(found, truths[m.Name()]) {
					t.Fatalf("round %d: %d keys of %d", round, len(found), len(truths[m.Name()]))
				}
			}
			if t.Logf("%d rounds failed", failed); complete.IsZero() {
				t.Error("no round is complete")
			}
		})
	}
}

// A follower that another one beside it has outlived does not rest upon objects that this one has removed.
func TestFollowersBesideOneAnother(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 0))
	d, to := newDataFolder(t), filepath.Join(t.TempDir(), "backups")
	d.grow(random)
	s := &faulty{Storage: backup.Folder(to), unlocked: true, random: random}
	_, release, err := s.Storage.Lock(t.Context())
	must(t, errors.Join(err, release()))
	follow := func() *backup.Follower {
		f, err := backup.Follow(t.Context(), backup.Options{Data: d.path, To: s, Keep: keepOne(t)})
		must(t, err)
		t.Cleanup(func() { must(t, f.Close()) })
		return f
	}
	round := func(f *backup.Follower) {
		t.Helper()
		d.append(3)
		d.age(time.Hour)
		_, err := f.Round()
		must(t, err)
	}
	stopped, other := follow(), follow()
	round(stopped)
	d.grow(random)
	for range 4 {
		other.SweepNext()
		round(other)
	}
	round(stopped)
	truth, restored := d.truth(), filepath.Join(t.TempDir(), "restored")
	must(t, restore(t, to, "", restored))
	if found := contents(t, restored); !maps.Equal(found, truth) {
		t.Errorf("%d keys of %d", len(found), len(truth))
	}
}
