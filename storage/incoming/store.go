package incoming

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// defaultMemTableSize holds the measures of some seconds, so that most are deleted before they reach a table.
const defaultMemTableSize = 16 << 20

// longLog is the size up to which Upkeep leaves a log alone. Measures that come in slowly are mostly deleted before
// their log grows to it.
const longLog = 8 << 20

// l0CompactionThreshold is high: most records that a compaction would rewrite are deleted before they are read there.
const l0CompactionThreshold = 16

// Store may be used by several goroutines. Each sack has one reader.
type Store struct {
	options     Options
	dir         string
	db          *pebble.DB
	old         *engine.OldLogs
	id          string
	epoch       uint64
	space       *freeSpace
	sacks       []*sack
	recentBytes atomic.Int64 // of all sacks
	instruments *instruments

	stamps stamper
	clocks map[uint64]uuid.UUID // by epoch, of this one and of those that records are left of

	queue     queue
	committed chan struct{} // closed when the committer has ended

	failure atomic.Pointer[error] // once a commit failed
	// reading is held while Pebble is read, so that Close waits.
	reading sync.RWMutex
	closed  bool // guarded by reading
}

// Open opens or creates the store in dir, and starts a new epoch.
func Open(dir string, options Options) (*Store, error) {
	if err := options.Validate(); err != nil {
		return nil, fmt.Errorf("incoming: %w", err)
	}
	options.EnsureDefaults()
	old := new(engine.OldLogs)
	db, err := engine.Open(dir, engine.Options{
		FS: options.FS, Cache: options.Cache, FileCache: options.FileCache,
		MemTableSize: options.MemTableSize, OldLogs: old,
		L0CompactionThreshold: l0CompactionThreshold, Compression: &engine.FastCompression, Logger: options.Logger,
		Fail: options.Fail,
	})
	if err != nil {
		return nil, fmt.Errorf("incoming: open %s: %w", dir, err)
	}
	s := &Store{options: options, dir: dir, db: db, old: old, committed: make(chan struct{})}
	s.queue.wake = make(chan struct{}, 1)
	if err := s.start(dir); err != nil {
		return nil, fmt.Errorf("incoming: open %s: %w", dir, errors.Join(err, db.Close()))
	}
	return s, nil
}

func (s *Store) start(dir string) error {
	m, err := raiseEpoch(s.db, s.options.Sacks, s.options.Clock.ID)
	if err != nil {
		return err
	}
	s.id, s.epoch = m.id.String(), m.epoch
	s.stamps.clock = s.options.Clock
	if s.clocks, err = readClocks(s.db); err != nil {
		return err
	}
	s.space = newFreeSpace(dir, &s.options)
	totals := make([]total, s.options.Sacks)
	for i := range s.options.Sacks {
		sack := &sack{ready: make(chan struct{}, 1), busy: make(chan struct{}, 1)}
		if err := s.recover(i, sack); err != nil {
			return err
		}
		totals[i] = sack.sent
		s.sacks = append(s.sacks, sack)
	}
	if err := s.forgetClocks(); err != nil {
		return err
	}
	lists, err := s.readLists()
	if err != nil {
		return err
	}
	if s.instruments, err = newInstruments(s); err != nil {
		return err
	}
	if s.options.Collector != nil {
		s.options.Collector.Register("incoming", s.db, longLog, s.old)
	}
	go s.commitLoop(&committer{next: firstSequence(m.epoch), totals: totals,
		acknowledged: make([]uint64, len(totals)), lists: lists})
	return nil
}

