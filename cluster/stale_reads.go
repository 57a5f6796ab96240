package cluster

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
)

const (
	// snapshotFor is how long a snapshot is read from before the sack's holder is asked again.
	snapshotFor = 5 * time.Second
	// snapshotTries is how often a snapshot is taken anew because its store was written to meanwhile.
	snapshotTries = 5
)

// stale reads sacks from snapshots of the disk, for clients that allow it, when no process answers for them. A snapshot
// lacks the measures that the last holder processed after its last checkpoint.
type stale struct {
	fs    vfs.FS
	root  string
	sacks int // of the cluster
	cache *pebble.Cache
	files *pebble.FileCache

	mu        sync.Mutex
	snapshots map[int]*snapshot // by sack
	closed    bool
}

// snapshot is a sack's store as it was a moment ago.
type snapshot struct {
	files  *claim.Snapshot
	store  *archive.Store
	asOf   time.Time // of the last checkpoint
	expiry *time.Timer
	users  sync.WaitGroup // grows only under stale.mu, while the snapshot is in stale.snapshots
}

// has reports whether a sack had no holder that answers a moment ago.
func (s *stale) has(sack int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.snapshots[sack] != nil
}

// prepare takes a snapshot of a sack for which no process answers, unless there is one.
func (s *stale) prepare(sack int) {
	if snapshot, err := s.use(sack); err == nil {
		snapshot.users.Done()
	} // else the next read returns the error
}

// read calls f with a sack's snapshot, unless that is too old for the client.
func (s *stale) read(sack int, staleness *query.Staleness, f func(*archive.Store) error) error {
	snapshot, err := s.use(sack)
	if err != nil {
		return fmt.Errorf("%w: %w", model.ErrUnavailable, err)
	}
	defer snapshot.users.Done()
	age := max(time.Since(snapshot.asOf), 0)
	if age > staleness.Limit {
		return fmt.Errorf("%w: nobody answers for sack %d, and its last checkpoint is %v old",
			model.ErrUnavailable, sack, age.Round(time.Second))
	}
	if err := f(snapshot.store); err != nil {
		return fmt.Errorf("%w: %w", model.ErrUnavailable, err)
	}
	staleness.Use(age)
	return nil
}

// keptGroups reads from a snapshot's store.
func keptGroups(ctx context.Context, store *archive.Store, reads []model.Read, dst []*carbonara.Groups) error {
	for i := range reads {
		r := &reads[i]
		dst[i].Reset(r.Granularity, r.Columns)
		if r.Granularity == 0 {
			continue // a snapshot is read by its groups
		}
		timespan := r.Metric.ArchivePolicy.Timespan(r.Granularity)
		err := r.WithLead(dst[i], func(read model.Read) error {
			_, err := store.KeptGroups(ctx, &read, timespan, dst[i])
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// use returns a sack's snapshot. The caller calls users.Done.
func (s *stale) use(sack int) (*snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return nil, errors.New("cluster: closed")
	}
	taken := s.snapshots[sack]
	if taken == nil {
		var err error
		for range snapshotTries {
			if taken, err = s.snapshot(sack); !errors.Is(err, storage.ErrCorrupt) {
				break
			}
		}
		if err != nil {
			return nil, err
		}
		s.snapshots[sack] = taken
		taken.expiry = time.AfterFunc(snapshotFor, func() { _ = s.drop(sack, taken) })
	}
	taken.users.Add(1)
	return taken, nil
}

// snapshot takes a snapshot. Its store logs nothing: the sack's holder reports damage.
func (s *stale) snapshot(sack int) (*snapshot, error) {
	files, err := claim.TakeSnapshot(s.fs, filepath.Join(s.root, datafolder.SackName(sack)))
	if err != nil {
		return nil, err
	}
	store, err := archive.Open(files.Path, archive.Options{FS: files, Cache: s.cache,
		FileCache: s.files, Sack: archive.Sack{Number: sack, Of: s.sacks}, ReadOnly: true, Fail: func(error) {}})
	if err != nil {
		return nil, errors.Join(err, files.Close())
	}
	asOf, ok, err := store.Time()
	if err == nil && !ok {
		err = fmt.Errorf("cluster: sack %d does not say how old it is", sack)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close(), files.Close())
	}
	return &snapshot{files: files, store: store, asOf: asOf}, nil
}

// drop closes a snapshot after its last read.
func (s *stale) drop(sack int, old *snapshot) error {
	s.mu.Lock()
	if s.snapshots[sack] != old {
		s.mu.Unlock()
		return nil
	}
	delete(s.snapshots, sack)
	s.mu.Unlock()
	old.users.Wait()
	return errors.Join(old.store.Close(), old.files.Close())
}

// close closes all snapshots.
func (s *stale) close() error {
	s.mu.Lock()
	s.closed = true
	open := make(map[int]*snapshot, len(s.snapshots))
	for sack, snapshot := range s.snapshots {
		snapshot.expiry.Stop()
		open[sack] = snapshot
	}
	s.mu.Unlock()
	var errs []error
	for sack, snapshot := range open {
		errs = append(errs, s.drop(sack, snapshot))
	}
	return errors.Join(errs...)
}

// unanswered reports whether an error says that no process answers for a sack. For a damaged one a process does.
func unanswered(err error) bool {
	return !model.IsDamaged(err) && (errors.Is(err, model.ErrUnavailable) || errors.Is(err, context.DeadlineExceeded))
}
