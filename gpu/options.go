package gpu

import (
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
)

// Options of a Device. The zero value works.
type Options struct {
	Ordinal int    // which device, as the driver counts
	Driver  string // path of the driver's library; empty for the system's

	// MemoryBytes is how much of the device's memory is used at most; 0 for nine tenths of what is free when it is opened.
	MemoryBytes int64

	// PinnedBytes bounds the host memory pinned for uploads, again that for downloads, and again that lent to batches and results; 0
	// for 512 MiB.
	PinnedBytes int64

	// CacheBytes of the device's memory hold series between batches; 0 for none.
	CacheBytes int64

	// Lanes is how many jobs are under way at a time; 0 for 3: one uploads, one computes, one downloads.
	Lanes int

	Logger     *slog.Logger
	Registerer prometheus.Registerer
}

// EnsureDefaults fills in what is zero.
func (o *Options) EnsureDefaults() {
	if o.PinnedBytes == 0 {
		o.PinnedBytes = 512 << 20
	}
	if o.Lanes == 0 {
		o.Lanes = 3
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
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
	refuse(o.CacheBytes < 0, "the cache is negative")
	refuse(o.MemoryBytes > 0 && o.CacheBytes > o.MemoryBytes, "the cache is larger than the device memory it is part of")
	refuse(o.Lanes < 0, "the number of lanes is negative")
	return errors.Join(faults...)
}