// recover finds what an earlier epoch left in sack i. All of it counts as backlog until the reader reports.
func (s *Store) recover(i int, sack *sack) error {
	lower, upper := key(i, 0), key(i+1, 0)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: lower[:], UpperBound: upper[:]})
	if err != nil {
		return err
	}
	defer iter.Close()
	if !iter.First() {
		return iter.Error()
	}
	// A corrupt record stays for the reader to report; its figures are taken as 0.
	r, _ := decodeRecord(iter.Value())
	block, _ := r.whole(s.db, i)
	sack.first = keySequence(iter.Key())
	_, accepted, _ := BlockMeasures(block)
	sack.process(0, r.before, accepted)
	if !iter.Last() {
		return iter.Error()
	}
	r, _ = decodeRecord(iter.Value())
	block, _ = r.whole(s.db, i)
	measures, _, _ := BlockMeasures(block)
	sack.sent = r.before.plus(measures)
	sack.last = keySequence(iter.Key())
	sack.recent.floor = sack.last
	sack.wake()
	return nil
}

// ID returns the store's identity: random, made when the store was, the same ever after.
func (s *Store) ID() string { return s.id }

// Sacks returns the number of sacks.
func (s *Store) Sacks() int { return len(s.sacks) }

// Ready returns the channel that carries one token once the sack got records, also those found by Open. The reader
// takes the token, then drains until nothing comes.
func (s *Store) Ready(sack int) <-chan struct{} { return s.sacks[sack].ready }

// Busy returns the channel that carries one token once much waits for the sack, for a reader that pauses after the
// first record. It may be one of earlier.
func (s *Store) Busy(sack int) <-chan struct{} { return s.sacks[sack].busy }

// Last returns the highest published sequence of the sack, 0 if Open found none and none came since.
func (s *Store) Last(sack int) uint64 {
	k := s.sacks[sack]
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.last
}

// Close commits what waits, and closes the store, after calls in progress. Later calls get ErrClosed. If the disk does
// not take what waits, the store stays open and the error is ErrTimeout: it can be closed later.
func (s *Store) Close() error {
	s.queue.close()
	select {
	case <-s.committed:
	case <-time.After(s.options.Timeout):
		return fmt.Errorf("incoming: close: %w", ErrTimeout)
	}
	s.reading.Lock()
	defer s.reading.Unlock()
	if s.closed {
		return ErrClosed
	}
	s.closed = true
	s.instruments.unregister()
	if s.options.Collector != nil {
		s.options.Collector.Unregister(s.db)
	}
	var err error
	if s.failed() == nil {
		if err := s.dropDeleted(); err != nil { // on a full disk, perhaps
			s.options.Logger.Warn("incoming store not made smaller", "dir", s.dir, "error", err)
		}
		err = engine.Close(s.db, s.options.FS, s.dir)
	} else {
		err = s.db.Close()
	}
	if err != nil {
		return fmt.Errorf("incoming: close: %w", err)
	}
	return nil
}

// read runs f unless the store is closed, and keeps it open meanwhile.
func (s *Store) read(f func() error) error {
	s.reading.RLock()
	defer s.reading.RUnlock()
	if s.closed {
		return ErrClosed
	}
	return f()
}

// fail makes the store refuse from now on, and reports why.
func (s *Store) fail(err error) {
	wrapped := fmt.Errorf("%w: %w", ErrFailed, err)
	if !s.failure.CompareAndSwap(nil, &wrapped) {
		return
	}
	s.options.Fail(fmt.Errorf("incoming: commit: %w", err))
}

func (s *Store) failed() error {
	if err := s.failure.Load(); err != nil {
		return *err
	}
	return nil
}

// Append refuses with errors of kind model.ErrUnavailable: the client may try again. After ErrTimeout, and after the
// end of a context, the measures may have been stored nevertheless.
var (
	ErrNoSpace = fmt.Errorf("%w: no disk space left for measures", model.ErrUnavailable)
	ErrBusy    = fmt.Errorf("%w: too many measures wait for the disk", model.ErrUnavailable)
	ErrTimeout = fmt.Errorf("%w: the disk took too long", model.ErrUnavailable)
	ErrClosed  = fmt.Errorf("%w: store is closed", model.ErrUnavailable)
	ErrFailed  = fmt.Errorf("%w: store failed", model.ErrUnavailable)
)

// errCorrupt is a storage.ErrCorrupt.
var errCorrupt = fmt.Errorf("incoming: %w", storage.ErrCorrupt)
