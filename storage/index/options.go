package index

import (
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"
)

// Options of a Store. The zero value works.
type Options struct {
	FS         vfs.FS                // nil: the disk
	Cache      *pebble.Cache         // of blocks, shared with other stores; nil: one of its own
	FileCache  *pebble.FileCache     // of open files, shared with other stores; nil: one of its own
	Logger     *slog.Logger          // nil: none
	Registerer prometheus.Registerer // nil: none

	// CachedMetrics is about how many metrics Lookup keeps in memory, some 200 bytes each; 0: a million.
	CachedMetrics int

	// SkipDefaults leaves a new store without the default archive policies and their rule.
	SkipDefaults bool
}

// EnsureDefaults fills in what is zero.
func (o Options) EnsureDefaults() Options {
	if o.FS == nil {
		o.FS = vfs.Default
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.CachedMetrics <= 0 {
		o.CachedMetrics = 1 << 20
	}
	return o
}
