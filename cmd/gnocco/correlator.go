package main

import (
	"io"
	"log/slog"

	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/internal/devices"
)

// engine returns what correlates the file.
func (flags *correlateFlags) engine(name string, stderr io.Writer) (correlate.Engine, error) {
	switch {
	case flags.method == "spearman":
		return correlate.Spearman{}, nil
	case name == "-":
		return correlate.CPU{}, nil
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if _, err := devices.ParseChoice(flags.gpu); err != nil {
		return nil, err
	}
	options := gpucorrelate.Options{Workers: flags.options.Workers, Logger: logger}
	return devices.NewCorrelator(flags.gpu, flags.devices.Driver, options), nil
}
