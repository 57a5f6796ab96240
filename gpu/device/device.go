package device

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// Device is a CUDA device and the goroutine that owns it. It is opened when it is first used. Its methods may be called
// from any goroutine, but not from within a job.
type Device struct {
	options     Options
	instruments *instruments
	work        chan *task    // to the owner
	closing     chan struct{} // closed by Close
	ended       chan struct{} // closed when the owner has ended

	opened  chan struct{} // closed when opening has succeeded or not; engine and openErr are set
	engine  *Engine
	openErr error

	fault      atomic.Pointer[FaultError] // why the device is dead
	giveUpOnce sync.Once
	gaveUp     chan struct{} // closed when the device took too long: the owner may never return from the driver

	mu     sync.Mutex
	owned  bool // the owner was started
	closed bool
}

// New checks options. It opens nothing yet.
func New(options Options) (*Device, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	options.EnsureDefaults()
	return &Device{
		options: options, instruments: newInstruments(options.Registerer, options.Ordinal), work: make(chan *task),
		closing: make(chan struct{}), ended: make(chan struct{}), opened: make(chan struct{}),
		gaveUp: make(chan struct{}),
	}, nil
}

// Open opens the device, which takes up to half a second, or says why it is not open: always ErrUnavailable where there
// is none, a FaultError after a fault, ErrClosed after Close.
func (d *Device) Open(ctx context.Context) (*Engine, error) {
	d.mu.Lock()
	if err := d.reason(); err != nil {
		d.mu.Unlock()
		return nil, err
	}
	if !d.owned {
		d.owned = true
		go d.own()
	}
	d.mu.Unlock()
	select {
	case <-d.opened:
	case <-d.gaveUp:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if err := d.Err(); err != nil {
		return nil, err
	}
	return d.engine, nil
}

// Err returns why the device can be used no more, nil while it can or was not tried.
func (d *Device) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reason()
}

// reason is called with mu held.
func (d *Device) reason() error {
	if d.closed {
		return ErrClosed
	}
	if fault := d.fault.Load(); fault != nil {
		return fault
	}
	select {
	case <-d.opened:
		return d.openErr
	default:
		return nil
	}
}

// Do calls f on the owner's goroutine, between jobs: for work without a stream, such as loading modules.
func (d *Device) Do(ctx context.Context, f func(*Engine) error) error {
	return d.wait(d.send(ctx, task{do: f}))
}

// Run does a job and returns its error. Run waits for a started job even if ctx ends.
func (d *Device) Run(ctx context.Context, job Job) error {
	return d.wait(d.send(ctx, task{job: job}))
}

// Submit hands a job to the owner and returns a function that waits for its end and returns its error; the caller calls
// it once.
func (d *Device) Submit(ctx context.Context, job Job) (wait func() error, err error) {
	t, err := d.send(ctx, task{job: job})
	if err != nil {
		return nil, err
	}
	return func() error { return d.wait(t, nil) }, nil
}

// Ordinal returns the device's number, as the driver counts.
func (d *Device) Ordinal() int { return d.options.Ordinal }

// Streams returns how many jobs are under way at a time.
func (d *Device) Streams() int { return d.options.Streams }

// tasks are kept from use to use, with their channels.
var tasks = sync.Pool{New: func() any { return &task{done: make(chan error, 1)} }}

// send hands a task to the owner.
func (d *Device) send(ctx context.Context, what task) (*task, error) {
	if _, err := d.Open(ctx); err != nil {
		return nil, err
	}
	t := tasks.Get().(*task)
	t.ctx, t.job, t.do = ctx, what.job, what.do
	select {
	case d.work <- t:
		return t, nil
	case <-ctx.Done():
		t.free()
		return nil, ctx.Err()
	case <-d.ended:
		t.free()
		return nil, d.Err()
	case <-d.gaveUp:
		t.free()
		return nil, d.fault.Load()
	}
}

func (t *task) free() {
	t.ctx, t.job, t.do, t.stream = nil, nil, nil, nil
	tasks.Put(t)
}

// wait returns the owner's answer to a task that was sent, or why it was not.
func (d *Device) wait(t *task, err error) error {
	if err != nil {
		return err
	}
	select {
	case err = <-t.done:
		t.free()
		return err
	case <-d.gaveUp: // the task stays with the owner, and so does its job: both may be written to yet
		return d.fault.Load()
	}
}

// Fail makes err the device's end, unless it has ended before. Engines call it when the device computes wrong. It
// returns why the device is dead.
func (d *Device) Fail(err error) *FaultError {
	fault := &FaultError{Ordinal: d.options.Ordinal, Err: err}
	if !d.fault.CompareAndSwap(nil, fault) {
		return d.fault.Load()
	}
	select {
	case <-d.opened:
		if e := d.engine; e != nil {
			e.Uploads.fail(fault)
			e.Downloads.fail(fault)
			e.Borrowed.fail(fault)
		}
	default: // nobody gets the engine any more
	}
	d.instruments.up.Set(0)
	d.options.Logger.Error("device failed, working on the CPU", "device", d.options.Ordinal, "error", err)
	return fault
}

// giveUp ends a device whose owner has waited for too long. All jobs end with a FaultError at once. Memory that the
// device may still write to is never used again: the owner's memory stays with it, and failed pools hand out none.
func (d *Device) giveUp() {
	d.giveUpOnce.Do(func() {
		d.Fail(ErrTimeout)
		d.instruments.failures.Inc()
		close(d.gaveUp)
	})
}

// beside makes calls of the driver for callers other than the owner, on a goroutine that may be left behind. It waits
// for the limit at most.
func (d *Device) beside(limit time.Duration, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(limit):
		d.giveUp()
	case <-d.gaveUp:
	}
	return d.fault.Load()
}

// Ready returns the engine of a device that is open and works, nil otherwise.
func (d *Device) Ready() *Engine {
	select {
	case <-d.opened:
	default:
		return nil
	}
	if d.Err() != nil {
		return nil
	}
	return d.engine
}

// Close waits for the jobs under way and gives everything back, unless the device was given up; pinned memory that
// somebody still has, as soon as that is released. It may be called more than once.
func (d *Device) Close() error {
	d.mu.Lock()
	first, owned := !d.closed, d.owned
	d.closed = true
	d.mu.Unlock()
	if first {
		close(d.closing)
	}
	if owned {
		select {
		case <-d.ended:
		case <-d.gaveUp:
		}
	}
	return nil
}
