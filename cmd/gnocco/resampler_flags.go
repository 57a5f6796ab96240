package main

import (
	"context"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/spf13/pflag"

	"gnocco/carbonara"
	"gnocco/gpu"
)

// resamplerFlags say on what measures are resampled.
type resamplerFlags struct {
	gpu     string
	devices gpuFlags
}

func (f *resamplerFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.gpu, "gpu", "auto", "resample and correlate on CUDA devices: auto (if there are any, and for work for which they are faster), off, on (always), or the number of the only one to use")
	f.devices.define(flags)
}

// resampler returns what makes the resampler of a process; nil for the CPU's. Devices stay open until the process ends.
func (f *resamplerFlags) resampler(ctx context.Context, logger *slog.Logger) (func(prometheus.Registerer) carbonara.Resampler, error) {
	found, err := chooseDevices(f.gpu, f.devices.driver, logger)
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return func(registerer prometheus.Registerer) carbonara.Resampler {
		devices := newDevices(found, gpu.Options{Driver: f.devices.driver, Logger: logger, Registerer: registerer}, "resampling")
		// Workers and requests resample beside each other, on a goroutine each.
		r := gpu.NewResampler(devices, gpu.ResamplerOptions{Workers: 1, Always: f.gpu == "on", Logger: logger, Registerer: registerer})
		if f.gpu != "on" {
			go func() {
				if _, err := r.Calibrate(ctx); err != nil && ctx.Err() == nil {
					logger.Warn("resampling on the CPU", "err", err)
				}
			}()
		}
		return r
	}, nil
}
