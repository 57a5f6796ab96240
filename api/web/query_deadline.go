package web

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/query/activity"
)

// clockAsks is how often a queryDeadline's Err asks the clock before it leaves that to a timer.
const clockAsks = 16

// queryDeadline is context.WithDeadlineCause for queries, which mostly end soon and without waiting: it has no timer,
// and is no child of its parent, until somebody asks for Done or asks often for Err. That saves a read of one metric 3
// µs. It holds the query's entry in the process's activity, and ends early if the query is killed.
type queryDeadline struct {
	context.Context // the parent
	query           activity.Query
	at              time.Time
	cause           error
	asked           atomic.Int32
	timed           atomic.Pointer[timedContext] // nil: not needed so far
	killed          atomic.Pointer[killedError]
	ended           atomic.Bool // after killed

	mu sync.Mutex // held to set timed
}

// timedContext is a context that has a timer.
type timedContext struct {
	context.Context
	cancel func(cause error)
}

// killedError is the cause of a context whose query was killed.
type killedError struct{ By string }

func (e *killedError) Error() string { return "The query was ended by user " + e.By + "." }

// Killed returns the killedError of a context, nil if its query was not killed.
func Killed(ctx context.Context) error {
	var killed *killedError
	if ctx.Err() == nil || !errors.As(context.Cause(ctx), &killed) {
		return nil
	}
	return killed
}

// BeginQuery returns the context of a query that a user may run for so long. The query is listed until end.
func (e *Env) BeginQuery(r *http.Request, who *auth.Identity, limit time.Duration) (ctx context.Context, end func()) {
	d := &queryDeadline{Context: r.Context(), at: time.Now().Add(limit), cause: ErrQueryTimeout}
	d.query.Route, d.query.Kill = e.route(r), d.kill
	if who != nil {
		d.query.User, d.query.Project = who.User, who.ProjectID
	}
	d.query.Describe(r.URL.Path)
	if l := requestLogOf(r.Context()); l != nil {
		l.reads = &d.query
	}
	e.Activity.Begin(&d.query)
	return d, func() {
		e.Activity.End(&d.query)
		d.end(nil)
	}
}

// kill ends a query on behalf of a user.
func (d *queryDeadline) kill(by string) { d.end(&killedError{by}) }

// end ends the context, if it has not ended before.
func (d *queryDeadline) end(killed *killedError) {
	if killed != nil {
		d.killed.Store(killed)
	}
	d.ended.Store(true)
	if timed := d.timed.Load(); timed != nil {
		timed.cancel(d.endCause())
	}
}

// endCause is why the context has ended; nil for no special cause.
func (d *queryDeadline) endCause() error {
	if killed := d.killed.Load(); killed != nil {
		return killed
	}
	return nil
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
		base, cancel := context.WithCancelCause(d.Context)
		var stop context.CancelFunc
		timed.Context, stop = context.WithDeadlineCause(base, d.at, d.cause)
		timed.cancel = func(cause error) {
			cancel(cause)
			stop()
		}
		d.timed.Store(timed)
		if d.ended.Load() { // else end sees timed
			timed.cancel(d.endCause())
		}
	}
	return timed
}

func (d *queryDeadline) Deadline() (time.Time, bool) {
	if at, ok := d.Context.Deadline(); ok && at.Before(d.at) {
		return at, true
	}
	return d.at, true
}

func (d *queryDeadline) Done() <-chan struct{} { return d.withTimer().Done() }

func (d *queryDeadline) Err() error {
	if d.timed.Load() == nil && !d.ended.Load() && d.asked.Add(1) < clockAsks && d.Context.Err() == nil &&
		time.Until(d.at) > 0 {
		return nil
	}
	return d.withTimer().Err()
}

// Value implements context.Context. Package context finds the cause by it, after Done or Err.
func (d *queryDeadline) Value(key any) any {
	if key == activity.Key {
		return &d.query
	}
	if timed := d.timed.Load(); timed != nil {
		return timed.Value(key)
	}
	return d.Context.Value(key)
}
