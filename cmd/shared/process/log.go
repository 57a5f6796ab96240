package process

import (
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"

	"github.com/spf13/pflag"
)

// LogFlags are the flags that say what is logged.
type LogFlags struct{ Level, Format, File string }

// Define defines the flags.
func (f *LogFlags) Define(flags *pflag.FlagSet) {
	flags.StringVar(&f.Level, "log-level", "info", "lowest level that is logged: debug, info, warn or error")
	flags.StringVar(&f.Format, "log-format", "text", "format of log lines: text or json")
	flags.StringVar(&f.File, "log-file", "",
		"log file, reopened after it is renamed or removed (default: stderr)")
}

// Logger returns one that writes to w, unless a file is named.
func (f *LogFlags) Logger(w io.Writer) (*slog.Logger, error) {
	if f.File != "" {
		file := &logFile{path: f.File}
		if err := file.open(); err != nil {
			return nil, fmt.Errorf("--log-file: %w", err)
		}
		w = file
	}
	var level slog.Level
	if err := level.UnmarshalText([]byte(f.Level)); err != nil {
		return nil, fmt.Errorf("--log-level: %q is none of debug, info, warn and error", f.Level)
	}
	options := &slog.HandlerOptions{Level: level}
	switch f.Format {
	case "text":
		return slog.New(slog.NewTextHandler(w, options)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, options)), nil
	}
	return nil, fmt.Errorf("--log-format: %q is neither text nor json", f.Format)
}

// logFile is a file to log to. Programs that rotate logs rename or remove it: the next line then goes to a new file of
// that name.
type logFile struct {
	path string

	mu   sync.Mutex
	file *os.File
}

func (l *logFile) open() error {
	file, err := os.OpenFile(l.path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o640)
	if err != nil {
		return err
	}
	if l.file != nil {
		_ = l.file.Close() // each line was written
	}
	l.file = file
	return nil
}

func (l *logFile) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.isCurrent() {
		_ = l.open() // without a new one the old one is written on
	}
	return l.file.Write(line)
}

// isCurrent reports whether the path still leads to the open file.
func (l *logFile) isCurrent() bool {
	named, err := os.Stat(l.path)
	if err != nil {
		return false
	}
	opened, err := l.file.Stat()
	return err == nil && os.SameFile(named, opened)
}
