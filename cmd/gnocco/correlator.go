package main

import (
	"context"
	"io"
	"log/slog"

	"gnocco/correlate"
	"gnocco/gpu"
)

// correlator is the engine for correlations that --gpu means. Devices are looked for when there is work for which they are worth it,
// and given back with all their memory at its end: others may need it.
type correlator struct {
	choice, driver string
	options        gpu.CorrelatorOptions
}

func newCorrelator(choice, driver string, workers int, logger *slog.Logger) *correlator {
	return &correlator{choice: choice, driver: driver,
		options: gpu.CorrelatorOptions{Workers: workers, Always: choice == "on", Logger: logger}}
}

// Correlate implements correlate.Engine.
func (c *correlator) Correlate(ctx context.Context, source correlate.Source, options correlate.Options, selection correlate.Selection,
	each func(correlate.Pair) error) (correlate.Result, error) {
	if c.choice == "off" || !c.options.Wants(source, &options) {
		return correlate.CPU{}.Correlate(ctx, source, options, selection, each)
	}
	found, err := chooseDevices(c.choice, c.driver, c.options.Logger)
	if err != nil {
		return correlate.Result{}, err
	}
	var devices []*gpu.Device
	for _, properties := range found {
		device, err := gpu.NewDevice(gpu.Options{Ordinal: properties.Ordinal, Driver: c.driver, Logger: c.options.Logger})
		if err != nil {
			panic(err) // the options are ours
		}
		defer device.Close()
		devices = append(devices, device)
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
	return newCorrelator(flags.gpu, flags.devices.driver, flags.options.Workers, logger), nil
}
