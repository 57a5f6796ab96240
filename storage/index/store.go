package index

import (
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
	"github.com/gnocco-db/gnocco/storage/index/search"
)

// FormatVersion is that of a new store as a whole; values have their own.
const FormatVersion = 8

// foldsVersion is the format version of a store from its first archive policy with folds on, whose methods programs of
// FormatVersion do not know.
const foldsVersion = FormatVersion + 1

// Store is an open index. Its methods may be called by many goroutines, but not after Close.
type Store struct {
	*metrics.Table
	*search.Resources
	*policyTable
	*rebuildTable
	documents
	derivedFiles

	log         *commits.Log
	limits      *keyspace.Costs // of metrics and resources
	instruments *instruments
	close       func() error
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
	policies := &policyTable{log: log}
	policies.metrics = metrics.NewTable(log, opts.Logger, func() map[string]*model.ArchivePolicy {
		return policies.current.Load().policies
	}, &costs, opts.CachedMetrics)
	policies.resources = search.New(log, policies.metrics, func() map[string]*model.ResourceType {
		return policies.current.Load().types
	}, &costs)
	rebuilds := &rebuildTable{log: log, policies: policies, metrics: policies.metrics, changed: make(chan struct{}, 1)}
	s := &Store{Table: policies.metrics, Resources: policies.resources, policyTable: policies, rebuildTable: rebuilds,
		documents: documents{log}, derivedFiles: derivedFiles{log: log, fs: opts.FS, dir: dir},
		log: log, limits: &costs, close: func() error { return engine.Close(db, opts.FS, dir) }}
	rebuilds.wake() // those that were under way
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
	case len(version) == 1 && version[0] > foldsVersion:
		return fmt.Errorf("%w: it has format version %d, and this version knows versions up to %d",
			storage.ErrLaterFormat, version[0], foldsVersion)
	case len(version) != 1 || version[0] < FormatVersion:
		return fmt.Errorf("format version % x, want %d", version, FormatVersion)
	}
	if err := s.policyTable.load(); err != nil {
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
	s.derivedFiles.end()
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
