package testnode

import "github.com/cockroachdb/pebble/v2/vfs"

// HookSyncs returns a file system that calls hook with a file's name before each sync of the file. It must be safe for
// concurrent use.
func HookSyncs(fs vfs.FS, hook func(name string)) vfs.FS { return hookedFS{fs, hook} }

type hookedFS struct {
	vfs.FS
	hook func(name string)
}

func (h hookedFS) file(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil {
		return nil, err
	}
	return hookedFile{f, func() { h.hook(name) }}, nil
}

// Create implements vfs.FS.
func (h hookedFS) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := h.FS.Create(name, category)
	return h.file(name, f, err)
}

// ReuseForWrite implements vfs.FS.
func (h hookedFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := h.FS.ReuseForWrite(oldname, newname, category)
	return h.file(newname, f, err)
}

// OpenReadWrite implements vfs.FS.
func (h hookedFS) OpenReadWrite(name string, category vfs.DiskWriteCategory,
	options ...vfs.OpenOption) (vfs.File, error) {
	f, err := h.FS.OpenReadWrite(name, category, options...)
	return h.file(name, f, err)
}

type hookedFile struct {
	vfs.File
	hook func()
}

// Sync implements vfs.File.
func (f hookedFile) Sync() error { f.hook(); return f.File.Sync() }

// SyncData implements vfs.File.
func (f hookedFile) SyncData() error { f.hook(); return f.File.SyncData() }

// SyncTo implements vfs.File.
func (f hookedFile) SyncTo(length int64) (fullSync bool, err error) {
	f.hook()
	return f.File.SyncTo(length)
}
