package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/internal/fulldisk"
)

// fullDiskPause is how long a flush that found the disk full, or met corrupt bytes, waits before Pebble tries again.
// Pebble itself does not wait: it was seen to try 10,000 times a second.
const fullDiskPause = 200 * time.Millisecond

// eventListener logs Pebble's reports about the store in dir, and ends the process where the store is lost.
type eventListener struct {
	dir    string
	logger *slog.Logger
	tell   func(error)
	failed sync.Once

	corrupt   func(error) // may be nil
	corrupted sync.Once
	told      sync.Map // texts of corruption that were logged
}

// listener reports only events that an operator acts upon. Its functions may be called with Pebble's locks held.
func (w *eventListener) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: w.backgroundError,
		DataCorruption:  func(info pebble.DataCorruptionInfo) { w.logCorruption(info.Details, "path", info.Path) },
		FlushEnd: func(info pebble.FlushInfo) {
			if pebble.IsCorruptionError(info.Err) && w.corrupt != nil {
				w.corrupted.Do(func() { w.corrupt(fmt.Errorf("store %s: flush: %w", w.dir, info.Err)) })
			}
		},
		DiskSlow: func(info pebble.DiskSlowInfo) {
			w.logger.Warn("disk is slow", "path", info.Path, "duration", info.Duration)
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			w.logger.Warn("store accepts no writes", "dir", w.dir, "reason", info.Reason)
		},
		WriteStallEnd: func() { w.logger.Info("store accepts writes again", "dir", w.dir) },
	}
}

func (w *eventListener) backgroundError(err error) {
	switch {
	case errors.Is(err, pebble.ErrCancelledCompaction): // a flush beside an excise: Pebble flushes again
	case fulldisk.Is(err):
		w.logger.Error("disk is full", "dir", w.dir, "error", err)
		// Commits that find room in the memtable go on; readers don't need the lock that is held here.
		time.Sleep(fullDiskPause)
	case pebble.IsCorruptionError(err):
		// The bytes stay where they are. The rest is still read; DataCorruption names the file. A flush also goes to
		// FlushEnd.
		w.logCorruption(err)
		time.Sleep(fullDiskPause)
	default:
		w.fail(err)
	}
}

// logCorruption logs an error once, however often Pebble meets it.
func (w *eventListener) logCorruption(err error, args ...any) {
	if _, told := w.told.LoadOrStore(err.Error(), true); !told {
		w.logger.Error("store is corrupt", append(args, "dir", w.dir, "error", err)...)
	}
}

// fail reports that the store can't be used any more. It returns only if Options.Fail does.
func (w *eventListener) fail(err error) {
	w.failed.Do(func() { w.tell(fmt.Errorf("store %s: %w", w.dir, err)) })
}

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
