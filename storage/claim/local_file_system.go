package claim

import (
	"errors"
	"io"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"
)

// localMagic are the kinds of file systems that belong to one kernel (statfs(2)): there a lock is gone if and only if
// the process is, in any container and after any end. On a network locks can get lost while their owner lives.
var localMagic = []int64{
	unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.OVERLAYFS_SUPER_MAGIC,
	unix.F2FS_SUPER_MAGIC, zfsMagic,
}

const zfsMagic = 0x2fc12fc1

// IsLocal reports whether the folder lies on a disk that belongs to this machine.
func IsLocal(fs vfs.FS, dir string) bool {
	if vfs.Root(fs) != vfs.Default {
		return false
	}
	var stat unix.Statfs_t
	return unix.Statfs(dir, &stat) == nil && slices.Contains(localMagic, int64(stat.Type))
}

// unlocked reports whether the process that locked a member's file has ended. A missing file means the same: only its
// owner removes it, or a member that found the owner dead.
func unlocked(fs vfs.FS, path string) bool {
	lock, err := lockOf(fs, path, 0)
	if err != nil {
		return notThere(err)
	}
	return lock.Type == unix.F_UNLCK
}

// lockedCounter returns the counter that a member shows in the lock of its file, 0 if it shows none.
func lockedCounter(fs vfs.FS, path string) uint64 {
	lock, err := lockOf(fs, path, 1)
	if err != nil || lock.Type == unix.F_UNLCK {
		return 0
	}
	return uint64(max(lock.Start, 0))
}

// lockOf returns the lock that somebody has of a file from an offset on, as fcntl(2) tells it.
func lockOf(fs vfs.FS, path string, from int64) (lock unix.Flock_t, err error) {
	file, err := fs.Open(path)
	if err != nil {
		return lock, err
	}
	lock = unix.Flock_t{Type: unix.F_RDLCK, Whence: io.SeekStart, Start: from}
	err = unix.FcntlFlock(file.Fd(), unix.F_OFD_GETLK, &lock)
	return lock, errors.Join(err, file.Close())
}
