package device

import (
	"errors"
	"runtime"
	"slices"
	"time"
)

// owner is the goroutine that a device belongs to, and its thread.
type owner struct {
	*Device
	idle   []*Stream
	flight []*task // under way, the oldest first
	timer  *time.Timer
	watch  *time.Timer // gives the device up
}

// Waiting for the device: a small batch takes some 10 µs, which no timer can tell.
const (
	spinFor    = 200 * time.Microsecond
	pollPeriod = 50 * time.Microsecond
)

// own opens the device, does what is sent, and closes it. The thread has a context that nobody else may meet: it ends
// with it.
func (d *Device) own() {
	runtime.LockOSThread()
	defer close(d.ended)
	watch := time.AfterFunc(d.options.OpenTimeout, d.giveUp)
	defer watch.Stop()
	engine, err := openEngine(d)
	d.engine, d.openErr = engine, err
	close(d.opened)
	if d.fault.Load() != nil {
		return
	}
	watch.Stop()
	if err != nil {
		d.options.Logger.Info("no device, working on the CPU", "device", d.options.Ordinal, "error", err)
		return
	}
	d.instruments.up.Set(1)
	d.options.Logger.Info("device opened", "device", d.options.Ordinal, "properties", engine.Properties.String(),
		"memory_bytes", engine.Memory.Budget())
	o := &owner{Device: d, idle: slices.Clone(engine.streams), timer: time.NewTimer(time.Hour), watch: watch}
	o.loop()
	d.instruments.up.Set(0)
	if d.fault.Load() == nil { // of a dead device nothing can be given back
		watch.Reset(d.options.OpenTimeout)
		if err := engine.close(); err != nil {
			d.options.Logger.Warn("closing the device", "device", d.options.Ordinal, "error", err)
		}
	}
}

// loop accepts tasks as long as streams are idle, and ends them in their order.
func (o *owner) loop() {
	for !o.left() {
		switch {
		case len(o.flight) == 0:
			select {
			case t := <-o.work:
				o.accept(t)
			case <-o.closing:
				return
			}
		case len(o.idle) == 0:
			o.finish(o.flight[0].stream.done.Synchronize())
		default:
			o.acceptOrFinish()
		}
	}
}

// acceptOrFinish waits for the next task, or the end of the oldest job's work, the earlier of the two.
func (o *owner) acceptOrFinish() {
	for start := time.Now(); !o.left(); {
		select {
		case t := <-o.work:
			o.accept(t)
			return
		default:
		}
		if done, err := o.flight[0].stream.finished(); done || err != nil {
			o.finish(err)
			return
		}
		if time.Since(start) < spinFor {
			runtime.Gosched()
			continue
		}
		o.timer.Reset(pollPeriod)
		select {
		case t := <-o.work:
			o.accept(t)
			return
		case <-o.timer.C:
		}
	}
}

// left reports whether the device was given up while the owner was in the driver. No caller waits for the owner any
// more.
func (o *owner) left() bool {
	select {
	case <-o.gaveUp:
		return true
	default:
		return false
	}
}

// rewatch gives the oldest job its time, once the one before it has ended.
func (o *owner) rewatch() {
	if len(o.flight) == 0 {
		o.watch.Stop()
		return
	}
	o.watch.Reset(o.limit(o.flight[0]))
}

// limit is how long a task may take: longer if its job says so.
func (o *owner) limit(t *task) time.Duration {
	if t.do != nil {
		return max(o.options.OpenTimeout, o.options.JobTimeout)
	}
	if long, ok := t.job.(longJob); ok {
		return o.options.JobTimeout + long.ExtraTime()
	}
	return o.options.JobTimeout
}

// accept starts a task; a stream is idle.
func (o *owner) accept(t *task) {
	if fault := o.fault.Load(); fault != nil {
		o.answer(t, fault)
		return
	}
	if err := t.ctx.Err(); err != nil {
		o.answer(t, err)
		return
	}
	if t.do != nil {
		o.watch.Reset(o.limit(t))
		err := o.note(Guarded(func() error { return t.do(o.engine) }))
		o.rewatch()
		o.answer(t, err)
		return
	}
	if len(o.flight) == 0 {
		o.watch.Reset(o.limit(t))
		defer func() {
			if len(o.flight) == 0 {
				o.watch.Stop()
			}
		}()
	}
	t.stream = o.idle[len(o.idle)-1]
	o.idle = o.idle[:len(o.idle)-1]
	t.started = time.Now()
	for { // until there is memory for it, or no other job that will give any back
		err := Guarded(func() error { return t.job.Start(o.engine, t.stream) })
		if o.left() {
			return
		}
		if err == nil {
			err = t.stream.seal()
		}
		if err == nil {
			o.flight = append(o.flight, t)
			return
		}
		if !lost(err) {
			err = errors.Join(err, t.stream.drain()) // what was queued may still use what it holds
		}
		if lost(err) || !errors.Is(err, ErrMemory) || len(o.flight) == 0 {
			o.end(t, o.note(err))
			return
		}
		t.stream.release()
		o.finish(o.flight[0].stream.done.Synchronize())
		if o.left() {
			return
		}
		if fault := o.fault.Load(); fault != nil {
			o.end(t, fault)
			return
		}
	}
}

// finish goes on with the oldest job, whose work is done, or failed with err.
func (o *owner) finish(err error) {
	if o.left() {
		return
	}
	defer o.rewatch()
	t := o.flight[0]
	o.flight = slices.Delete(o.flight, 0, 1)
	more := false
	if err == nil {
		err = Guarded(func() (err error) {
			more, err = t.job.Finish(o.engine, t.stream)
			return err
		})
	}
	if err == nil && more {
		err = t.stream.seal()
	}
	switch {
	case err == nil && more:
		o.flight = append(o.flight, t)
		return
	case err == nil:
		o.instruments.jobs.Inc()
		o.instruments.jobSeconds.Observe(time.Since(t.started).Seconds())
	case !lost(err):
		err = errors.Join(err, t.stream.drain())
	}
	o.end(t, o.note(err))
}

// end gives back what a task had and answers it.
func (o *owner) end(t *task, err error) {
	t.stream.release()
	o.idle = append(o.idle, t.stream)
	if err != nil {
		o.instruments.failures.Inc()
	}
	o.answer(t, err)
	fault := o.fault.Load()
	if fault == nil {
		return
	}
	for _, other := range o.flight { // all is lost with the device
		other.stream.release()
		o.idle = append(o.idle, other.stream)
		o.instruments.failures.Inc()
		o.answer(other, fault)
	}
	o.flight = o.flight[:0]
}

// answer is the last that is done with a task.
func (o *owner) answer(t *task, err error) { t.done <- err }

// note returns err, or the fault that it is. A fault is the device's end.
func (o *owner) note(err error) error {
	if err == nil || !lost(err) {
		return err
	}
	return o.Fail(err)
}
