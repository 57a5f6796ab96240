package gpu

import (
	"errors"
	"runtime"
	"slices"
	"time"
)

// owner is the goroutine that a device belongs to, and its thread.
type owner struct {
	*Device
	idle   []*Lane
	flight []*task // under way, the oldest first
	timer  *time.Timer
}

// Waiting for the device: a small batch takes some 10 µs, which no timer can tell.
const (
	spinFor    = 200 * time.Microsecond
	pollPeriod = 50 * time.Microsecond
)

// own opens the device, does what is sent, and closes it. The thread has a context that nobody else may meet: it ends with it.
func (d *Device) own() {
	runtime.LockOSThread()
	defer close(d.ended)
	engine, err := openEngine(&d.options, d.metrics)
	d.engine, d.openErr = engine, err
	close(d.opened)
	if err != nil {
		d.options.Logger.Info("no device, working on the CPU", "device", d.options.Ordinal, "err", err)
		return
	}
	d.metrics.up.Set(1)
	d.options.Logger.Info("device opened", "device", d.options.Ordinal, "properties", engine.Properties.String(),
		"memory_bytes", engine.Memory.Budget())
	o := &owner{Device: d, idle: slices.Clone(engine.lanes), timer: time.NewTimer(time.Hour)}
	o.loop()
	d.metrics.up.Set(0)
	if d.fault == nil { // of a dead device nothing can be given back
		if err := engine.close(); err != nil {
			d.options.Logger.Warn("closing the device", "device", d.options.Ordinal, "err", err)
		}
	}
}

// loop takes tasks as long as lanes are idle, and ends them in their order.
func (o *owner) loop() {
	for {
		switch {
		case len(o.flight) == 0:
			select {
			case t := <-o.work:
				o.take(t)
			case <-o.closing:
				return
			}
		case len(o.idle) == 0:
			o.finish(o.flight[0].lane.done.Synchronize())
		default:
			o.takeOrFinish()
		}
	}
}

// takeOrFinish waits for the next task, or the end of the oldest job's work, whichever is first.
func (o *owner) takeOrFinish() {
	for start := time.Now(); ; {
		select {
		case t := <-o.work:
			o.take(t)
			return
		default:
		}
		if done, err := o.flight[0].lane.finished(); done || err != nil {
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
			o.take(t)
			return
		case <-o.timer.C:
		}
	}
}

// take starts a task; a lane is idle.
func (o *owner) take(t *task) {
	if o.fault != nil {
		o.answer(t, o.fault)
		return
	}
	if err := t.ctx.Err(); err != nil {
		o.answer(t, err)
		return
	}
	if t.do != nil {
		o.answer(t, o.note(t.do(o.engine)))
		return
	}
	t.lane = o.idle[len(o.idle)-1]
	o.idle = o.idle[:len(o.idle)-1]
	t.started = time.Now()
	for { // until there is memory for it, or no other job that will give any back
		err := t.job.Start(o.engine, t.lane)
		if err == nil {
			err = t.lane.seal()
		}
		if err == nil {
			o.flight = append(o.flight, t)
			return
		}
		if !lost(err) {
			err = errors.Join(err, t.lane.drain()) // what was queued may still use what it holds
		}
		if lost(err) || !errors.Is(err, ErrMemory) || len(o.flight) == 0 {
			o.end(t, o.note(err))
			return
		}
		t.lane.release()
		o.finish(o.flight[0].lane.done.Synchronize())
		if o.fault != nil {
			o.end(t, o.fault)
			return
		}
	}
}

// finish goes on with the oldest job, whose work is done, or failed with err.
func (o *owner) finish(err error) {
	t := o.flight[0]
	o.flight = slices.Delete(o.flight, 0, 1)
	more := false
	if err == nil {
		more, err = t.job.Finish(o.engine, t.lane)
	}
	if err == nil && more {
		err = t.lane.seal()
	}
	switch {
	case err == nil && more:
		o.flight = append(o.flight, t)
		return
	case err == nil:
		o.metrics.jobs.Inc()
		o.metrics.jobSeconds.Observe(time.Since(t.started).Seconds())
	case !lost(err):
		err = errors.Join(err, t.lane.drain())
	}
	o.end(t, o.note(err))
}

// end gives back what a task had and answers it.
func (o *owner) end(t *task, err error) {
	t.lane.release()
	o.idle = append(o.idle, t.lane)
	if err != nil {
		o.metrics.failures.Inc()
	}
	o.answer(t, err)
	if o.fault == nil {
		return
	}
	for _, other := range o.flight { // all is lost with the device
		other.lane.release()
		o.idle = append(o.idle, other.lane)
		o.metrics.failures.Inc()
		o.answer(other, o.fault)
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
	if o.fault != nil {
		return o.fault
	}
	fault := &FaultError{Ordinal: o.options.Ordinal, Err: err}
	o.mu.Lock()
	o.fault = fault
	o.mu.Unlock()
	o.engine.Uploads.fail(fault)
	o.engine.Downloads.fail(fault)
	o.engine.Lent.fail(fault)
	o.metrics.up.Set(0)
	o.options.Logger.Error("device failed, working on the CPU", "device", o.options.Ordinal, "err", err)
	return fault
}
