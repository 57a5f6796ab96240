package fulldisk

import (
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// RewriteUnsynced returns a file system on which a sync that found the disk full may be repeated. Network file systems
// reserve no room for writes, so that the sync fails. The kernel may then drop the pages, and the next sync succeeds
// without them. So unconfirmed bytes of the files that Pebble cannot begin anew stay in memory, and are written again
// before the next sync.
func RewriteUnsynced(fs vfs.FS) vfs.FS { return rewriteUnsynced{fs} }

type rewriteUnsynced struct{ vfs.FS }

func (fs rewriteUnsynced) Unwrap() vfs.FS { return fs.FS }

func (fs rewriteUnsynced) wrap(name string, file vfs.File, err error) (vfs.File, error) {
	if err != nil || !Needed(name) {
		return file, err
	}
	return &unsyncedFile{File: file}, nil
}

func (fs rewriteUnsynced) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := fs.FS.Create(name, category)
	return fs.wrap(name, file, err)
}

func (fs rewriteUnsynced) OpenReadWrite(name string, category vfs.DiskWriteCategory,
	options ...vfs.OpenOption) (vfs.File, error) {
	file, err := fs.FS.OpenReadWrite(name, category, options...)
	return fs.wrap(name, file, err)
}

func (fs rewriteUnsynced) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := fs.FS.ReuseForWrite(oldname, newname, category)
	return fs.wrap(newname, file, err)
}

// unsyncedFile is written from its beginning.
type unsyncedFile struct {
	vfs.File

	mu       sync.Mutex
	end      int64 // of the bytes from Write
	unsynced []span
	failed   bool // the last sync
}

// span is what was written at an offset. A later one may lie over it.
type span struct {
	offset int64
	data   []byte
}

// spanBytes is from where on a span does not grow: each time all of it may be copied.
const spanBytes = 64 << 10

func (f *unsyncedFile) note(offset int64, p []byte) {
	last := len(f.unsynced) - 1
	if last >= 0 && len(f.unsynced[last].data) < spanBytes &&
		f.unsynced[last].offset+int64(len(f.unsynced[last].data)) == offset {
		f.unsynced[last].data = append(f.unsynced[last].data, p...)
	} else if len(p) > 0 {
		f.unsynced = append(f.unsynced, span{offset, append([]byte(nil), p...)})
	}
}

func (f *unsyncedFile) Write(p []byte) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.File.Write(p)
	f.note(f.end, p[:n])
	f.end += int64(n)
	return n, err
}

func (f *unsyncedFile) WriteAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n, err := f.File.WriteAt(p, offset)
	f.note(offset, p[:n])
	return n, err
}

// sync calls do, which reports whether all is synced that was written.
func (f *unsyncedFile) sync(do func() (all bool, err error)) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.failed {
		for _, s := range f.unsynced {
			if _, err := f.File.WriteAt(s.data, s.offset); err != nil {
				return err
			}
		}
	}
	all, err := do()
	f.failed = err != nil || f.failed && !all
	if err == nil && all {
		f.unsynced = nil
	}
	return err
}

func (f *unsyncedFile) Sync() error {
	return f.sync(func() (bool, error) { return true, f.File.Sync() })
}

func (f *unsyncedFile) SyncData() error {
	return f.sync(func() (bool, error) { return true, f.File.SyncData() })
}

func (f *unsyncedFile) SyncTo(length int64) (all bool, err error) {
	err = f.sync(func() (bool, error) {
		all, err = f.File.SyncTo(length)
		return all, err
	})
	return all, err
}

// Close closes a file also where the disk is full, if all of it is synced: the close has no more to write.
func (f *unsyncedFile) Close() error {
	err := f.File.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	if Is(err) && len(f.unsynced) == 0 {
		return nil
	}
	return err
}
