package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/search"
)

// FormatVersion is that of the store as a whole; values have their own.
const FormatVersion = 8

// Store is an open index. Its methods may be called by many goroutines, but not after Close.
type Store struct {
	*metrics.Table
	*search.Resources
	log              *commits.Log
	limits           *keyspace.Costs                  // of the two
	policiesAndTypes atomic.Pointer[policiesAndTypes] // replaced under the log's lock
	rebuilds         chan struct{}                    // capacity 1: some may have been started

	logger      *slog.Logger
	instruments *instruments
	close       func() error

	fs      vfs.FS
	dir     string
	derived sync.Mutex // held while a derived file is written; guards closed
	closed  bool
}

// Open opens the store in dir, or makes one. Only one process can have it open.
func Open(dir string, opts Options) (*Store, error) {
	opts.EnsureDefaults()
	db, err := engine.Open(dir, engine.Options{FS: opts.FS, Cache: opts.Cache, FileCache: opts.FileCache,
		MemTableSize: opts.MemTableSize, BlockSize: blockSize, Compression: &engine.FastCompression,
		Logger: opts.Logger, Fail: opts.Fail})
	if err != nil {
		return nil, fmt.Errorf("index: open %s: %w", dir, err)
	}
	log, costs := commits.NewLog(db, opts.Logger), keyspace.DefaultCosts
	s := &Store{log: log, limits: &costs, logger: opts.Logger, rebuilds: make(chan struct{}, 1),
		fs: opts.FS, dir: dir, close: func() error { return engine.Close(db, opts.FS, dir) }}
	s.Table = metrics.NewTable(log, opts.Logger, func() map[string]*model.ArchivePolicy {
		return s.policiesAndTypes.Load().policies
	}, s.limits, opts.CachedMetrics)
	s.Resources = search.New(log, s.Table, func() map[string]*model.ResourceType {
		return s.policiesAndTypes.Load().types
	}, s.limits)
	s.wakeRebuilds() // those that were under way
	if err := s.load(opts); err != nil {
		return nil, errors.Join(fmt.Errorf("index: open %s: %w", dir, err), db.Close())
	}
	return s, nil
}

// load reads what is kept in memory as a whole, and fills a new store.
func (s *Store) load(opts Options) error {
	version, err := s.log.Get(keyspace.Version)
	switch {
	case err != nil:
		return err
	case version == nil:
		if err := s.initialize(opts.SkipDefaults); err != nil {
			return err
		}
	case len(version) == 1 && version[0] > FormatVersion:
		return fmt.Errorf("%w: it has format version %d, and this version knows versions up to %d",
			storage.ErrLaterFormat, version[0], FormatVersion)
	case len(version) != 1 || version[0] != FormatVersion:
		return fmt.Errorf("format version % x, want %d", version, FormatVersion)
	}
	if err := s.loadPoliciesAndTypes(); err != nil {
		return err
	}
	if err := errors.Join(s.log.LoadCounts(), s.log.LoadChanges()); err != nil {
		return err
	}
	if err := s.LoadLastMetric(time.Now()); err != nil {
		return err
	}
	s.instruments, err = newInstruments(s, opts)
	return err
}

// initialize writes the format version and, unless told not to, the default policies, all or nothing.
func (s *Store) initialize(skipDefaults bool) error {
	b := s.log.DB.NewBatch()
	defer b.Close()
	if err := b.Set(keyspace.Version, []byte{FormatVersion}, nil); err != nil {
		return err
	}
	if !skipDefaults {
		for _, p := range model.DefaultArchivePolicies() {
			if err := setArchivePolicy(b, p); err != nil {
				return err
			}
		}
		rule := &model.ArchivePolicyRule{Name: "default", MetricPattern: "*", ArchivePolicyName: "low"}
		if err := setRule(b, rule); err != nil {
			return err
		}
	}
	return b.Commit(pebble.Sync)
}

// Close closes the store, once all calls have returned.
func (s *Store) Close() error {
	s.derived.Lock()
	s.closed = true
	s.derived.Unlock()
	s.instruments.unregister()
	if err := s.close(); err != nil {
		return fmt.Errorf("index: close: %w", err)
	}
	return nil
}

// ChangesSince returns the metrics and resources that were created, changed or deleted after a change of this number,
// and the number of the last one. ok is false if that is not known: all has to be read again, after the call. Numbers
// go on after a restart.
func (s *Store) ChangesSince(number uint64) (metrics, resources []uuid.UUID, last uint64, ok bool) {
	return s.log.ChangesSince(number)
}

// SessionOf returns the session that wrote the change of a number, the last one of its commit; false if the store does
// not remember it. Number and session together identify a state of the store.
func (s *Store) SessionOf(number uint64) (session uint64, ok bool) { return s.log.SessionOf(number) }

// The questions that callers put to a Store, by the names that they use.
type (
	MetricQuery   = metrics.Query
	MetricSet     = metrics.Set
	SortKey       = metrics.SortKey
	ResourceQuery = search.Query
)

// Where metrics without a sort key's value stand.
const (
	NullsDefault = metrics.NullsDefault
	NullsFirst   = metrics.NullsFirst
	NullsLast    = metrics.NullsLast
)

// EachMetric calls f for all metrics that are not marked deleted.
func (s *Store) EachMetric(ctx context.Context, f func(*model.Metric)) error {
	return s.Table.EachMetric(ctx, f)
}

// FindCurrent is Find without the cache, which learns of a change once it is durable, and so after ChangesSince.
func (s *Store) FindCurrent(ids []uuid.UUID, found []*model.Metric) error {
	return s.Table.FindCurrent(ids, found)
}

// EachLiveResource calls f for all resources as they are, without their metrics, one after the other.
func (s *Store) EachLiveResource(ctx context.Context, f func(*model.Resource)) error {
	return s.Resources.EachLiveResource(ctx, f)
}
