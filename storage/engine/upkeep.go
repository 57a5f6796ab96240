package engine

import (
	"bytes"
	"context"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// UpkeepInterval is how long a store's log may grow before Upkeep looks at it.
const UpkeepInterval = 10 * time.Second

const (
	// A store rests after restAfter without a write. That is longer than the time between two checkpoints: otherwise
	// each checkpoint would be followed by a compaction of the whole store.
	restAfter = 40 * time.Minute
	// smallStoreBytes is the size up to which Upkeep compacts a store in use. Pebble waits for four flushes, which are
	// the greater part of a small store, and little of a large one.
	smallStoreBytes = 32 << 20
	// A larger store at rest may keep 1/restShare of its bytes above its last level: folding them would rewrite
	// restShare times their size.
	restShare = 16
	// A store without new writes is compacted once 1/deletedShare of its bytes, and leastDeleted, are known as deleted.
	deletedShare = 4
	leastDeleted = 64 << 10
	// A tick compacts stepBytes of the last level of a store at rest. A stop, and the other stores, wait for that much.
	stepBytes = 32 << 20
)

// Upkeep keeps the registered stores small, until ctx ends. It looks at each at every tick; ticks come UpkeepInterval
// apart, or more.
//
// The problem: Pebble flushes a memtable when it is full, and compacts after several flushes. A small store may never
// get there: its log stays larger than its tables, and deleted and trimmed values stay on disk.
//
// The simple idea is to flush and compact every store at every tick. It fails twice. A store in use would be rewritten
// at each tick for a few new keys. And the compaction of a large store takes minutes, in which a stop has to wait.
//
// So the rule depends on the store's use:
//   - A log is flushed once it is longer than a quarter of the tables, and than longLog.
//   - A small store in use is compacted once more lies above its last level than in it, at a tick without new writes.
//     So a compaction writes less than twice the bytes that it folds.
//   - A store of which a good part is deleted is compacted so as well, from the first tick without new writes on.
//   - A store at rest is flushed, and compacted into its last level, stepBytes a tick, until all of it is there. A
//     larger store is left alone if only a small part of it lies above.
//
// The invariants: a write ends the rest; a store at rest and in its smallest form is not written to again; a tick holds
// a store open for one flush and one step at most.
func (c *PebbleCollector) Upkeep(ctx context.Context, ticks <-chan time.Time) {
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticks:
			c.mu.Lock()
			stores := slices.Clone(c.stores)
			c.mu.Unlock()
			for _, s := range stores {
				s.maintain(ctx, now)
			}
		}
	}
}

// maintain does the work of a tick on one store. It holds the store open meanwhile; Unregister ends that.
func (s *registered) maintain(ctx context.Context, now time.Time) {
	s.open.RLock()
	defer s.open.RUnlock()
	if s.ctx.Err() != nil || ctx.Err() != nil {
		return
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.ctx, cancel)()

	m := s.db.Metrics()
	changes := m.WAL.BytesWritten + m.Ingest.Count
	written := changes != s.changes
	if written || s.since.IsZero() {
		s.changes, s.since, s.next, s.atRest = changes, now, nil, false
	}
	idle := now.Sub(s.since) >= restAfter
	rests := idle && !s.atRest
	if idle {
		_ = s.old.Remove() // one that stays is removed when the store is closed, or opened
	}
	tables := tableBytes(m)
	if m.WAL.Size > max(s.longLog, tables/4) || rests && m.WAL.Size > 0 {
		if !s.flush(ctx) {
			return
		}
		m = s.db.Metrics()
		tables = tableBytes(m)
	}
	if m.WAL.Size == 0 && m.Flush.Count != s.flushes {
		s.releaseFlushed(ctx)
	}
	bottom := uint64(m.Levels[len(m.Levels)-1].TablesSize)
	above := tables - bottom
	small := tables <= smallStoreBytes
	garbage := m.Table.Garbage.PointDeletionsBytesEstimate + m.Table.Garbage.RangeDeletionsBytesEstimate
	deleted := !written && !s.atRest && garbage > max(leastDeleted, tables/deletedShare)
	switch {
	case deleted:
		s.compactAtRest(ctx)
	case rests && s.next == nil && (above == 0 || !small && above <= tables/restShare):
		s.atRest = true
	case rests:
		s.compactAtRest(ctx)
	case small && !written && bottom > 0 && above > bottom:
		_ = s.db.Compact(ctx, firstKey, lastKey, false) // the store reports an error
	}
}

// flush reports whether it has flushed the memtable; else the store reports why, or is closed.
func (s *registered) flush(ctx context.Context) bool {
	flushed, err := s.db.AsyncFlush()
	if err != nil {
		return false
	}
	select {
	case <-flushed:
		return true
	case <-ctx.Done():
		return false
	}
}

// releaseFlushed makes Pebble release the memory of flushed memtables and of large checkpoints' batches. Pebble cuts
// them off the front of a queue, but the array behind the queue refers to them until it has no room for one memtable
// more. Each flush, here of an empty memtable, takes a place of that array.
func (s *registered) releaseFlushed(ctx context.Context) {
	for range 2 {
		if !s.flush(ctx) {
			return
		}
	}
	s.flushes = s.db.Metrics().Flush.Count
}

// compactAtRest brings the next part of a store without new writes into the last level.
func (s *registered) compactAtRest(ctx context.Context) {
	levels, err := s.db.SSTables()
	if err != nil {
		return
	}
	from := s.next
	if from == nil {
		from = firstKey
	}
	to := stepEnd(levels[len(levels)-1], from)
	if s.db.Compact(ctx, from, to, false) != nil {
		return // the store reports it, unless it is only that ctx has ended
	}
	s.next, s.atRest = append(slices.Clone(to), 0), bytes.Equal(to, lastKey)
}

// stepEnd returns up to which key to compact from a key on, by the tables of the last level.
func stepEnd(tables []pebble.SSTableInfo, from []byte) []byte {
	step := uint64(0)
	for _, table := range tables {
		last := table.Largest.UserKey
		if bytes.Compare(last, from) <= 0 {
			continue
		}
		if step += table.Size; step >= stepBytes {
			return last
		}
	}
	return lastKey
}

// All keys of all stores are between these two.
var firstKey, lastKey = []byte{0}, []byte{0xff, 0xff, 0xff}

func tableBytes(m *pebble.Metrics) (sum uint64) {
	for i := range m.Levels {
		sum += uint64(m.Levels[i].TablesSize)
	}
	return sum
}

// Rewrites tells a store's merge operator who calls it: while nothing writes tables, only reads do. Pebble does not
// say.
type Rewrites struct {
	running atomic.Int32 // flushes and compactions
	opened  atomic.Bool  // an opening store flushes without telling anyone
}

// Running reports whether the store may be writing tables.
func (r *Rewrites) Running() bool { return !r.opened.Load() || r.running.Load() > 0 }

// listen adds r to the listener of a store.
func (r *Rewrites) listen(l *pebble.EventListener) {
	if r == nil {
		return
	}
	flushEnd := l.FlushEnd
	l.FlushBegin = func(pebble.FlushInfo) { r.running.Add(1) }
	l.FlushEnd = func(info pebble.FlushInfo) {
		r.running.Add(-1)
		flushEnd(info)
	}
	l.CompactionBegin = func(pebble.CompactionInfo) { r.running.Add(1) }
	l.CompactionEnd = func(pebble.CompactionInfo) { r.running.Add(-1) }
}
