package gpu

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// Device is a CUDA device and the goroutine that owns it. It is opened when it is first used. Its methods may be called from any
// goroutine, but not from within a job.
type Device struct {
	options Options
	metrics *metrics
	work    chan *task    // to the owner
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the owner has ended

	opened  chan struct{} // closed when opening has succeeded or not; engine and openErr are set
	engine  *Engine
	openErr error

	mu     sync.Mutex
	owned  bool // the owner was started
	closed bool
	fault  *FaultError // why the device is dead
}

// NewDevice checks options. Nothing is opened yet.
func NewDevice(options Options) (*Device, error) {
	if err := options.Validate(); err != nil {
		return nil, err
	}
	options.EnsureDefaults()
	return &Device{
		options: options, metrics: newMetrics(options.Registerer, options.Ordinal), work: make(chan *task),
		closing: make(chan struct{}), ended: make(chan struct{}), opened: make(chan struct{}),
	}, nil
}

// Open opens the device, which takes up to half a second, or says why it is not open: ErrUnavailable for good where there is none, a
// FaultError after a fault, ErrClosed after Close.
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
		return d.engine, d.openErr
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Err returns why the device can be used no more, nil while it can or was not tried.
func (d *Device) Err() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.reason()
}

// reason is called with mu held.
func (d *Device) reason() error {
	switch {
	case d.closed:
		return ErrClosed
	case d.fault != nil:
		return d.fault
	}
	select {
	case <-d.opened:
		return d.openErr
	default:
		return nil
	}
}

// Do calls f on the owner's goroutine, between jobs: for what takes no lane, such as loading modules.
func (d *Device) Do(ctx context.Context, f func(*Engine) error) error {
	return d.wait(d.send(ctx, task{do: f}))
}

// Run does a job and returns its error. Once it was started, it is waited for, whatever becomes of ctx.
func (d *Device) Run(ctx context.Context, job Job) error {
	return d.wait(d.send(ctx, task{job: job}))
}

// RunAll does jobs in their order, as many beside each other as there are lanes and one more waiting: the pieces of a batch that
// is larger than the memory. The next job is asked for only when one has ended, none after an error, and the first error is what
// comes back.
func (d *Device) RunAll(ctx context.Context, jobs iter.Seq[Job]) error {
	var pending []*task
	var failure error
	end := func() {
		if err := d.wait(pending[0], nil); failure == nil {
			failure = err
		}
		pending = slices.Delete(pending, 0, 1)
	}
	for job := range jobs {
		t, err := d.send(ctx, task{job: job})
		if err != nil {
			failure = err
			break
		}
		if pending = append(pending, t); len(pending) > d.options.Lanes {
			end()
		}
		if failure != nil {
			break
		}
	}
	for len(pending) > 0 {
		end()
	}
	return failure
}

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
	}
}

func (t *task) free() {
	t.ctx, t.job, t.do, t.lane = nil, nil, nil, nil
	tasks.Put(t)
}

// wait returns the owner's answer to a task that was sent, or why it was not.
func (d *Device) wait(t *task, err error) error {
	if err != nil {
		return err
	}
	err = <-t.done
	t.free()
	return err
}

// ready returns what an open device has, nil unless it is open and works.
func (d *Device) ready() *Engine {
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

// Close waits for the jobs under way and gives everything back; pinned memory that somebody still has, as soon as that is released.
// It may be called more than once.
func (d *Device) Close() error {
	d.mu.Lock()
	first, owned := !d.closed, d.owned
	d.closed = true
	d.mu.Unlock()
	if first {
		close(d.closing)
	}
	if owned {
		<-d.ended
	}
	return nil
}
