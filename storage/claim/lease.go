package claim

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"
)

// ErrLost is the kind of all errors of a lease that is over: the process must acknowledge nothing more, and end.
var ErrLost = errors.New("lease lost")

// Lease is a process's right to act on what it holds.
type Lease interface {
	// Valid reports whether the lease holds now. Once false, it stays false, unless it is suspended.
	Valid() bool
	// Done is closed when the lease is permanently lost.
	Done() <-chan struct{}
	// Err returns nil while the lease holds, an ErrSuspended while it waits, and else why it was lost: an ErrLost.
	Err() error
}

// ErrSuspended is the error of a lease whose deadline has passed and that may come back, see Deadline.Wait: the process
// must acknowledge and answer nothing, and need not end.
var ErrSuspended = errors.New("lease suspended until the coordinator answers")

// await returns nil once the lease holds, and why it is lost if it does not come back.
func await(l Lease) error {
	if l.Valid() {
		return nil
	}
	if d, ok := l.(interface{ await() error }); ok {
		return d.await()
	}
	return l.Err()
}

// Deadline is the Lease that coordinators keep: it ends TTL after the beginning of the last renewal that counted.
type Deadline struct {
	waits atomic.Bool // see Wait

	clock Clock
	ttl   time.Duration
	at    atomic.Int64 // on clock
	lost  atomic.Bool
	once  sync.Once
	done  chan struct{}
	err   error // set before done is closed
}

// NewDeadline returns a lease that began at the given time of the clock.
func NewDeadline(clock Clock, ttl, begun time.Duration) *Deadline {
	d := &Deadline{clock: clock, ttl: ttl, done: make(chan struct{})}
	d.at.Store(int64(begun + ttl))
	return d
}

// Renew makes a renewal count that was begun at that time of the clock and has now returned. It does not, and the lease
// is lost, if the deadline has passed meanwhile: others may have begun to act by then.
func (d *Deadline) Renew(begun time.Duration) bool {
	if !d.Valid() {
		return false
	}
	d.at.Store(int64(begun + d.ttl))
	return !d.lost.Load()
}

// Wait makes the lease wait at its deadline, for Resume or Lose, instead of ending there.
func (d *Deadline) Wait() { d.waits.Store(true) }

// Resume makes the lease hold again from that time of the clock. The caller knows that nobody has claimed what the
// process holds, and that nobody can before TTL is over.
func (d *Deadline) Resume(begun time.Duration) bool {
	d.at.Store(int64(begun + d.ttl))
	return d.Valid()
}

// await waits for Resume or Lose.
func (d *Deadline) await() error {
	for !d.Valid() {
		select {
		case <-d.done:
			return d.err
		case <-time.After(d.ttl / 200):
		}
	}
	return nil
}

// Remaining returns for how long the lease holds without a renewal.
func (d *Deadline) Remaining() time.Duration { return time.Duration(d.at.Load()) - d.clock.Now() }

// Lose ends the lease, if it has not ended before.
func (d *Deadline) Lose(why error) {
	d.once.Do(func() {
		d.err = fmt.Errorf("claim: %w: %w", ErrLost, why)
		close(d.done)
		d.lost.Store(true) // last: a reader that sees it finds the error
	})
}

var errExpired = errors.New("it was not renewed in time")

// Valid implements Lease.
func (d *Deadline) Valid() bool {
	if d.lost.Load() {
		return false
	}
	if int64(d.clock.Now()) >= d.at.Load() {
		if !d.waits.Load() {
			d.Lose(errExpired)
		}
		return false
	}
	return true
}

// Done implements Lease.
func (d *Deadline) Done() <-chan struct{} { return d.done }

// Err implements Lease.
func (d *Deadline) Err() error {
	valid := d.Valid() // notices what nobody has noticed yet
	select {
	case <-d.done:
		return d.err
	default:
	}
	if !valid {
		return ErrSuspended
	}
	return nil
}
