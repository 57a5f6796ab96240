package devices

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
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
func (r *Resampler) Accelerates(plan *carbonara.Plan, measures, groups, cores int) bool {
	d := r.devices.Load()
	return d != nil && d.Accelerates(plan, measures, groups, cores)
}

// Allocate implements carbonara.Allocator.
func (r *Resampler) Allocate(measures int) carbonara.Columns {
	if d := r.devices.Load(); d != nil {
		return d.Allocate(measures)
	}
	return carbonara.Columns{}
}

// Correlator is the engine for correlations that --gpu means. Devices are looked for when there is work for which they
// are worth it, and given back with all their memory at its end: others may need it.
type Correlator struct {
	choice, driver string
	options        gpucorrelate.Options
	dead           sync.Map // by ordinal, devices that failed
}

// NewCorrelator returns the engine that a value of --gpu means.
func NewCorrelator(choice, driver string, options gpucorrelate.Options) *Correlator {
	options.Always = choice == "on"
	options.EnsureDefaults()
	return &Correlator{choice: choice, driver: driver, options: options}
}

// Correlate implements correlate.Engine.
func (c *Correlator) Correlate(ctx context.Context, source correlate.Source, options correlate.Options,
	selection correlate.Selection, each func(correlate.Pair) error) (correlate.Result, error) {
	var opened []*device.Device
	if c.choice != "off" && c.options.Wants(source, &options) {
		found, err := Choose(c.choice, c.driver, c.options.Logger)
		if err != nil {
			return correlate.Result{}, err
		}
		found = slices.DeleteFunc(found, c.failed)
		found = found[:c.options.Choose(source, &options, found)]
		opening := device.Options{Driver: c.driver, Logger: c.options.Logger, Registerer: c.options.Registerer}
		opened = Open(found, opening, "correlations")
	}
	for _, dev := range opened {
		defer dev.Close()
		defer c.note(dev)
	}
	return gpucorrelate.New(opened, c.options).Correlate(ctx, source, options, selection, each)
}

// note remembers a device that failed: in this process it does not work again, and finding that out may take seconds.
func (c *Correlator) note(dev *device.Device) {
	if fault, ok := errors.AsType[*device.FaultError](dev.Err()); ok {
		c.dead.Store(fault.Ordinal, nil)
	}
}

func (c *Correlator) failed(p device.Properties) bool {
	_, dead := c.dead.Load(p.Ordinal)
	return dead
}
