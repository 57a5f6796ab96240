package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/storage/claim"
)

const lockFile = "lock"

// folder is the storage in a folder of this machine.
type folder struct {
	dir   string
	fresh map[string]bool // folders with entries that are not durable yet
}

// Folder returns the storage in a folder, which a writer makes if it is missing.
func Folder(dir string) Storage { return &folder{dir: dir, fresh: make(map[string]bool)} }

func (f *folder) String() string { return f.dir }

// apartFrom returns an error if the repository is within a data folder or the other way round, through any links
// and mounts.
func (f *folder) apartFrom(data string) error {
	parts := []string{data}
	_ = filepath.WalkDir(data+"/", func(path string, entry fs.DirEntry, err error) error { // an error shows elsewhere
		if err == nil && entry.Type()&fs.ModeSymlink != 0 {
			parts = append(parts, path)
		}
		if rel, _ := filepath.Rel(data, path); entry != nil && entry.IsDir() && strings.Count(rel, "/") == 2 {
			return fs.SkipDir // an epoch of a store: its files are no folders
		}
		return nil
	})
	for _, part := range parts {
		for _, own := range []string{f.dir, f.path(objectsFolder), f.path(backupsFolder)} {
			if within(own, part) || within(part, own) {
				return fmt.Errorf("%s and %s: one is within the other", part, own)
			}
		}
	}
	return nil
}

// within reports whether a path is in a folder, or is the folder, which both need not exist.
func within(path, dir string) bool {
	path, dir = realPath(path), realPath(dir)
	if strings.HasPrefix(path+"/", strings.TrimSuffix(dir, "/")+"/") {
		return true
	}
	folder, err := os.Stat(dir)
	for at := path; err == nil && at != filepath.Dir(at); at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, folder) { // a mount of the folder
			return true
		}
	}
	return false
}

// realPath resolves the links of a path, whose end need not exist.
func realPath(path string) string {
	path, _ = filepath.Abs(path)
	for at, rest := path, ""; ; at, rest = filepath.Dir(at), filepath.Join(filepath.Base(at), rest) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
	}
}

func (f *folder) path(name string) string { return filepath.Join(f.dir, filepath.FromSlash(name)) }

func (f *folder) Lock(ctx context.Context) (context.Context, func() error, error) {
	for _, name := range []string{".", objectsFolder, backupsFolder} {
		if err := claim.MakeFolders(vfs.Default, "", f.path(name)); err != nil {
			return nil, nil, err
		}
	}
	lock, err := os.OpenFile(f.path(lockFile), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return nil, nil, fmt.Errorf("another backup to %s is under way: %w", f.dir, err)
	}
	return ctx, lock.Close, nil
}

func (f *folder) Spool() (*os.File, error) { return os.CreateTemp(f.path(objectsFolder), temporary) }

func (f *folder) Put(_ context.Context, name string, file *os.File) error {
	to := f.path(name)
	err := errors.Join(file.Sync(), file.Close(), os.MkdirAll(filepath.Dir(to), 0o750))
	if err == nil {
		f.refreshes(to)
		err = os.Rename(file.Name(), to)
	}
	return err
}

func (f *folder) Commit(ctx context.Context, name string, content []byte) error {
	if err := f.syncFresh(); err != nil {
		return err
	}
	if _, err := os.Stat(f.path(name)); !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w", f.path(name), errors.Join(fs.ErrExist, err))
	}
	file, err := f.Spool()
	if err != nil {
		return err
	}
	if _, err = file.Write(content); err == nil {
		err = f.Put(ctx, name, file)
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return f.syncFresh()
}

func (f *folder) syncFresh() error {
	for dir := range f.fresh {
		if err := claim.SyncFolder(vfs.Default, dir); err != nil {
			return err
		}
		delete(f.fresh, dir)
	}
	return nil
}

func (f *folder) Get(_ context.Context, name string) (io.ReadCloser, error) {
	return os.Open(f.path(name))
}

// refreshes notes that the next Commit has to make a file's name durable, which a writer that was killed may have put.
func (f *folder) refreshes(path string) {
	f.fresh[filepath.Dir(path)], f.fresh[filepath.Dir(filepath.Dir(path))] = true, true
}

// List leaves out what is no file, such as a link to a folder of another disk.
func (f *folder) List(_ context.Context, name string) (map[string]int64, error) {
	sizes := make(map[string]int64)
	err := filepath.WalkDir(f.path(name)+"/", func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) && name == successionsFolder {
			return nil
		}
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		f.refreshes(path)
		rel, err := filepath.Rel(f.dir, path)
		sizes[filepath.ToSlash(rel)] = info.Size()
		return err
	})
	return sizes, err
}

// Delete removes a file, as a bucket does also if it is gone.
func (f *folder) Delete(_ context.Context, name string) error { return os.RemoveAll(f.path(name)) }
