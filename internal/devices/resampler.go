package devices

import (
	"context"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/resample"
)

// Resampler is the CPU's until it gets one on devices: to find and open them takes a server longer than its stores do.
type Resampler struct {
	cpu     *carbonara.CPUResampler
	devices atomic.Pointer[resample.Resampler]
}

// NewResampler returns a resampler on the CPU.
func NewResampler() *Resampler { return &Resampler{cpu: carbonara.NewCPUResampler(1)} }

// Use makes it one on devices from now on.
func (r *Resampler) Use(devices *resample.Resampler) { r.devices.Store(devices) }

// Resample implements carbonara.Resampler.
func (r *Resampler) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	if d := r.devices.Load(); d != nil {
		return d.Resample(ctx, batch, result)
	}
	return r.cpu.Resample(ctx, batch, result)
}

// Accelerates implements carbonara.Accelerated.
func (r *Resampler) Accelerates(plan *carbonara.Plan, measures, groups int) bool {
	d := r.devices.Load()
	return d != nil && d.Accelerates(plan, measures, groups)
}

// Allocate implements carbonara.Allocator.
func (r *Resampler) Allocate(measures int) carbonara.Columns {
	if d := r.devices.Load(); d != nil {
		return d.Allocate(measures)
	}
	return carbonara.Columns{}
}
