package device

import (
	"errors"
	"fmt"

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
