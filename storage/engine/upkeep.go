package engine

import (
	"context"
	"slices"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// UpkeepInterval is how long a store's log may grow before Upkeep looks at it.
const UpkeepInterval = 10 * time.Second

const (
	// restAfter is how long a store is not written to before it is brought into its smallest form. It is longer than
	// checkpoints are apart.
	restAfter = 10 * time.Minute
	// smallStoreBytes is up to where a store is compacted by Upkeep. Larger ones are often enough by Pebble: it waits for
	// four flushes, which are the greater part of a small store.
	smallStoreBytes = 32 << 20
)

// Upkeep keeps the registered stores small, until ctx ends. Pebble flushes a memtable when it is full, and compacts when
// there are several flushes: in a store with little in it, the log would be larger than the tables for ever, and what
// was deleted or trimmed would stay.
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
	written := m.WAL.BytesWritten != s.written
	if written || s.since.IsZero() {
		s.written, s.since, s.atRest = m.WAL.BytesWritten, now, false
	}
	rests := !s.atRest && now.Sub(s.since) >= restAfter
	tables := tableBytes(m)
	if m.WAL.Size > max(s.longLog, tables/4) || rests && m.WAL.Size > 0 {
		flushed, err := s.db.AsyncFlush()
		if err != nil {
			return // the store reports it
		}
		select {
		case <-flushed:
		case <-ctx.Done():
			return
		}
		m = s.db.Metrics()
		tables = tableBytes(m)
	}
	bottom := uint64(m.Levels[len(m.Levels)-1].TablesSize)
	above := tables - bottom
	if tables <= smallStoreBytes && (rests && above > 0 || !written && bottom > 0 && above > bottom/4) {
		if err := s.db.Compact(ctx, []byte{0}, lastKey, false); err != nil {
			return
		}
	}
	s.atRest = s.atRest || rests
}

// lastKey is behind all keys of all stores.
var lastKey = []byte{0xff, 0xff, 0xff}

func tableBytes(m *pebble.Metrics) (bytes uint64) {
	for i := range m.Levels {
		bytes += uint64(m.Levels[i].TablesSize)
	}
	return bytes
}
