package incoming

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// maxSacks leaves 0xffff free for the store's own keys.
const maxSacks = 1<<16 - 1

// Options of a store. Sacks is required.
type Options struct {
	Sacks int // of the cluster; a store keeps the number that it was created with

	// RecentBytes is how much of the latest blocks is kept in memory, so that a reader that keeps up is not sent to the
	// disk. 0: 64 MiB.
	RecentBytes int
	// QueueBytes is how much may wait for the disk before requests are refused with ErrBusy. 0: 256 MiB.
	QueueBytes int
	// Timeout bounds how long Append waits with any context: Pebble itself waits for ever on a full or unreachable
	// disk. 0: 30 s.
	Timeout time.Duration

	// MinFreeBytes is the free disk space below which Append refuses with ErrNoSpace. 0: 256 MiB.
	MinFreeBytes uint64
	// FreeSpace returns the free disk space in bytes. Nil asks the file system, and goes without where that can't tell.
	FreeSpace func() (uint64, error)

	FS        vfs.FS            // nil: the disk
	Cache     *pebble.Cache     // shared by stores; nil: one of its own
	FileCache *pebble.FileCache // shared by stores; nil: one of its own

	MemTableSize uint64 // bytes; 0: 16 MiB

	Logger *slog.Logger // nil: none
	// Registerer takes the store's metrics; nil: none. A process that holds several stores tells them apart by
	// prometheus.WrapRegistererWith.
	Registerer prometheus.Registerer
	// Clock tells when requests are accepted. Zero: a wall clock of the store's own.
	Clock Clock
	// Collector shows Pebble's own figures, as "incoming"; nil for none.
	Collector *engine.PebbleCollector
	// Fail is told what made the store unusable, see engine.Options; nil logs it and ends the process. If it returns,
	// as in tests, the store refuses everything with ErrFailed, and must be closed.
	Fail func(error)
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.RecentBytes = cmp.Or(o.RecentBytes, 64<<20)
	o.QueueBytes = cmp.Or(o.QueueBytes, 256<<20)
	o.MemTableSize = cmp.Or(o.MemTableSize, defaultMemTableSize)
	o.Timeout = cmp.Or(o.Timeout, 30*time.Second)
	o.MinFreeBytes = cmp.Or(o.MinFreeBytes, 256<<20)
	if o.Clock.Now == nil {
		o.Clock = wallClock()
	}
	o.FS = cmp.Or(o.FS, vfs.Default)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Fail == nil {
		o.Fail = engine.ExitOnFailure(o.Logger, os.Exit)
	}
}

// Validate lists every fault.
func (o *Options) Validate() error {
	var errs []error
	if o.Sacks < 1 || o.Sacks > maxSacks {
		errs = append(errs, fmt.Errorf("%w: the number of sacks is %d, want 1 to %d", model.ErrInvalid, o.Sacks, maxSacks))
	}
	if o.RecentBytes < 0 || o.QueueBytes < 0 || o.Timeout < 0 {
		errs = append(errs, fmt.Errorf("%w: negative size or time", model.ErrInvalid))
	}
	return errors.Join(errs...)
}
