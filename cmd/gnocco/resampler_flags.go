package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"

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
	flags.StringVar(&f.gpu, "gpu", "auto", "resample on CUDA devices: auto (if there are any, and for batches for which they are faster), off, on (always), or the number of the only one to use")
	f.devices.define(flags)
}

// resampler returns what makes the workers' resampler; nil for the CPU's. Devices stay open until the process ends.
func (f *resamplerFlags) resampler(ctx context.Context, logger *slog.Logger) (func(prometheus.Registerer) carbonara.Resampler, error) {
	only := -1
	switch f.gpu {
	case "off":
		return nil, nil
	case "auto", "on":
	default:
		var err error
		if only, err = strconv.Atoi(f.gpu); err != nil || only < 0 {
			return nil, fmt.Errorf("--gpu is %q, not auto, off, on or the number of a device", f.gpu)
		}
	}
	found, err := gpu.Find(f.devices.driver)
	switch {
	case err == nil && only >= len(found):
		return nil, fmt.Errorf("--gpu: there is no device %d among %d", only, len(found))
	case err == nil:
	case f.gpu != "auto":
		return nil, fmt.Errorf("--gpu: %w", err)
	case errors.Is(err, gpu.ErrUnavailable):
		logger.Debug("no CUDA device, resampling on the CPU", "err", err)
		return nil, nil
	default:
		logger.Warn("CUDA devices do not work, resampling on the CPU", "err", err)
		return nil, nil
	}
	return func(registerer prometheus.Registerer) carbonara.Resampler {
		var devices []*gpu.Device
		for _, properties := range found {
			if only >= 0 && properties.Ordinal != only {
				continue
			}
			device, err := gpu.NewDevice(gpu.Options{Ordinal: properties.Ordinal, Driver: f.devices.driver, Logger: logger, Registerer: registerer})
			if err != nil {
				panic(err) // the options are ours
			}
			devices = append(devices, device)
		}
		// Workers resample beside each other, on a goroutine each.
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
