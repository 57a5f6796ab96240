package main

import (
	"context"
	"io"
	"log/slog"
	"sync"

	"gnocco/correlate"
	"gnocco/gpu"
)

// correlator is the engine for correlations that --gpu means. Devices are looked for when there is work for which they are worth it.
type correlator struct {
	choice, driver string
	options        gpu.CorrelatorOptions

	find    sync.Once
	devices []*gpu.Device
	engine  *gpu.Correlator
	err     error
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
	c.find.Do(c.open)
	if c.err != nil {
		return correlate.Result{}, c.err
	}
	return c.engine.Correlate(ctx, source, options, selection, each)
}

// open finds the devices. They are opened when they are first used.
func (c *correlator) open() {
	found, err := chooseDevices(c.choice, c.driver, c.options.Logger)
	c.err = err
	for _, properties := range found {
		device, err := gpu.NewDevice(gpu.Options{Ordinal: properties.Ordinal, Driver: c.driver, Logger: c.options.Logger})
		if err != nil {
			panic(err) // the options are ours
		}
		c.devices = append(c.devices, device)
	}
	c.engine = gpu.NewCorrelator(c.devices, c.options)
}

// close gives the devices back.
func (c *correlator) close() {
	for _, device := range c.devices {
		_ = device.Close() // always nil
	}
}

// engine returns what correlates the file, and what closes it.
func (flags *correlateFlags) engine(name string, stderr io.Writer) (correlate.Engine, func(), error) {
	switch {
	case flags.method == "spearman":
		return correlate.Spearman{}, func() {}, nil
	case name == "-":
		return correlate.CPU{}, func() {}, nil
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if _, err := parseDeviceChoice(flags.gpu); err != nil {
		return nil, nil, err
	}
	c := newCorrelator(flags.gpu, flags.devices.driver, flags.options.Workers, logger)
	return c, c.close, nil
}
