package commits

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// Log is the index's Pebble store with the order of its writes. Its methods may be called by many goroutines.
type Log struct {
	DB      *pebble.DB         // to read; writes go through Write
	Corrupt prometheus.Counter // values that did not decode
	logger  *slog.Logger
	synced  commitSync
	changes changeLog

	Live      atomic.Int64 // metrics; changed under mu
	Deleted   atomic.Int64 // metrics marked deleted; changed under mu
	Resources atomic.Int64 // changed under mu

	Projects map[string]int64 // of Live, by project, under mu; nil: not counted yet

	mu sync.Mutex // held from the check of a write to its entry into the log
}

// NewLog returns the log of a store, whose owner closes it.
func NewLog(db *pebble.DB, logger *slog.Logger) *Log {
	l := &Log{DB: db, logger: logger, changes: changeLog{session: rand.Uint64()}}
	l.Corrupt = prometheus.NewCounter(prometheus.CounterOpts{
		Name: "gnocco_index_corrupt_total",
		Help: "Stored values that did not decode and were skipped.",
	})
	l.synced.init()
	return l
}

// WaitDurable waits until everything that can be read now is durable. It mostly returns at once.
func (l *Log) WaitDurable() error { return l.synced.waitDurable() }

// Durable returns err, with which a read ended, once all that it may rest upon is durable. A failed sync comes first.
func (l *Log) Durable(err error) error { return cmp.Or(l.WaitDurable(), err) }

// WriteSynced holds the lock from check through the sync, and calls replace at its end: memory then has what is
// durable. It is for rare writes after which anything may read differently.
func (l *Log) WriteSynced(ctx context.Context, check func(b *pebble.Batch) (replace func(), err error)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.DB.NewBatch()
	defer b.Close()
	replace, err := check(b)
	if err != nil {
		return err
	}
	before, last, err := l.changes.appendAll(b)
	if err != nil {
		return err
	}
	if err := b.Commit(pebble.Sync); err != nil {
		return err
	}
	replace()
	l.changes.set(before, last)
	return nil
}

// Locked calls f while no write is between its check and its entry into the log.
func (l *Log) Locked(f func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	f()
}

// Write checks and collects a change under the lock, which sees all earlier ones, and commits it. It returns once the
// change is durable, or, with an error of check, once all that check could see is. Concurrent writes share syncs.
func (l *Log) Write(ctx context.Context, check func(c *Change) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	c := &Change{Batch: l.DB.NewBatch(), db: l.DB, TakenResources: map[uuid.UUID]bool{},
		TakenMetrics: map[uuid.UUID]bool{}, Listed: map[uuid.UUID]bool{}}
	defer c.Close()
	n, err := l.apply(c, check)
	if err != nil || n == 0 {
		return l.Durable(err)
	}
	err = c.SyncWait()
	l.synced.reached(n, err)
	return err
}

// apply returns the number of the commit, 0 if there was nothing to write.
func (l *Log) apply(c *Change, check func(c *Change) error) (n uint64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
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
	deltas := [...]int64{c.Live, c.Deleted, c.Resources}
	if deltas != [3]int64{} {
		var counts []byte
		for i, count := range l.counts() {
			counts = binary.BigEndian.AppendUint64(counts, uint64(count.Load()+deltas[i]))
		}
		if err := c.Set(keyspace.Counts, counts, nil); err != nil {
			return 0, err
		}
	}
	before, last, err := l.changes.append(l.DB, c.Batch, c.touched)
	if err != nil {
		return 0, err
	}
	n = l.synced.applied.Add(1)
	if err := l.DB.ApplyNoSyncWait(c.Batch, pebble.Sync); err != nil {
		l.synced.reached(n, err)
		return 0, err
	}
	for i, count := range l.counts() {
		count.Add(deltas[i])
	}
	if l.Projects != nil {
		for project, n := range c.Projects {
			l.Projects[project] += n
		}
	}
	l.changes.set(before, last)
	return n, nil
}

func (l *Log) LoadCounts() error {
	counts, err := l.Get(keyspace.Counts)
	if err != nil || counts == nil {
		return err
	}
	if len(counts) != 3*8 {
		return fmt.Errorf("%w: counts", records.ErrCorrupt)
	}
	for i, count := range l.counts() {
		count.Store(int64(binary.BigEndian.Uint64(counts[i*8:])))
	}
	return nil
}

// counts are those that are kept, in the order in which they are.
func (l *Log) counts() [3]*atomic.Int64 { return [3]*atomic.Int64{&l.Live, &l.Deleted, &l.Resources} }

// Get returns a copy of a key's value, nil if there is no such key.
func (l *Log) Get(key []byte) ([]byte, error) { return engine.Get(l.DB, key) }

// Has reports whether a key is there.
func (l *Log) Has(key []byte) (bool, error) {
	_, closer, err := l.DB.Get(key)
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	return true, closer.Close()
}

// Scan calls f for the keys that begin with prefix, in order, from the key from on (nil: the first), until f returns
// false or an error. Key and value are valid during the call.
func (l *Log) Scan(ctx context.Context, prefix, from []byte, f func(key, value []byte) (bool, error)) (err error) {
	if from == nil {
		from = prefix
	}
	iter, err := l.DB.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: from,
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

// SkipCorrupt reports whether err comes from bytes that do not decode. It counts and logs them; they stay as they are.
func (l *Log) SkipCorrupt(err error) bool {
	if !errors.Is(err, storage.ErrCorrupt) {
		return false
	}
	l.Corrupt.Inc()
	l.logger.Error("index value skipped", "error", err)
	return true
}

// commitSync knows which commits are synced. Commits are numbered in the order in which they enter the log, so a sync
// of one covers all before it.
type commitSync struct {
	applied atomic.Uint64 // the number of the last commit; raised before its effect can be read
	synced  atomic.Uint64 // commits up to this one are durable

	mu      sync.Mutex
	changed *sync.Cond // synced or failure
	failure error      // of a sync: the log can promise no more writes
}

func (d *commitSync) init() { d.changed = sync.NewCond(&d.mu) }

// reached records the outcome of commit n.
func (d *commitSync) reached(n uint64, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err != nil {
		d.failure = err
	} else if n > d.synced.Load() {
		d.synced.Store(n)
	}
	d.changed.Broadcast()
}

// waitDurable waits until all that can be read now is durable. It mostly returns at once.
func (d *commitSync) waitDurable() error {
	n := d.applied.Load()
	if d.synced.Load() >= n {
		return nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for d.synced.Load() < n && d.failure == nil {
		d.changed.Wait()
	}
	return d.failure
}
