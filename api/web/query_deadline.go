package web

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// clockAsks is how often a queryDeadline's Err asks the clock before it leaves that to a timer.
const clockAsks = 16

// queryDeadline is context.WithDeadlineCause for queries, which mostly end soon and without waiting: it has no timer,
// and is no child of its parent, until somebody asks for Done or asks often for Err. That saves a read of one metric 3
// µs.
type queryDeadline struct {
	context.Context // the parent
	at              time.Time
	cause           error
	asked           atomic.Int32
	timed           atomic.Pointer[timedContext] // nil: not needed so far
	ended           atomic.Bool

	mu sync.Mutex // held to set timed
}

// timedContext is a context that has a timer.
type timedContext struct {
	context.Context
	cancel context.CancelFunc
}

// end ends the context, if it has not ended before.
func (d *queryDeadline) end() {
	d.ended.Store(true)
	if timed := d.timed.Load(); timed != nil {
		timed.cancel()
	}
}

// withTimer returns the context that has a timer.
func (d *queryDeadline) withTimer() *timedContext {
	if timed := d.timed.Load(); timed != nil {
		return timed
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	timed := d.timed.Load()
	if timed == nil {
		timed = new(timedContext)
		timed.Context, timed.cancel = context.WithDeadlineCause(d.Context, d.at, d.cause)
		d.timed.Store(timed)
		if d.ended.Load() { // else end sees timed
			timed.cancel()
		}
	}
	return timed
}

// Deadline implements context.Context.
func (d *queryDeadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

// Done implements context.Context.
func (d *queryDeadline) Done() <-chan struct{} { return d.withTimer().Done() }

// Err implements context.Context.
func (d *queryDeadline) Err() error {
	if d.timed.Load() == nil && !d.ended.Load() && d.asked.Add(1) < clockAsks && d.Context.Err() == nil &&
		time.Until(d.at) > 0 {
		return nil
	}
	return d.withTimer().Err()
}

// Value implements context.Context. Package context finds the cause by it, after Done or Err.
func (d *queryDeadline) Value(key any) any {
	if timed := d.timed.Load(); timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}
