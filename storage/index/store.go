package index

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// FormatVersion is that of the store as a whole; values have their own.
const FormatVersion = 4

// Store is an open index. Its methods may be called by many goroutines, but not after Close.
type Store struct {
	db          *pebble.DB
	close       func() error
	logger      *slog.Logger
	registerer  prometheus.Registerer
	collectors  []prometheus.Collector // registered with registerer
	collector   *engine.PebbleCollector
	instruments instruments

	cache            *metricCache
	listsMu          sync.RWMutex
	creators         *roster.Table[*model.Metric]     // of lists of metrics; guarded by listsMu
	policiesAndTypes atomic.Pointer[policiesAndTypes] // replaced under mu
	commits          commitSync
	limits           limits
	changes          changeLog
	ended            endedResources

	live      atomic.Int64 // metrics; changed under mu
	deleted   atomic.Int64 // metrics marked deleted; changed under mu
	resources atomic.Int64 // changed under mu

	// mu is held from the check of a write to its entry into the log. It comes before the cache's.
	mu   sync.Mutex
	last lastMetric

	rebuilds chan struct{} // capacity 1: some may have been started
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
	s := &Store{db: db, close: func() error { return engine.Close(db, opts.FS, dir) }, logger: opts.Logger,
		registerer: opts.Registerer, collector: opts.Collector, cache: newMetricCache(opts.CachedMetrics),
		creators: roster.NewTable[*model.Metric](listedCreators), limits: defaultLimits,
		rebuilds: make(chan struct{}, 1)}
	s.wakeRebuilds() // those that were under way
	s.commits.init()
	if err := s.load(opts); err != nil {
		return nil, errors.Join(fmt.Errorf("index: open %s: %w", dir, err), db.Close())
	}
	if s.collector != nil {
		s.collector.Register("index", db, engine.ShortLog, nil)
	}
	return s, nil
}

// load reads what is kept in memory as a whole, and fills a new store.
func (s *Store) load(opts Options) error {
	version, err := s.get(keyspace.Version)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		if err := s.initialize(opts.SkipDefaults); err != nil {
			return err
		}
	case err != nil:
		return err
	case len(version) == 1 && version[0] == 3: // all that is there is as it would be written without lists of metrics
		if err := s.db.Set(keyspace.Version, []byte{FormatVersion}, pebble.Sync); err != nil {
			return err
		}
	case len(version) == 1 && version[0] > FormatVersion:
		return fmt.Errorf("%w: it has format version %d, and this version knows versions up to %d",
			storage.ErrLaterFormat, version[0], FormatVersion)
	case len(version) != 1 || version[0] != FormatVersion:
		return fmt.Errorf("format version % x, want 3 or %d", version, FormatVersion)
	}
	if err := s.loadPoliciesAndTypes(); err != nil {
		return err
	}
	if err := s.loadCounts(); err != nil {
		return err
	}
	if err := s.loadLastMetric(time.Now()); err != nil {
		return err
	}
	s.instruments, s.collectors, err = newInstruments(s, opts.Registerer)
	return err
}

