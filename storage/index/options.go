package index

import (
	"cmp"
	"log/slog"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// DefaultCachedMetrics is how many metrics Lookup keeps unless told otherwise.
const DefaultCachedMetrics = 1 << 20

// defaultMemTableSize holds a bulk creation of some ten thousand resources.
const defaultMemTableSize = 32 << 20

// blockSize is small: records found by other keys than their ID lie anywhere, and a block is read for each. For the
// same reason blocks are not packed as well as they could be.
const blockSize = 4 << 10

// Options of a Store. The zero value works.
type Options struct {
	FS         vfs.FS                  // nil: the disk
	Cache      *pebble.Cache           // of blocks, shared with other stores; nil: one of its own
	FileCache  *pebble.FileCache       // of open files, shared with other stores; nil: one of its own
	Logger     *slog.Logger            // nil: none
	Registerer prometheus.Registerer   // nil: none
	Collector  *engine.PebbleCollector // shows Pebble's own figures, as "index"; nil for none
	Fail       func(error)             // as in engine.Options: told what made the store unusable; nil: ends the process

	// CachedMetrics is about how many metrics Lookup keeps in memory, some 150 bytes each; 0: DefaultCachedMetrics.
	CachedMetrics int

	MemTableSize uint64 // bytes; 0: 32 MiB

	// SkipDefaults leaves a new store without the default archive policies and their rule.
	SkipDefaults bool
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	o.FS = cmp.Or(o.FS, vfs.Default)
	if o.CachedMetrics <= 0 {
		o.CachedMetrics = DefaultCachedMetrics
	}
	o.MemTableSize = cmp.Or(o.MemTableSize, defaultMemTableSize)
}
