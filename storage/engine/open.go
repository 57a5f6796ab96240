package engine

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"

	"github.com/gnocco-db/gnocco/storage"
)

// Open opens or creates the store in dir. The caller closes it. A store that Check finds damaged is not opened, and
// nothing in its folder changes: the error is a storage.ErrCorrupt. Open returns an error that it meets before the logs
// are replayed; a later one goes to Options.Fail, since Pebble cannot close in order what it has started by then.
func Open(dir string, options Options) (*pebble.DB, error) {
	options.EnsureDefaults()
	found, err := check(options.FS, dir)
	if err != nil && !options.Unchecked {
		return nil, err
	}
	if err != nil {
		found = &checked{record: &fileRecord{}}
	}
	for _, doubt := range found.doubts {
		options.Logger.Warn("the store may lack what was written last", "dir", dir, "error", doubt)
	}
	var recorder *Recorder
	if !options.ReadOnly {
		recorder = RecorderOf(options.FS)
	}
	recorder.begin(dir, found)
	w := &eventListener{dir: dir, logger: options.Logger, tell: options.Fail, corrupt: options.Corrupt}
	logs := &failFastFiles{FS: options.FS, fail: w.fail, old: options.OldLogs}
	o := &pebble.Options{
		FS:                          logs,
		Cache:                       options.Cache,
		FileCache:                   options.FileCache,
		FormatMajorVersion:          FormatVersion,
		Merger:                      options.Merger,
		MemTableSize:                options.MemTableSize,
		MemTableStopWritesThreshold: 4,
		L0CompactionThreshold:       options.L0CompactionThreshold,
		L0StopWritesThreshold:       32,
		LBaseMaxBytes:               16 << 20,
		MaxManifestFileSize:         512 << 10,
		// One at a time: stores are many, and each keeps the compactions of the others from the cores.
		CompactionConcurrencyRange: func() (lower, upper int) { return 1, 1 },
		ReadOnly:                   options.ReadOnly,
		Cleaner:                    pebble.ArchiveCleaner{},
		Logger:                     pebbleLogger{w},
		EventListener:              w.listener(),
	}
	// Pebble's own scheduler wakes up ten times a second, in each store, in case that more compactions at a time are
	// allowed meanwhile. Here one is, ever.
	o.Experimental.CompactionScheduler = pebble.NewConcurrencyLimitSchedulerWithNoPeriodicGrantingForTest()
	options.Rewrites.listen(o.EventListener)
	options.setLevels(o)
	db, err := pebble.Open(dir, o)
	logs.opened(err)
	if options.Rewrites != nil {
		options.Rewrites.opened.Store(true)
	}
	recorder.opened(dir, err)
	if pebble.IsCorruptionError(err) && !errors.Is(err, storage.ErrCorrupt) {
		err = fmt.Errorf("%w: %s: %w", storage.ErrCorrupt, dir, err)
	}
	return db, err
}

// setLevels says how tables are written.
func (o *Options) setLevels(p *pebble.Options) {
	for i := range p.Levels {
		p.Levels[i].BlockSize = o.BlockSize
		p.Levels[i].IndexBlockSize = 64 << 10
		p.Levels[i].FilterPolicy = bloom.FilterPolicy(10) // bits per key: 1 % false positives
		p.Levels[i].FilterType = pebble.TableFilter
	}
	p.ApplyCompressionSettings(func() pebble.DBCompressionSettings { return *o.Compression })
}
