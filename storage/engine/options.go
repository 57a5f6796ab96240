package engine

import (
	"cmp"
	"context"
	"log/slog"
	"os"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/sstable/block"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// defaultMemTableSize suits a process that holds some tens of stores: their worst case is stores x size x 4.
const defaultMemTableSize = 4 << 20

// FormatVersion is the newest of Pebble 2.1, pinned: a newer Pebble must not make stores that this version can't open.
const FormatVersion = pebble.FormatValueSeparation

// Options say in what one store differs from another. The zero value works.
type Options struct {
	FS        vfs.FS            // nil: the disk
	Cache     *pebble.Cache     // of blocks, shared by stores; nil: 8 MiB of its own
	FileCache *pebble.FileCache // of open files, shared by stores; nil: one of its own

	MemTableSize uint64 // bytes; 0: defaultMemTableSize
	Merger       *pebble.Merger
	Rewrites     *Rewrites                     // counts bytes of written tables; nil: not counted
	Compression  *pebble.DBCompressionSettings // nil: Snappy, and zstd in the bottom level
	// BlockSize is the bytes of a table's blocks, each read and decompressed as a whole. 0: 16 KiB.
	BlockSize int
	OldLogs   *OldLogs // keeps logs to write over them; nil: each is new
	ReadOnly  bool
	Unchecked bool // open also what Check finds damaged, to read what is left of it
	// L0CompactionThreshold is how many overlapping flushes start a compaction; 0: 4.
	L0CompactionThreshold int

	Logger *slog.Logger // nil: none
	// Fail is told once what made the store unusable, and is expected not to return; nil: ExitOnFailure. If it does
	// return, as in tests, the store must only be closed; while the store is opened, it must not return.
	// It may be called with Pebble's locks held, so it must not use the store.
	Fail func(error)
	// Corrupt is told once that a flush has met bytes that do not decode: the store takes no more than fits into
	// memory, and Pebble tries again for ever. The store should be closed soon, without a lock of the caller of
	// Corrupt; nil: it is only logged.
	Corrupt func(error)
}

// EnsureDefaults fills in what is not set.
func (o *Options) EnsureDefaults() {
	o.FS = cmp.Or(o.FS, vfs.Default)
	o.MemTableSize = cmp.Or(o.MemTableSize, defaultMemTableSize)
	o.BlockSize = cmp.Or(o.BlockSize, 16<<10)
	o.L0CompactionThreshold = cmp.Or(o.L0CompactionThreshold, 4)
	o.Compression = cmp.Or(o.Compression, &defaultCompression)
	o.Logger = cmp.Or(o.Logger, slog.New(slog.DiscardHandler))
	if o.Fail == nil {
		o.Fail = ExitOnFailure(o.Logger, os.Exit)
	}
}

// ExitOnFailure returns a function that logs what made a store unusable, and ends the process by exit.
func ExitOnFailure(logger *slog.Logger, exit func(status int)) func(error) {
	return func(err error) {
		if !logger.Enabled(context.Background(), slog.LevelError) {
			logger = slog.Default() // a process does not end without a word
		}
		logger.Error("store failed, the process ends", "error", err)
		exit(1)
	}
}

// FastCompression is for stores whose content is soon deleted, or read here and there.
var FastCompression = pebble.UniformDBCompressionSettings(block.SnappyCompression)

// defaultCompression compresses often rewritten tables quickly, and tables at rest well. On splits zstd takes half the
// bytes of Snappy.
var defaultCompression = func() pebble.DBCompressionSettings {
	settings := pebble.UniformDBCompressionSettings(block.SnappyCompression)
	settings.Name = "snappy-zstd"
	settings.Levels[len(settings.Levels)-1] = block.GoodCompression
	return settings
}()
