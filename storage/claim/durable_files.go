package claim

import (
	"errors"
	"fmt"
	"io"
	iofs "io/fs"
	"syscall"

	"github.com/cockroachdb/pebble/v2/vfs"
)

const folderMode = 0o750

// maxFileBytes bounds what is read of a member's or claim's file.
const maxFileBytes = 64 << 10

func notThere(err error) bool { return errors.Is(err, iofs.ErrNotExist) }

// list returns the names in a folder, none if it isn't there.
func list(fs vfs.FS, dir string) ([]string, error) {
	names, err := fs.List(dir)
	if notThere(err) {
		return nil, nil
	}
	return names, err
}

// read returns what is in a small file.
func read(fs vfs.FS, path string) (content []byte, err error) {
	file, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	content, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err == nil && len(content) > maxFileBytes {
		err = fmt.Errorf("claim: %s is longer than %d bytes", path, maxFileBytes)
	}
	return content, err
}

// write makes a file of a name that nobody else uses, synced; its folder is not.
func write(fs vfs.FS, path string, content []byte) error {
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}

// SyncFolder makes the names in a folder durable.
func SyncFolder(fs vfs.FS, dir string) error {
	file, err := fs.OpenDir(dir)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// makeEmpty makes an empty file, and its folder if that is missing, durably, below root.
func makeEmpty(fs vfs.FS, root, path string) error {
	dir := fs.PathDir(path)
	if err := MakeFolders(fs, root, dir); err != nil {
		return err
	}
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	return errors.Join(file.Close(), SyncFolder(fs, dir))
}

// wrap says in an error what failed.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf("claim: %s: %w", fmt.Sprintf(format, args...), *err)
	}
}

// MakeFolders creates dir and what is missing above it, below root, so that all of it survives a crash. A folder that
// is there gets a durable name as well: its maker may have ended before it did that. Only the makers of a data folder
// give "" as root: the folders above a data folder belong to others.
func MakeFolders(fs vfs.FS, root, dir string) error {
	parent := fs.PathDir(dir)
	if dir == root || dir == parent {
		return nil
	}
	_, err := fs.Stat(dir)
	if notThere(err) {
		if err = MakeFolders(fs, root, parent); err == nil {
			err = fs.MkdirAll(dir, folderMode)
		}
	}
	if err != nil {
		return err
	}
	err = SyncFolder(fs, parent)
	if errors.Is(err, iofs.ErrPermission) || errors.Is(err, syscall.EINVAL) {
		return nil // an automounter's folder cannot be synced
	}
	return err
}

// linkOnce links a file to a second name; won reports whether this call made the second name. An NFS client that
// repeats a LINK whose answer got lost is told that the name exists, although it made the name itself: then the file
// has two names.
func linkOnce(fs vfs.FS, from, to string) (won bool, err error) {
	err = fs.Link(from, to)
	if err == nil {
		return true, nil
	}
	info, statErr := fs.Stat(from)
	if statErr == nil {
		if stat, ok := info.Sys().(*syscall.Stat_t); ok && stat.Nlink > 1 {
			return true, nil
		}
	}
	if errors.Is(err, iofs.ErrExist) {
		return false, nil
	}
	return false, err
}