// initialize writes the format version and, unless told not to, the default policies, all or nothing.
func (s *Store) initialize(skipDefaults bool) error {
	b := s.db.NewBatch()
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

func (s *Store) loadCounts() error {
	counts, err := s.get(keyspace.Counts)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if len(counts) != 3*8 {
		return fmt.Errorf("%w: counts", records.ErrCorrupt)
	}
	for i, count := range s.counts() {
		count.Store(int64(binary.BigEndian.Uint64(counts[i*8:])))
	}
	return nil
}

// counts are those that are kept, in the order in which they are.
func (s *Store) counts() [3]*atomic.Int64 { return [3]*atomic.Int64{&s.live, &s.deleted, &s.resources} }

// Close closes the store, once all calls have returned.
func (s *Store) Close() error {
	for _, c := range s.collectors {
		s.registerer.Unregister(c)
	}
	if s.collector != nil {
		s.collector.Unregister(s.db)
	}
	if err := s.close(); err != nil {
		return fmt.Errorf("index: close: %w", err)
	}
	return nil
}

// Generation is raised by whatever changes what a *model.Metric handed out earlier says: an update of its policy,
// another resource or name, its deletion, its resource's deletion. A caller that keeps metrics asks for them again
// then.
func (s *Store) Generation() uint64 { return s.cache.generation.Load() }

// A change is one write: what it sets and what it adds to the counts.
type change struct {
	*pebble.Batch
	live, deleted, resources int64

	db   *pebble.DB
	look *pebble.Iterator // of has; nil before

	// What it took that a look at the store does not show yet.
	takenResources map[uuid.UUID]bool // created
	takenMetrics   map[uuid.UUID]bool // created, or attached
	listed         map[uuid.UUID]bool // resources whose values list their new metrics
	unlisted       map[uuid.UUID]bool // those that listed their metrics before
	key            []byte             // scratch

	touched []changed // metrics and resources that are no longer as they were
}

// write checks and collects a change under the lock, which sees all earlier ones, and commits it. It returns once the
// change is durable, or, with an error of check, once all that check could see is. Concurrent writes share syncs.
func (s *Store) write(ctx context.Context, check func(c *change) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &change{Batch: s.db.NewBatch(), db: s.db, takenResources: map[uuid.UUID]bool{},
		takenMetrics: map[uuid.UUID]bool{}, listed: map[uuid.UUID]bool{}}
	defer c.Close()
	n, err := s.commit(c, check)
	if err != nil || n == 0 {
		if err := s.commits.waitDurable(); err != nil {
			return err
		}
		return err
	}
	err = c.SyncWait()
	s.commits.reached(n, err)
	return err
}

// commit returns the number of the commit, 0 if there was nothing to write.
func (s *Store) commit(c *change, check func(c *change) error) (n uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err = check(c)
	if closed := c.endLook(); err == nil {
		err = closed
	}
	if err != nil {
		return 0, err
	}
	if c.Empty() {
		return 0, nil
	}
	deltas := [...]int64{c.live, c.deleted, c.resources}
	if deltas != [3]int64{} {
		var counts []byte
		for i, count := range s.counts() {
			counts = binary.BigEndian.AppendUint64(counts, uint64(count.Load()+deltas[i]))
		}
		if err := c.Set(keyspace.Counts, counts, nil); err != nil {
			return 0, err
		}
	}
	n = s.commits.applied.Add(1)
	if err := s.db.ApplyNoSyncWait(c.Batch, pebble.Sync); err != nil {
		s.commits.reached(n, err)
		return 0, err
	}
	for i, count := range s.counts() {
		count.Add(deltas[i])
	}
	s.changes.add(c.touched)
	return n, nil
}

// get returns a copy of a key's value, or pebble.ErrNotFound.
func (s *Store) get(key []byte) ([]byte, error) {
	value, closer, err := s.db.Get(key)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return append([]byte(nil), value...), nil
}

// has reports whether a key is in the store, without what c adds. Mostly it is not, so the filters of all levels are
// asked; Get leaves out that of the last, where most keys are. Keys that ascend cost less.
func (c *change) has(key []byte) (_ bool, err error) {
	if c.look == nil {
		if c.look, err = c.db.NewIter(&pebble.IterOptions{UseL6Filters: true}); err != nil {
			return false, err
		}
	}
	return c.look.SeekPrefixGE(key), c.look.Error()
}

// endLook closes what has opened.
func (c *change) endLook() error {
	if c.look == nil {
		return nil
	}
	return c.look.Close()
}

// has reports whether a key is there.
func (s *Store) has(key []byte) (bool, error) {
	_, closer, err := s.db.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, closer.Close()
}

// scan calls f for the keys that begin with prefix, in order, from the key from on (nil: the first), until f returns
// false or an error. Key and value are valid during the call.
func (s *Store) scan(ctx context.Context, prefix, from []byte, f func(key, value []byte) (bool, error)) (err error) {
	if from == nil {
		from = prefix
	}
	iter, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from,
		UpperBound: keyspace.PrefixEnd(prefix)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	const rowsPerCheck = 16 // a filter of many terms takes milliseconds for one
	row := 0
	for valid := iter.First(); valid; valid = iter.Next() {
		if row++; row%rowsPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return err
		}
		if more, err := f(iter.Key(), value); err != nil || !more {
			return err
		}
	}
	return iter.Error()
}

// skipCorrupt reports whether err comes from bytes that do not decode. It counts and logs them; they stay as they are.
func (s *Store) skipCorrupt(err error) bool {
	if !errors.Is(err, storage.ErrCorrupt) {
		return false
	}
	s.instruments.corrupt.Inc()
	s.logger.Error("index value skipped", "error", err)
	return true
}
