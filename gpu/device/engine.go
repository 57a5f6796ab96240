package device

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Engine is what an open device has. Uploads, Downloads and Properties are for everybody, the rest for the owner.
type Engine struct {
	Properties Properties
	Memory     *Pool
	Uploads    *PinnedPool // written by the host, past its caches
	Downloads  *PinnedPool // read by the host
	Borrowed   *PinnedPool // both: columns of batches, and groups of results for as long as these keep them

	device  cu.Device
	context cu.CUContext // retained, and current on the owner's thread
	streams []*Stream
	modules []cu.Module
}

// openEngine opens a device on the calling thread, which its goroutine is bound to.
func openEngine(d *Device) (_ *Engine, err error) {
	options, m := &d.options, d.instruments
	if err := cu.Open(cu.Options{Library: options.Driver}); err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	device, properties, err := find(options.Ordinal)
	if err != nil {
		return nil, err
	}
	e := &Engine{Properties: properties, device: device}
	if e.context, err = device.RetainPrimaryCtx(); err != nil {
		return nil, fmt.Errorf("gpu: device %d: %w", options.Ordinal, err)
	}
	defer func() {
		if err != nil {
			_ = e.close() // err says more
		}
	}()
	if err := cu.SetCurrentContext(e.context); err != nil {
		return nil, fmt.Errorf("gpu: device %d: %w", options.Ordinal, err)
	}
	free, _, err := cu.MemInfo()
	if err != nil {
		return nil, fmt.Errorf("gpu: device %d: %w", options.Ordinal, err)
	}
	budget := free / 10 * 9
	if options.MemoryBytes > 0 {
		budget = min(budget, options.MemoryBytes)
	}
	e.Memory = newPool(budget, m)
	for _, pool := range []struct {
		pool  **PinnedPool
		flags cu.HostAllocFlags
		gauge prometheus.Gauge
	}{
		{&e.Uploads, cu.HostAllocWriteCombined, m.pinnedUpload},
		{&e.Downloads, 0, m.pinnedDownload},
		{&e.Borrowed, 0, m.pinnedBorrowed},
	} {
		if *pool.pool, err = newPinnedPool(d, device, pool.flags, pool.gauge); err != nil {
			return nil, err
		}
	}
	for range options.Streams {
		stream, err := newStream(m)
		if err != nil {
			return nil, err
		}
		e.streams = append(e.streams, stream)
	}
	return e, nil
}

// Load loads a module for as long as the device is open.
func (e *Engine) Load(image []byte) (cu.Module, error) {
	module, err := cu.LoadData(image)
	if err != nil {
		return module, fmt.Errorf("gpu: %w", err)
	}
	e.modules = append(e.modules, module)
	return module, nil
}

// close ends all that the engine has. No work is under way.
func (e *Engine) close() error {
	var errs []error
	for _, stream := range e.streams {
		errs = append(errs, stream.close())
	}
	if e.Memory != nil {
		errs = append(errs, e.Memory.close())
	}
	for _, pool := range []*PinnedPool{e.Uploads, e.Downloads, e.Borrowed} {
		if pool != nil {
			errs = append(errs, pool.close())
		}
	}
	for _, module := range e.modules {
		errs = append(errs, module.Unload())
	}
	errs = append(errs, cu.SetCurrentContext(cu.CUContext{}), e.device.ReleasePrimaryCtx())
	return errors.Join(errs...)
}

// Job is work for a device, done on one stream. Both methods are called by the owner, one job's at a time: they queue
// and return. Long work of the host (packing, unpacking) belongs before Run and after it.
type Job interface {
	// Start takes memory and queues uploads, kernels and downloads on the stream. The stream releases memory that Start
	// hands to stream.Hold. After ErrMemory all that it held is released, and it is called again once other jobs gave
	// back theirs.
	Start(e *Engine, stream *Stream) error

	// Finish is called when all that was queued is done. It may queue more work that depends on the results so far, and
	// returns true to be called again. ErrMemory from here is the job's error.
	Finish(e *Engine, stream *Stream) (more bool, err error)
}

// longJob is a job that may take longer than the device's JobTimeout.
type longJob interface {
	Job
	ExtraTime() time.Duration // on top of JobTimeout
}

// task is a job, or a function, on its way through the owner.
type task struct {
	ctx    context.Context // of the caller; kept for as long as the caller waits
	job    Job
	do     func(*Engine) error // in place of job: no stream
	stream *Stream
	done   chan error // holds one; the owner answers every task once

	started time.Time // on its stream
}
