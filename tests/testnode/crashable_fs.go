package testnode

import (
	"io"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// CrashableFS is a file system in memory from which a crash takes what is not synced. Three of MemFS's methods take a
// lock twice, and never get it the second time if a crash waits for it in between. Here they and crashes exclude each
// other.
type CrashableFS struct {
	*vfs.MemFS
	mu sync.Mutex
}

// NewCrashableFS returns an empty one.
func NewCrashableFS() *CrashableFS { return &CrashableFS{MemFS: vfs.NewCrashableMem()} }

// CrashClone returns what a crash leaves.
func (fs *CrashableFS) CrashClone(cfg vfs.CrashCloneCfg) *vfs.MemFS {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.MemFS.CrashClone(cfg)
}

// Link implements vfs.FS.
func (fs *CrashableFS) Link(oldname, newname string) error {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.MemFS.Link(oldname, newname)
}

// Lock implements vfs.FS.
func (fs *CrashableFS) Lock(name string) (io.Closer, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.MemFS.Lock(name)
}

// ReuseForWrite implements vfs.FS.
func (fs *CrashableFS) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.MemFS.ReuseForWrite(oldname, newname, category)
}
