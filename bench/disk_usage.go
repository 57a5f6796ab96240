package bench

import (
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// diskUsage is the size of folders.
type diskUsage struct {
	allocated int64 // bytes in blocks of the file system
	length    int64 // bytes by the files' length
}

// measureDisk adds up all files below dirs; a file with several names counts once, and a data folder's reserve file
// does not.
func measureDisk(dirs ...string) (diskUsage, error) {
	var u diskUsage
	type inode struct{ device, number uint64 }
	seen := make(map[inode]bool)
	for _, dir := range dirs {
		err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
			if err != nil {
				if os.IsNotExist(err) && path != dir {
					return nil // removed while we walk
				}
				return err
			}
			info, err := os.Lstat(path)
			if err != nil {
				if os.IsNotExist(err) {
					return nil
				}
				return err
			}
			if stat, ok := info.Sys().(*syscall.Stat_t); ok && info.Mode().IsRegular() && entry.Name() != "reserve" {
				if id := (inode{stat.Dev, stat.Ino}); !seen[id] {
					seen[id] = true
					u.allocated += stat.Blocks * 512
					u.length += info.Size()
				}
			}
			return nil
		})
		if err != nil {
			return diskUsage{}, err
		}
	}
	return u, nil
}
