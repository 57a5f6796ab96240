package main

import (
	"io"
	"log/slog"

	"github.com/gnocco-db/gnocco/cmd/shared/devices"
	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
)

// engine returns what correlates the file.
func (f *flags) engine(name string, stderr io.Writer) (correlate.Engine, error) {
	switch {
	case f.method == "spearman":
		return correlate.Spearman{}, nil
	case name == "-":
		return correlate.CPU{}, nil
	}
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	if _, err := devices.ParseChoice(f.gpu); err != nil {
		return nil, err
	}
	options := gpucorrelate.Options{Workers: f.options.Workers, Logger: logger}
	return devices.NewCorrelator(f.gpu, f.devices.Driver, options), nil
}
