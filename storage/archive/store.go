package archive

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// Options of a store. The zero value works.
type Options struct {
	FS           vfs.FS            // nil: the operating system's
	Cache        *pebble.Cache     // shared with other stores; nil: own
	FileCache    *pebble.FileCache // shared with other stores; nil: own
	MemTableSize uint64            // bytes; 0: 4 MiB
	Sack         Sack              // that the store must be; zero: any
	ReadOnly     bool
	Unchecked    bool // as in engine.Options
	Logger       *slog.Logger
	// Collector shows Pebble's own figures, of all sacks together as "sacks". nil: not shown.
	Collector *engine.PebbleCollector
	// Fail is as in engine.Options: it is called with the error that made the store unusable. nil: ends the process.
	Fail func(error)
	// Corrupt is as in engine.Options: it is called when a flush met corrupt bytes. nil: that is only logged.
	Corrupt func(error)
}

// Store is the archive of one sack. It may be used by several goroutines. Reads see what is committed, or, once the
// store was pinned, what was committed when it was pinned last.
type Store struct {
	db        *pebble.DB
	pinned    atomic.Pointer[pebble.Snapshot] // what reads see; nil: the latest
	unsaid    atomic.Pointer[[]byte]          // which sack this is, if the store does not say so yet
	tables    *engine.Tables
	close     func() error
	logger    *slog.Logger
	collector *engine.PebbleCollector
	readers   sync.Pool // *reader
	reported  reported
}

const defaultMemTableSize = 4 << 20

// Open opens or creates the store in dir. The error is an ErrOtherSack if the store is not that of options.Sack.
func Open(dir string, options Options) (*Store, error) {
	options.MemTableSize = cmp.Or(options.MemTableSize, defaultMemTableSize)
	options.Logger = cmp.Or(options.Logger, slog.New(slog.DiscardHandler))
	rewrites := new(engine.Rewrites)
	o := engine.Options{
		FS: options.FS, Cache: options.Cache, FileCache: options.FileCache, Logger: options.Logger,
		MemTableSize: options.MemTableSize, Merger: newMerger(rewrites.Running), Rewrites: rewrites,
		ReadOnly: options.ReadOnly, Fail: options.Fail, Corrupt: options.Corrupt,
		Unchecked: options.Unchecked,
	}
	db, err := engine.Open(dir, o)
	if err != nil {
		return nil, fmt.Errorf("archive: open %s: %w", dir, err)
	}
	close := func() error { return engine.Close(db, options.FS, dir) }
	if options.ReadOnly {
		close = db.Close
	}
	s := &Store{db: db, tables: engine.NewTables(db, dir, o), close: close, logger: options.Logger,
		collector: options.Collector, readers: sync.Pool{New: func() any { return new(reader) }}}
	if options.Sack != (Sack{}) {
		// Damaged bytes say nothing of the sack: the store opens, and who reads them meets the damage.
		err := s.be(options.Sack, options.ReadOnly)
		if pebble.IsCorruptionError(err) {
			options.Logger.Warn("which sack the store is cannot be read", "store", dir, "error", err)
			err = nil
		}
		if err != nil {
			return nil, fmt.Errorf("archive: open %s: %w", dir, errors.Join(err, db.Close()))
		}
	}
	if options.Collector != nil {
		options.Collector.Register("sacks", db, engine.ShortLog, nil)
	}
	return s, nil
}

// DB returns the Pebble store, for its figures.
func (s *Store) DB() *pebble.DB { return s.db }

// Close closes the store. Commits are durable already.
func (s *Store) Close() error {
	if s.collector != nil {
		s.collector.Unregister(s.db)
	}
	if pinned := s.pinned.Swap(nil); pinned != nil {
		return errors.Join(pinned.Close(), s.close())
	}
	return s.close()
}

// Pin makes later reads of archives see the store as it is now, without later commits, until it is called again. Pebble
// shows a commit before it is durable. An owner that keeps state on top of the store pins it, with that state locked,
// when both have changed: then a read sees both before a commit, or both after it. No read may run meanwhile.
//
// Marks, counters of the whole store and values set aside are read as of the latest commit.
func (s *Store) Pin() error {
	if before := s.pinned.Swap(s.db.NewSnapshot()); before != nil {
		return before.Close()
	}
	return nil
}

// reads returns what reads of archives go to.
func (s *Store) reads() pebble.Reader {
	if pinned := s.pinned.Load(); pinned != nil {
		return pinned
	}
	return s.db
}

// Compact rewrites the whole store, as for measuring its size.
func (s *Store) Compact() error {
	if err := s.db.Flush(); err != nil {
		return err
	}
	return s.db.Compact(context.Background(), []byte{0}, []byte{0xff}, true)
}

// Mark returns the last sequence of an incoming store whose measures are in the archives, 0 for none.
func (s *Store) Mark(source string) (uint64, error) {
	mark, _, err := s.number(markKey(source), "mark of "+source)
	return mark, err
}

// number returns a number that the store notes; ok is false if it does not. what names it in an error.
func (s *Store) number(key []byte, what string) (n uint64, ok bool, err error) {
	value, err := engine.Get(s.db, key)
	if err == nil && value != nil && len(value) != 8 {
		err = fmt.Errorf("it has %d bytes", len(value))
	}
	if err != nil {
		return 0, false, fmt.Errorf("archive: read %s: %w", what, err)
	}
	if value == nil {
		return 0, false, nil
	}
	return binary.BigEndian.Uint64(value), true, nil
}

// Time returns when the last checkpoint was begun: the store has what was processed until then. ok is false if it does
// not say.
func (s *Store) Time() (t time.Time, ok bool, err error) {
	at, ok, err := s.number(timeKey, "time of the last checkpoint")
	return time.Unix(0, int64(at)), ok, err
}

// Dropped returns how many measures of a metric were dropped as older than its back window.
func (s *Store) Dropped(metric uuid.UUID) (uint64, error) {
	n, err := s.count(droppedKey(nil, metric))
	if err != nil {
		return 0, fmt.Errorf("archive: read dropped measures of %s: %w", metric, err)
	}
	return n, nil
}

// Late returns how many measures of a metric came late, but not too late for its back window.
func (s *Store) Late(metric uuid.UUID) (uint64, error) {
	n, err := s.count(lateKey(nil, metric))
	if err != nil {
		return 0, fmt.Errorf("archive: read late measures of %s: %w", metric, err)
	}
	return n, nil
}

func (s *Store) count(key []byte) (uint64, error) {
	value, err := engine.Get(s.reads(), key)
	if err != nil || value == nil {
		return 0, err
	}
	total, err := addCounts(nil, appendOperands(nil, value))
	if err != nil {
		return 0, err
	}
	return binary.BigEndian.Uint64(total[1:]), nil
}
