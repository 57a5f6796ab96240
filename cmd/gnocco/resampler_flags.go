package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/shared/devices"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
)

// resamplerFlags say on what measures are resampled.
type resamplerFlags struct {
	gpu     string
	devices devices.Flags
}

func (f *resamplerFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.gpu, "gpu", "auto",
		"resample and correlate on CUDA devices: auto (where they are faster), off, on (always), or the number of "+
			"one device")
	f.devices.Define(flags)
}

// openAfter is how long devices wait after the start: a driver that opens takes cores from measures that waited for the
// process. By then millions of them are processed.
const openAfter = 3 * time.Second

// resampler returns the constructor of a process's resampler; nil for the CPU's. Devices stay open until the process
// ends. Their pinned memory is part of the process's, a sixteenth at most. With auto they are looked for after the
// start.
func (f *resamplerFlags) resampler(ctx context.Context, memory int64, logger *slog.Logger) (
	func(prometheus.Registerer) carbonara.Resampler, error) {
	onDevices := func(found []device.Properties, registerer prometheus.Registerer) *resample.Resampler {
		options := device.Options{Driver: f.devices.Driver, Logger: logger, Registerer: registerer}
		options.PinnedBytes = pinnedBytes(memory, len(found))
		// Workers and requests resample beside each other, on a goroutine each.
		return resample.New(devices.Open(found, options, "resampling"), resample.Options{Workers: 1,
			Always: f.gpu == "on", Logger: logger, Registerer: registerer})
	}
	calibrate := func(r *resample.Resampler) {
		if _, err := r.Calibrate(ctx); err != nil && ctx.Err() == nil {
			logger.Warn("resampling on the CPU", "error", err)
		}
	}
	if f.gpu == "auto" {
		return func(registerer prometheus.Registerer) carbonara.Resampler {
			r := devices.NewResampler()
			go func() {
				select {
				case <-time.After(openAfter):
				case <-ctx.Done():
					return
				}
				if found, _ := devices.Choose(f.gpu, f.devices.Driver, logger); len(found) > 0 {
					d := onDevices(found, registerer)
					calibrate(d)
					r.Use(d)
				}
			}()
			return r
		}, nil
	}
	found, err := devices.Choose(f.gpu, f.devices.Driver, logger)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return func(registerer prometheus.Registerer) carbonara.Resampler {
		r := onDevices(found, registerer)
		if f.gpu != "on" {
			go calibrate(r)
		}
		return r
	}, nil
}

// pinnedBytes is what each pool of pinned memory of so many devices may have of a process's memory.
func pinnedBytes(memory int64, devices int) int64 {
	var options device.Options
	options.EnsureDefaults()
	return min(options.PinnedBytes, memory/16/int64(devices*device.PinnedPools))
}
