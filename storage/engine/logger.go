package engine

import (
	"fmt"
	"runtime"
)

// pebbleLogger takes Pebble's own log lines. Its Infof lines (every flush, every compaction) are for debugging.
type pebbleLogger struct{ *eventListener }

func (l pebbleLogger) Infof(format string, args ...any) {
	l.logger.Debug("pebble", "dir", l.dir, "text", fmt.Sprintf(format, args...))
}

func (l pebbleLogger) Errorf(format string, args ...any) {
	l.logger.Error("pebble", "dir", l.dir, "text", fmt.Sprintf(format, args...))
}

// Fatalf must not return: Pebble would go on as if the commit had succeeded.
func (l pebbleLogger) Fatalf(format string, args ...any) {
	l.fail(fmt.Errorf(format, args...))
	runtime.Goexit()
}
