package datafolder

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// anchor opens the folder. Folders are made in the opened one, wherever the path leads by then: once the mount is gone
// the path is the mount point, and a folder there would keep the disk from being mounted again, and hide stores.
// Without a folder no file can be made below the mount point either. Release closes it.
func (f *Folder) anchor() (err error) {
	if f.dir, err = os.Open(f.Path); err != nil {
		return fmt.Errorf("datafolder: %w", err)
	}
	root := fmt.Sprintf("/proc/self/fd/%d", f.dir.Fd())
	if _, err := os.Stat(root); err == nil { // else there is no /proc
		f.anchored = root
	}
	return nil
}

// Place returns the path of a name in the folder that was opened.
func (f *Folder) Place(name string) string {
	if f.anchored == "" {
		return filepath.Join(f.Path, name)
	}
	return filepath.Join(f.anchored, name)
}

// Anchored returns a file system that makes folders in the one that was opened.
func (f *Folder) Anchored(disk vfs.FS) vfs.FS {
	if f.anchored == "" || vfs.Root(disk) != vfs.Default {
		return disk
	}
	canonical, err := filepath.EvalSymlinks(f.Path)
	if err != nil {
		canonical = f.Path
	}
	return &anchoredFS{disk, f, []string{f.Path, canonical}}
}

type anchoredFS struct {
	vfs.FS
	folder *Folder
	paths  []string
}

// Unwrap implements vfs.FS.
func (a *anchoredFS) Unwrap() vfs.FS { return a.FS }

func (a *anchoredFS) MkdirAll(dir string, perm os.FileMode) error {
	for _, path := range a.paths {
		if name, err := filepath.Rel(path, dir); err == nil && filepath.IsLocal(name) {
			return a.FS.MkdirAll(a.folder.Place(name), perm)
		}
	}
	return a.FS.MkdirAll(dir, perm)
}
