package fulldisk

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// retryPause is how long a change waits that found the disk full.
const retryPause = 200 * time.Millisecond

// RetryWhenFull returns a file system that waits, until ctx ends, for a full disk to have room again, where Pebble
// would otherwise give up the store: at writes to its log, its manifest and the options that it writes when it is
// opened. They continue where they stopped. Their syncs are repeated: RewriteUnsynced lies below where a sync
// may be what finds the disk full. Writes of tables fail at once: Pebble removes its half of the table, which may be
// the room that others need, and engine slows its next attempt.
//
// makeRoom is called whenever the disk is full, by several goroutines at once, and reports whether it has freed
// something.
func RetryWhenFull(ctx context.Context, fs vfs.FS, makeRoom func() bool) vfs.FS {
	return &retryWhenFull{FS: fs, done: ctx.Done(), makeRoom: makeRoom}
}

type retryWhenFull struct {
	vfs.FS
	done     <-chan struct{}
	makeRoom func() bool
}

func (p *retryWhenFull) Unwrap() vfs.FS { return p.FS }

// neededPrefixes begin the names of Pebble's files beside logs and tables. Options are temporary until they are whole.
var neededPrefixes = []string{"MANIFEST-", "marker.", "temporary.", "OPTIONS-"}

// Needed reports whether Pebble gives up the store when a write to the file fails.
func Needed(name string) bool {
	base := filepath.Base(name)
	return strings.HasSuffix(base, ".log") ||
		slices.ContainsFunc(neededPrefixes, func(prefix string) bool { return strings.HasPrefix(base, prefix) })
}

// try repeats do while the disk is full: once if room was made, and until there is room if wait is set.
func (p *retryWhenFull) try(wait bool, do func() error) error {
	for {
		err := do()
		if !Is(err) {
			return err
		}
		if p.makeRoom() {
			err = do()
		}
		if !wait || !Is(err) {
			return err
		}
		select {
		case <-p.done:
			return err
		case <-time.After(retryPause):
		}
	}
}

func (p *retryWhenFull) file(name string, open func() (vfs.File, error)) (file vfs.File, err error) {
	wait := Needed(name)
	err = p.try(wait, func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return &retryFile{File: file, fs: p, wait: wait}, nil
}

func (p *retryWhenFull) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return p.file(name, func() (vfs.File, error) { return p.FS.Create(name, category) })
}

func (p *retryWhenFull) OpenReadWrite(name string, category vfs.DiskWriteCategory,
	options ...vfs.OpenOption) (vfs.File, error) {
	return p.file(name, func() (vfs.File, error) { return p.FS.OpenReadWrite(name, category, options...) })
}

// ReuseForWrite renames and opens: if the disk is full, the file may have the new name already.
func (p *retryWhenFull) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return p.file(newname, func() (vfs.File, error) {
		if _, err := p.FS.Stat(oldname); errors.Is(err, os.ErrNotExist) {
			return p.FS.OpenReadWrite(newname, category)
		}
		return p.FS.ReuseForWrite(oldname, newname, category)
	})
}

func (p *retryWhenFull) Link(oldname, newname string) error {
	return p.try(false, func() error { return p.FS.Link(oldname, newname) })
}

func (p *retryWhenFull) Rename(oldname, newname string) error {
	return p.try(Needed(newname), func() error { return p.FS.Rename(oldname, newname) })
}

func (p *retryWhenFull) MkdirAll(dir string, perm os.FileMode) error {
	return p.try(false, func() error { return p.FS.MkdirAll(dir, perm) })
}

// retryFile passes on all but writes and syncs.
type retryFile struct {
	vfs.File
	fs   *retryWhenFull
	wait bool
}

func (f *retryFile) Write(b []byte) (n int, err error) {
	err = f.fs.try(f.wait, func() error {
		written, err := f.File.Write(b[n:])
		n += written
		return err
	})
	return n, err
}

func (f *retryFile) WriteAt(b []byte, offset int64) (n int, err error) {
	err = f.fs.try(f.wait, func() error {
		written, err := f.File.WriteAt(b[n:], offset+int64(n))
		n += written
		return err
	})
	return n, err
}

// sync repeats do only for files that are written again before: a table whose sync failed is to be given up.
func (f *retryFile) sync(do func() error) error {
	if !f.wait {
		return do()
	}
	return f.fs.try(true, do)
}

func (f *retryFile) Sync() error { return f.sync(f.File.Sync) }

func (f *retryFile) SyncData() error { return f.sync(f.File.SyncData) }

func (f *retryFile) SyncTo(length int64) (all bool, err error) {
	err = f.sync(func() error {
		all, err = f.File.SyncTo(length)
		return err
	})
	return all, err
}
