package engine

import (
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

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
