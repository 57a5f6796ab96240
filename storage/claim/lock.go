package claim

import (
	"errors"
	"fmt"
	"io"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// ErrLocked is the error of a file that is locked through another descriptor.
var ErrLocked = errors.New("locked by another")

// lockFile locks a file until what is returned is closed. A file system that has no descriptors locks in its own way.
func lockFile(fs vfs.FS, name string) (io.Closer, error) {
	file, err := fs.OpenReadWrite(name, vfs.WriteCategoryUnspecified)
	if err != nil {
		return nil, err
	}
	if file.Fd() == vfs.InvalidFd {
		if err := file.Close(); err != nil {
			return nil, err
		}
		return fs.Lock(name)
	}
	err = setLock(file, unix.F_WRLCK, 0, 0)
	if err == nil {
		return lockedFile{file}, nil
	}
	if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EACCES) {
		err = ErrLocked
	}
	return nil, errors.Join(fmt.Errorf("claim: lock %s: %w", name, err), file.Close())
}

// setLock sets a lock of so many bytes of a file from an offset on; 0 are all.
func setLock(file vfs.File, kind int16, from, bytes int64) error {
	return unix.FcntlFlock(file.Fd(), unix.F_OFD_SETLK, &unix.Flock_t{Type: kind, Whence: io.SeekStart, Start: from,
		Len: bytes})
}

// lockedFile is a file with a lock.
type lockedFile struct{ vfs.File }

// Close ends the lock before it closes the file. Closing does not end it while a child of this process, between fork
// and exec, also has the file open.
func (f lockedFile) Close() error {
	return errors.Join(setLock(f.File, unix.F_UNLCK, 0, 0), f.File.Close())
}

// beginAt makes the lock of the whole file one of its first byte, and of all from an offset on that never falls. It is
// one change: at no moment is the file without a lock.
func (f lockedFile) beginAt(offset int64) error { return setLock(f.File, unix.F_UNLCK, 1, offset-1) }
