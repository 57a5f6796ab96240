package device

import (
	"cmp"
	"errors"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// PinnedPools is how many pools of pinned host memory a Device has: for uploads, for downloads, and for batches and
// results to borrow.
const PinnedPools = 3

// Options of a Device. The zero value works.
type Options struct {
	Ordinal int    // which device, as the driver counts
	Driver  string // path of the driver's library; empty for the system's

	// MemoryBytes is how much of the device's memory is used at most; 0 for nine tenths of the memory that is free when
	// it is opened.
	MemoryBytes int64

	// PinnedBytes bounds the host memory of each of PinnedPools; 0 for 512 MiB.
	PinnedBytes int64

	// JobTimeout is how long the device may take from one job's end to the next's; 0 for 5 s. Then the process gives it
	// up permanently: the driver's call may never return. OpenTimeout is the same for opening it and for loading
	// kernels, which the driver may have to compile; 0 for a minute.
	JobTimeout, OpenTimeout time.Duration

	// Streams is how many jobs are under way at a time; 0 for 3: one uploads, one computes, one downloads.
	Streams int

	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// EnsureDefaults fills in what is zero.
func (o *Options) EnsureDefaults() {
	o.PinnedBytes = cmp.Or(o.PinnedBytes, 512<<20)
	o.JobTimeout = cmp.Or(o.JobTimeout, 5*time.Second)
	o.OpenTimeout = cmp.Or(o.OpenTimeout, time.Minute)
	o.Streams = cmp.Or(o.Streams, 3)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
}

// Validate lists all that is wrong.
func (o *Options) Validate() error {
	var faults []error
	refuse := func(bad bool, text string) {
		if bad {
			faults = append(faults, errors.New("gpu: "+text))
		}
	}
	refuse(o.Ordinal < 0, "the device's number is negative")
	refuse(o.MemoryBytes < 0, "device memory is negative")
	refuse(o.PinnedBytes < 0, "pinned memory is negative")
	refuse(o.JobTimeout < 0 || o.OpenTimeout < 0, "a timeout is negative")
	refuse(o.Streams < 0, "the number of streams is negative")
	return errors.Join(faults...)
}
