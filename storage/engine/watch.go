package engine

import (
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2"
)

// fullDiskPause is how long a flush that found the disk full waits before Pebble tries again. Pebble itself does not
// wait: it was seen to try 10,000 times a second.
const fullDiskPause = 200 * time.Millisecond

// watch takes what Pebble reports about the store in dir.
type watch struct {
	dir    string
	logger *slog.Logger
	tell   func(error)
	failed sync.Once
}

// listener keeps to what an operator acts upon. Its functions may be called with Pebble's locks held.
func (w *watch) listener() *pebble.EventListener {
	return &pebble.EventListener{
		BackgroundError: w.backgroundError,
		DataCorruption: func(info pebble.DataCorruptionInfo) {
			w.logger.Error("store is corrupt", "dir", w.dir, "path", info.Path, "error", info.Details)
		},
		DiskSlow: func(info pebble.DiskSlowInfo) {
			w.logger.Warn("disk is slow", "path", info.Path, "duration", info.Duration)
		},
		LowDiskSpace: func(info pebble.LowDiskSpaceInfo) {
			w.logger.Warn("disk is nearly full", "dir", w.dir, "availableBytes", info.AvailBytes, "totalBytes", info.TotalBytes)
		},
		WriteStallBegin: func(info pebble.WriteStallBeginInfo) {
			w.logger.Warn("store accepts no writes", "dir", w.dir, "reason", info.Reason)
		},
		WriteStallEnd: func() { w.logger.Info("store accepts writes again", "dir", w.dir) },
	}
}

func (w *watch) backgroundError(err error) {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		w.logger.Error("disk is full", "dir", w.dir, "error", err)
		// Commits that find room in the memtable go on; readers don't need the lock that is held here.
		time.Sleep(fullDiskPause)
	case pebble.IsCorruptionError(err):
		// The bytes stay where they are. What can be read still is read; DataCorruption names the file.
		w.logger.Error("store is corrupt", "dir", w.dir, "error", err)
	default:
		w.fail(err)
	}
}

// fail says that the store can't be used any more. It returns only if Options.Fail does.
func (w *watch) fail(err error) {
	w.failed.Do(func() { w.tell(fmt.Errorf("store %s: %w", w.dir, err)) })
}
