package engine

import (
	"strings"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// logFiles is the file system that Pebble has. What fails of a log is told first: Pebble panics if it cannot begin or end one, with
// its locks in a state of which only the runtime's "unlock of unlocked mutex" is left to see, and no exit status of ours.
type logFiles struct {
	vfs.FS
	fail func(error)
	open atomic.Bool // before, opening the store fails, which says so
}

func (l *logFiles) Unwrap() vfs.FS { return l.FS }

func (l *logFiles) told(name string, file vfs.File, err error) (vfs.File, error) {
	if !strings.HasSuffix(name, ".log") {
		return file, err
	}
	if err != nil {
		return nil, l.tell(err)
	}
	return &logFile{File: file, files: l}, nil
}

// tell returns err, if it returns.
func (l *logFiles) tell(err error) error {
	if err != nil && l.open.Load() {
		l.fail(err)
	}
	return err
}

func (l *logFiles) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := l.FS.Create(name, category)
	return l.told(name, file, err)
}

func (l *logFiles) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := l.FS.ReuseForWrite(oldname, newname, category)
	return l.told(newname, file, err)
}

// logFile is a log that is written.
type logFile struct {
	vfs.File
	files *logFiles
}

func (f *logFile) Write(b []byte) (n int, err error) {
	n, err = f.File.Write(b)
	return n, f.files.tell(err)
}

func (f *logFile) Sync() error { return f.files.tell(f.File.Sync()) }

func (f *logFile) SyncData() error { return f.files.tell(f.File.SyncData()) }

func (f *logFile) SyncTo(length int64) (fullSync bool, err error) {
	fullSync, err = f.File.SyncTo(length)
	return fullSync, f.files.tell(err)
}

func (f *logFile) Close() error { return f.files.tell(f.File.Close()) }
