package incoming

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// freeSpaceInterval is how long an answer about free space is believed.
const freeSpaceInterval = time.Second

// nearlyFull times the minimum is the free space below which a warning is logged, once until there is more again.
const nearlyFull = 4

// freeSpace refuses before the disk is full, for then Pebble would wait for space without an error.
type freeSpace struct {
	ask    func() (bytes uint64, err error)
	min    uint64
	logger *slog.Logger

	mu     sync.Mutex
	low    bool
	scarce bool // below nearlyFull times the minimum
	asked  time.Time
	asking chan struct{} // closed when the answer is there; nil while nobody asks
}

func newFreeSpace(dir string, options *Options) *freeSpace {
	f := &freeSpace{ask: options.FreeSpace, min: options.MinFreeBytes, logger: options.Logger}
	if f.ask == nil {
		f.ask = func() (uint64, error) {
			usage, err := options.FS.GetDiskUsage(dir)
			return usage.AvailBytes, err
		}
	}
	return f
}

// check returns ErrNoSpace below the minimum. The first caller to find the last answer too old asks again and waits,
// until ctx or timeout end: a disk that hangs must not hang the request. The others take the last answer.
func (f *freeSpace) check(ctx context.Context, timeout <-chan time.Time) error {
	f.mu.Lock()
	if f.asking == nil && time.Since(f.asked) >= freeSpaceInterval {
		answered := make(chan struct{})
		f.asking = answered
		f.mu.Unlock()
		go f.refresh()
		select {
		case <-answered:
		case <-ctx.Done():
			return ctx.Err()
		case <-timeout:
			return ErrTimeout
		}
		f.mu.Lock()
	}
	defer f.mu.Unlock()
	if f.low {
		return ErrNoSpace
	}
	return nil
}

func (f *freeSpace) refresh() {
	free, err := f.ask()
	if err != nil && !errors.Is(err, vfs.ErrUnsupported) {
		f.logger.Warn("free disk space is unknown", "error", err)
	}
	low, scarce := err == nil && free < f.min, err == nil && free/nearlyFull < f.min

	f.mu.Lock()
	changed, warn := low != f.low, scarce && !f.scarce
	f.low, f.scarce, f.asked = low, scarce, time.Now()
	close(f.asking)
	f.asking = nil
	f.mu.Unlock()
	switch {
	case changed && low:
		f.logger.Error("measures are refused, disk space is low", "free_bytes", free, "min_free_bytes", f.min)
	case changed:
		f.logger.Info("measures are accepted again", "free_bytes", free)
	case warn:
		f.logger.Warn("disk is nearly full", "free_bytes", free, "min_free_bytes", f.min)
	}
}
