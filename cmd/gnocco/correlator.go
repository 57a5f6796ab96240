package main

import (
	"context"
	"io"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/correlate"
	"gnocco/gpu"
)

// correlator is the engine for correlations that --gpu means. Devices are looked for when there is work for which they are worth it,
// and given back with all their memory at its end: others may need it.
type correlator struct {
	choice, driver string
	options        gpu.CorrelatorOptions
}

func newCorrelator(choice, driver string, workers int, logger *slog.Logger, registerer prometheus.Registerer) *correlator {
	return &correlator{choice: choice, driver: driver,
		options: gpu.CorrelatorOptions{Workers: workers, Always: choice == "on", Logger: logger, Registerer: registerer}}
}

// Correlate implements correlate.Engine.
func (c *correlator) Correlate(ctx context.Context, source correlate.Source, options correlate.Options, selection correlate.Selection,
	each func(correlate.Pair) error) (correlate.Result, error) {
	var devices []*gpu.Device
	if c.choice != "off" && c.options.Wants(source, &options) {
		found, err := chooseDevices(c.choice, c.driver, c.options.Logger)
		if err != nil {
			return correlate.Result{}, err
		}
		devices = newDevices(found, gpu.Options{Driver: c.driver, Logger: c.options.Logger, Registerer: c.options.Registerer}, "correlations")
	}
	for _, device := range devices {
		defer device.Close()
	}
	return gpu.NewCorrelator(devices, c.options).Correlate(ctx, source, options, selection, each)
}

// engine returns what correlates the file.
func (flags *correlateFlags) engine(name string, stderr io.Writer) (correlate.Engine, error) {
	switch {
	case flags.method == "spearman":
		return correlate.Spearman{}, nil
	case name == "-":
		return correlate.CPU{}, nil
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if _, err := parseDeviceChoice(flags.gpu); err != nil {
		return nil, err
	}
	return newCorrelator(flags.gpu, flags.devices.driver, flags.options.Workers, logger, nil), nil
}
