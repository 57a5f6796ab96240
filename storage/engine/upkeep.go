package engine

import (
	"bytes"
	"context"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// UpkeepInterval is how long a store's log may grow before Upkeep looks at it.
const UpkeepInterval = 10 * time.Second

const (
	// restAfter is how long a store is not written to before it is brought into its smallest form. It is longer than
	// checkpoints are apart, or each would have it folded.
	restAfter = 40 * time.Minute
	// smallStoreBytes is up to where Upkeep compacts a store that is in use, once as much lies above its last level as
	// in it. Larger ones are often enough by Pebble: it waits for four flushes, which are the greater part of a small
	// store.
	smallStoreBytes = 32 << 20
	// restShare is the part of a larger store, 1/restShare, that may stay above its last level at rest: to fold it
	// would write restShare times as much.
	restShare = 16
	// stepBytes of the last level are compacted at a tick of a store at rest. A stop, and a rest that ends, wait for
	// that much.
	stepBytes = 32 << 20
)

// Upkeep keeps the registered stores small, until ctx ends. Pebble flushes a memtable when it is full, and compacts
// when there are several flushes: in a store with little in it, the log would be larger than the tables for ever, and
// what was deleted or trimmed would stay.
//
// It looks at them at every tick, which comes UpkeepInterval after the last, or later.
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
				s.keep(ctx, now)
			}
		}
	}
}

// keep looks at one store. It holds the store open meanwhile; Unregister ends that.
func (s *registered) keep(ctx context.Context, now time.Time) {
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
		s.letGo(ctx)
	}
	bottom := uint64(m.Levels[len(m.Levels)-1].TablesSize)
	above := tables - bottom
	small := tables <= smallStoreBytes
	switch {
	case rests && s.next == nil && (above == 0 || !small && above <= tables/restShare):
		s.atRest = true
	case rests:
		s.settle(ctx)
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

// letGo has Pebble forget what it flushed. It cuts that off the front of its queue of memtables, and the array behind
// the queue keeps it, the batch of a large checkpoint too, until there is no room for one memtable more. Each flush
// takes a place, here of an empty memtable.
func (s *registered) letGo(ctx context.Context) {
	for range 2 {
		if !s.flush(ctx) {
			return
		}
	}
	s.flushes = s.db.Metrics().Flush.Count
}

// settle brings the next part of a store at rest into the last level.
func (s *registered) settle(ctx context.Context) {
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
