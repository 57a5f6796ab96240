package main

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/spf13/pflag"
)

// logFlags are the flags that say what is logged.
type logFlags struct{ level, format, file string }

func (f *logFlags) define(flags *pflag.FlagSet) {
	flags.StringVar(&f.level, "log-level", "info", "lowest level that is logged: debug, info, warn or error")
	flags.StringVar(&f.format, "log-format", "text", "format of log lines: text or json")
	flags.StringVar(&f.file, "log-file", "",
		"log file, reopened after it is renamed or removed (default: stderr)")
}

// logger returns one that writes to w, unless a file is named.
func (f *logFlags) logger(w io.Writer) (*slog.Logger, error) {
	if f.file != "" {
		file := &logFile{path: f.file}
		if err := file.open(); err != nil {
			return nil, fmt.Errorf("--log-file: %w", err)
		}
		w = file
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.level)); err != nil {
		return nil, fmt.Errorf("--log-level: %q is none of debug, info, warn and error", f.level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("--log-format: %q is neither text nor json", f.format)
}
