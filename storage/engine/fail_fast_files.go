package engine

import (
	"errors"
	"os"
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// failFastFiles is the file system that Pebble has. It reports an error to fail that would make Pebble panic, before
// Pebble sees it. Such a panic leaves no exit status of ours, and often only the runtime's "unlock of unlocked mutex".
// Three errors are of this kind:
//
//   - A log cannot be begun or ended.
//   - A folder cannot be synced: a marker that has moved, and may move back, is no ground to go on from.
//   - Opening fails after the logs are replayed. Their flush has started compactions and readers of tables, but
//     pebble.Open closes the caches under them. It begins the new log as soon as the flush is done, and starts nothing
//     before. So an error before that log is returned, and one after it is reported.
type failFastFiles struct {
	vfs.FS
	fail  func(error)
	phase atomic.Int32
	made  []*writtenFile // while replaying; Pebble leaves a manifest open if opening fails
	old   *OldLogs
}

// archiveFolder is where pebble.ArchiveCleaner moves files that are obsolete. Pebble keeps logs itself, to write over
// them, unless its cleaner wants them: so it has one that does, and failFastFiles removes what that would keep.
const archiveFolder = "archive"

const (
	replaying = iota // pebble.Open reads the store and flushes what its logs hold
	starting         // pebble.Open has begun a log
	running          // pebble.Open has returned
)

func (l *failFastFiles) Unwrap() vfs.FS { return l.FS }

// report passes an error on to fail, and returns it if fail returns. The flushes and compactions report errors of
// tables themselves.
func (l *failFastFiles) report(name string, err error) error {
	if err == nil {
		return nil
	}
	switch l.phase.Load() {
	case starting:
		if !isTable(name) {
			l.fail(err)
		}
	case running:
		if isLog(name) {
			l.fail(err)
		}
	}
	return err
}

func isLog(name string) bool { return strings.HasSuffix(name, ".log") }

func isTable(name string) bool { return strings.HasSuffix(name, ".sst") }

func (l *failFastFiles) written(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, l.report(name, err)
	}
	if isTable(name) {
		return file, nil
	}
	f := &writtenFile{File: file, name: name, files: l}
	if l.phase.Load() == replaying {
		l.made = append(l.made, f) // one goroutine at a time: Pebble waits for its flush
	}
	return f, nil
}

// opened ends the opening.
func (l *failFastFiles) opened(err error) {
	l.phase.Store(running)
	for _, f := range l.made {
		if err != nil && !f.closed {
			_ = f.File.Close() // opening has failed already
		}
	}
	l.made = nil
}

func (l *failFastFiles) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if isLog(name) {
		l.phase.CompareAndSwap(replaying, starting)
	}
	if strings.HasPrefix(l.PathBase(name), manifestMarker) {
		if err := l.syncFolder(l.PathDir(name)); err != nil {
			return nil, err
		}
	}
	if isLog(name) {
		if old, ok := l.old.pop(); ok {
			return l.ReuseForWrite(old, name, category)
		}
	}
	file, err := l.FS.Create(name, category)
	return l.written(name, file, err)
}

// manifestMarker begins the name of the file whose name says which manifest counts.
const manifestMarker = "marker.manifest."

// syncFolder makes the name of a manifest durable before the marker leads to it. Pebble syncs the folder only after
// both: a power failure between may leave the marker and no manifest, unless a file's sync covers its name, as ext4's
// does and POSIX does not promise.
func (l *failFastFiles) syncFolder(dir string) error {
	file, err := l.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func (l *failFastFiles) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := l.FS.ReuseForWrite(oldname, newname, category)
	return l.written(newname, file, err)
}

func (l *failFastFiles) MkdirAll(dir string, perm os.FileMode) error {
	if l.PathBase(dir) == archiveFolder {
		return nil
	}
	return l.FS.MkdirAll(dir, perm)
}

func (l *failFastFiles) Rename(oldname, newname string) error {
	if l.PathBase(l.PathDir(newname)) == archiveFolder {
		if isLog(oldname) {
			return l.old.remove(l.FS, oldname)
		}
		return l.FS.Remove(oldname)
	}
	return l.report(newname, l.FS.Rename(oldname, newname))
}

func (l *failFastFiles) List(dir string) ([]string, error) {
	names, err := l.FS.List(dir)
	return names, l.report(dir, err)
}

func (l *failFastFiles) OpenDir(name string) (vfs.File, error) {
	file, err := l.FS.OpenDir(name)
	if err != nil {
		return nil, err
	}
	return &folder{File: file, fail: l.fail}, nil
}

// writtenFile is a log, a manifest, a marker or a file of options.
type writtenFile struct {
	vfs.File
	name   string
	files  *failFastFiles
	closed bool
}

func (f *writtenFile) report(err error) error { return f.files.report(f.name, err) }

func (f *writtenFile) Write(b []byte) (n int, err error) {
	n, err = f.File.Write(b)
	return n, f.report(err)
}

// Preallocate allocates nothing. Pebble would take a log's largest size at its first write, in each of many stores.
func (f *writtenFile) Preallocate(_, _ int64) error { return nil }

func (f *writtenFile) Sync() error { return f.report(f.File.Sync()) }

func (f *writtenFile) SyncData() error { return f.report(f.File.SyncData()) }

func (f *writtenFile) SyncTo(length int64) (fullSync bool, err error) {
	fullSync, err = f.File.SyncTo(length)
	return fullSync, f.report(err)
}

func (f *writtenFile) Close() error {
	f.closed = true
	return f.report(f.File.Close())
}

type folder struct {
	vfs.File
	fail func(error)
}

func (f *folder) Sync() error {
	err := f.File.Sync()
	if err != nil {
		f.fail(err)
	}
	return err
}
