package engine

import (
	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
)

// Open opens or creates the store in dir. The caller closes it.
func Open(dir string, options Options) (*pebble.DB, error) {
	options.EnsureDefaults()
	w := &watch{dir: dir, logger: options.Logger, tell: options.Fail}
	logs := &logFiles{FS: options.FS, fail: w.fail}
	o := &pebble.Options{
		FS:                          logs,
		Cache:                       options.Cache,
		FileCache:                   options.FileCache,
		FormatMajorVersion:          formatVersion,
		Merger:                      options.Merger,
		MemTableSize:                options.MemTableSize,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       options.L0CompactionThreshold,
		L0StopWritesThreshold:       32,
		LBaseMaxBytes:               16 << 20,
		MaxManifestFileSize:         8 << 20,
		// One at a time: stores are many, and each keeps the compactions of the others from the cores.
		CompactionConcurrencyRange: func() (lower, upper int) { return 1, 1 },
		ReadOnly:                   options.ReadOnly,
		Logger:                     pebbleLogger{w},
		EventListener:              w.listener(),
	}
	o.Experimental.CompactionScheduler = options.Scheduler
	for i := range o.Levels {
		o.Levels[i].BlockSize = options.BlockSize
		o.Levels[i].IndexBlockSize = 64 << 10
		o.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // bits per key: 1 % false positives
		o.Levels[i].FilterType = pebble.TableFilter
	}
	o.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return *options.Compression })
	db, err := pebble.Open(dir, o)
	logs.open.Store(err == nil)
	return db, err
}
