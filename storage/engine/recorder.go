package engine

import (
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"maps"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// Recorder is a file system that knows how far the logs and manifests of the stores opened on it are durable, and the
// checksum of their bytes. Record writes that beside the stores, as often as the process's heartbeat: so damage to
// earlier synced bytes can be told from a tail that was never finished, see Check.
type Recorder struct {
	vfs.FS

	mu     sync.Mutex                // below recordedStore.writing
	stores map[string]*recordedStore // by folder
}

// recordedStore is a store that is open.
type recordedStore struct {
	opened  bool                     // pebble.Open has returned, and needs the logs it found no more
	doubts  []error                  // what Check met at the opening
	found   map[string]durablePrefix // by name; recorded by earlier holders, of files not yet removed
	files   map[string]*recordedFile // by name
	written []byte                   // the record as it was written last

	// writing is held while a record is written: one after the other, or an old one would take a new one's place.
	writing   sync.Mutex
	forgotten bool // nothing is recorded any more; guarded by writing
}

// NewRecorder returns a recorder of the writes to fs.
func NewRecorder(fs vfs.FS) *Recorder {
	return &Recorder{FS: fs, stores: make(map[string]*recordedStore)}
}

// Unwrap implements vfs.FS.
func (r *Recorder) Unwrap() vfs.FS { return r.FS }

// RecorderOf returns the recorder that a file system wraps, nil for none.
func RecorderOf(fs vfs.FS) *Recorder {
	for fs != nil {
		if r, ok := fs.(*Recorder); ok {
			return r
		}
		fs = fs.Unwrap()
	}
	return nil
}

// begin makes the recorder follow the store in dir, which is about to be opened for writing. A nil recorder follows
// nothing.
func (r *Recorder) begin(dir string, c *checked) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stores[dir] = &recordedStore{doubts: c.doubts, found: maps.Clone(c.record.files),
		files: make(map[string]*recordedFile)}
}

// opened notes whether the store was opened. Pebble has begun a manifest then, and written what its logs held into
// tables.
func (r *Recorder) opened(dir string, err error) {
	if r == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err != nil {
		delete(r.stores, dir)
		return
	}
	s := r.stores[dir]
	s.opened, s.found = true, nil
}

// Opened reports whether a store was opened, and so found to be all that its record promises. Doubts are what Check
// returned then.
func (r *Recorder) Opened(dir string) (opened bool, doubts []error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stores[dir]
	if s == nil {
		return false, nil
	}
	return s.opened, s.doubts
}

// Record writes the records of the stores that changed.
func (r *Recorder) Record() error {
	r.mu.Lock()
	dirs := maps.Clone(r.stores)
	r.mu.Unlock()
	var errs []error
	for dir := range dirs {
		if err := r.RecordStore(dir); err != nil && !errors.Is(err, os.ErrNotExist) { // removed meanwhile
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// RecordStore writes the record of one store, if it is followed and its record changed.
func (r *Recorder) RecordStore(dir string) error {
	r.mu.Lock()
	s := r.stores[dir]
	r.mu.Unlock()
	if s == nil {
		return nil
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.forgotten {
		return nil
	}
	r.mu.Lock()
	content := s.encode()
	same := bytes.Equal(content, s.written)
	r.mu.Unlock()
	if same {
		return nil
	}
	if err := writeRecord(r.FS, dir, content); err != nil {
		return fmt.Errorf("engine: record the files of %s: %w", dir, err)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s.written = content
	return nil
}

// encode returns the record of the durable bytes now. Recorder.mu is held.
func (s *recordedStore) encode() []byte {
	record := fileRecord{files: make(map[string]durablePrefix, len(s.found)+len(s.files))}
	maps.Copy(record.files, s.found)
	for name, f := range s.files {
		if s.opened || !isManifest(name) { // the store's marker may name the earlier one, and again after a power cut
			record.files[name] = f.durablePrefix()
		}
	}
	return record.encode()
}

// Forget ends following a store, which is closed. A record that is being written is awaited: when Forget returns,
// nothing more is written, so others may have the store, or its folder may go.
func (r *Recorder) Forget(dir string) {
	r.mu.Lock()
	s := r.stores[dir]
	delete(r.stores, dir)
	r.mu.Unlock()
	if s != nil {
		s.writing.Lock()
		defer s.writing.Unlock()
		s.forgotten = true
	}
}

// created follows a new file.
func (r *Recorder) created(name string, file vfs.File, err error) (vfs.File, error) {
	base := r.PathBase(name)
	if err != nil || !isRecorded(base) {
		return file, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	s := r.stores[r.PathDir(name)]
	if s == nil {
		return file, nil
	}
	f := &recordedFile{File: file}
	delete(s.found, base)
	s.files[base] = f
	return f, nil
}

// removed forgets a file.
func (r *Recorder) removed(name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if s := r.stores[r.PathDir(name)]; s != nil {
		delete(s.found, r.PathBase(name))
		delete(s.files, r.PathBase(name))
	}
}

func (r *Recorder) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	file, err := r.FS.Create(name, category)
	return r.created(name, file, err)
}

// ReuseForWrite implements vfs.FS. The old file is gone before the new one has anything: if this fails, it may also be
// gone.
func (r *Recorder) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	r.removed(oldname)
	file, err := r.FS.ReuseForWrite(oldname, newname, category)
	return r.created(newname, file, err)
}

func (r *Recorder) Remove(name string) error {
	r.removed(name)
	return r.FS.Remove(name)
}

// recordedFile is a log or manifest that is written from its beginning on.
type recordedFile struct {
	vfs.File

	mu      sync.Mutex
	written durablePrefix // once it is synced; changed by one goroutine
	durable durablePrefix
	failed  bool
}

func (f *recordedFile) durablePrefix() durablePrefix {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.durable
}

// Write implements vfs.File. The recorder does not follow a file after a failed write: such a store is given up.
func (f *recordedFile) Write(p []byte) (n int, err error) {
	sum := crc32.Update(f.written.sum, castagnoli, p) // one goroutine writes; a file may change p while it does so
	n, err = f.File.Write(p)
	f.mu.Lock()
	defer f.mu.Unlock()
	if n < len(p) || err != nil {
		f.failed = true
	}
	if !f.failed {
		f.written = durablePrefix{f.written.bytes + int64(n), sum}
	}
	return n, err
}

// syncing makes durable what was written before sync began, if that returns nil.
func (f *recordedFile) syncing(sync func() (full bool, err error)) (full bool, err error) {
	f.mu.Lock()
	before := f.written
	f.mu.Unlock()
	if full, err = sync(); err != nil || !full {
		return full, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if before.bytes > f.durable.bytes {
		f.durable = before
	}
	return full, nil
}

func (f *recordedFile) Sync() error {
	_, err := f.syncing(func() (bool, error) { return true, f.File.Sync() })
	return err
}

func (f *recordedFile) SyncData() error {
	_, err := f.syncing(func() (bool, error) { return true, f.File.SyncData() })
	return err
}

func (f *recordedFile) SyncTo(length int64) (fullSync bool, err error) {
	return f.syncing(func() (bool, error) { return f.File.SyncTo(length) })
}
