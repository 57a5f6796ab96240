package claim

import (
	"errors"
	"io"
	"os"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// Fence returns a file system that refuses every change once the lease is lost, with an error of kind ErrLost. The
// lease is asked before each change, and again after what makes changes durable or visible: so what was synced too late
// fails, and is not acknowledged. While the lease is suspended, changes wait. A stopped process may still finish the
// change that it was about to make: TakeOver deals with that.
func Fence(fs vfs.FS, lease Lease) vfs.FS { return &fence{FS: fs, lease: lease} }

// fence passes reads on.
type fence struct {
	vfs.FS
	lease Lease
}

func (f *fence) Unwrap() vfs.FS { return f.FS }

// check is the question before a change.
func (f *fence) check() error { return await(f.lease) }

// change makes a change if the lease holds.
func (f *fence) change(do func() error) error {
	if err := f.check(); err != nil {
		return err
	}
	return do()
}

// after is the question behind a change that went well as far as the disk is concerned.
func (f *fence) after(err error) error {
	if err != nil {
		return err
	}
	return f.check()
}

func (f *fence) wrap(file vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return &fencedFile{File: file, fence: f}, nil
}

func (f *fence) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.wrap(f.FS.Create(name, category))
}

func (f *fence) OpenReadWrite(name string, category vfs.DiskWriteCategory,
	options ...vfs.OpenOption) (vfs.File, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.wrap(f.FS.OpenReadWrite(name, category, options...))
}

func (f *fence) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	return f.wrap(f.FS.ReuseForWrite(oldname, newname, category))
}

// OpenDir is there to sync the folder.
func (f *fence) OpenDir(name string) (vfs.File, error) { return f.wrap(f.FS.OpenDir(name)) }

func (f *fence) Link(oldname, newname string) error {
	return f.change(func() error { return f.FS.Link(oldname, newname) })
}

func (f *fence) Rename(oldname, newname string) error {
	return f.after(f.change(func() error { return f.FS.Rename(oldname, newname) }))
}

func (f *fence) Remove(name string) error {
	return f.change(func() error { return f.FS.Remove(name) })
}

func (f *fence) RemoveAll(name string) error {
	return f.change(func() error { return f.FS.RemoveAll(name) })
}

func (f *fence) MkdirAll(dir string, perm os.FileMode) error {
	return f.change(func() error { return f.FS.MkdirAll(dir, perm) })
}

// Lock takes a lock that belongs to the open file: unlike a process's, it excludes the process itself as well, and
// stays when another descriptor of the file is closed. It is a second belt; claims decide. So a disk that has no locks
// will do.
func (f *fence) Lock(name string) (io.Closer, error) {
	if err := f.check(); err != nil {
		return nil, err
	}
	closer, err := lockFile(f.FS, name)
	if errors.Is(err, unix.ENOLCK) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EOPNOTSUPP) {
		return noLock{}, nil
	}
	return closer, err
}

// noLock stands for a lock where there are none.
type noLock struct{}

func (noLock) Close() error { return nil }

// fencedFile passes reads on.
type fencedFile struct {
	vfs.File
	fence *fence
}

func (f *fencedFile) Write(p []byte) (int, error) {
	if err := f.fence.check(); err != nil {
		return 0, err
	}
	return f.File.Write(p)
}

func (f *fencedFile) WriteAt(p []byte, offset int64) (int, error) {
	if err := f.fence.check(); err != nil {
		return 0, err
	}
	return f.File.WriteAt(p, offset)
}

func (f *fencedFile) Preallocate(offset, length int64) error {
	return f.fence.change(func() error { return f.File.Preallocate(offset, length) })
}

func (f *fencedFile) Sync() error { return f.fence.after(f.fence.change(f.File.Sync)) }

func (f *fencedFile) SyncData() error { return f.fence.after(f.fence.change(f.File.SyncData)) }

func (f *fencedFile) SyncTo(length int64) (fullSync bool, err error) {
	if err := f.fence.check(); err != nil {
		return false, err
	}
	fullSync, err = f.File.SyncTo(length)
	return fullSync, f.fence.after(err)
}
