package main

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/internal/devices"
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

// resampler returns the constructor of a process's resampler; nil for the CPU's, as is what it may return. Devices stay
// open until the process ends. Their pinned memory is part of the process's, a sixteenth at most.
func (f *resamplerFlags) resampler(ctx context.Context, memory int64, logger *slog.Logger) (
	func(prometheus.Registerer) carbonara.Resampler, error) {
	// Starting the driver takes 0.2 s, in which the process opens its stores.
	var found []device.Properties
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		found, err = devices.Choose(f.gpu, f.devices.Driver, logger)
	}()
	if f.gpu != "auto" {
		if <-done; err != nil || len(found) == 0 {
			return nil, err
		}
	}
	return func(registerer prometheus.Registerer) carbonara.Resampler {
		if <-done; len(found) == 0 {
			return nil
		}
		options := device.Options{Driver: f.devices.Driver, Logger: logger, Registerer: registerer}
		options.PinnedBytes = pinnedBytes(memory, len(found))
		opened := devices.Open(found, options, "resampling")
		// Workers and requests resample beside each other, on a goroutine each.
		r := resample.New(opened, resample.Options{Workers: 1, Always: f.gpu == "on", Logger: logger,
			Registerer: registerer})
		if f.gpu != "on" {
			go func() {
				if _, err := r.Calibrate(ctx); err != nil && ctx.Err() == nil {
					logger.Warn("resampling on the CPU", "error", err)
				}
			}()
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
