package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// failedClose is a disk on which one close of a written file or folder returns an error. NFS tells of failed writes
// like that. The file is closed nevertheless, and data without a sync is gone with the power.
type failedClose struct {
	vfs.FS
	fails  func(base string) bool
	err    error
	number int64 // of the close that fails
	closes atomic.Int64
}

func (d *failedClose) wrap(name string, f vfs.File, err error) (vfs.File, error) {
	if err != nil || !d.fails(d.PathBase(name)) {
		return f, err
	}
	return &failedCloseFile{f, d}, nil
}

func (d *failedClose) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, category)
	return d.wrap(name, f, err)
}

func (d *failedClose) ReuseForWrite(from, to string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(from, to, category)
	return d.wrap(to, f, err)
}

func (d *failedClose) OpenDir(name string) (vfs.File, error) {
	f, err := d.FS.OpenDir(name)
	return d.wrap(name, f, err)
}

type failedCloseFile struct {
	vfs.File
	disk *failedClose
}

func (f *failedCloseFile) Close() error {
	err := f.File.Close()
	if f.disk.closes.Add(1) == f.disk.number {
		err = errors.Join(err, f.disk.err)
	}
	return err
}

// A failed close loses no acknowledged write, even if the power fails afterwards. An I/O error of a file reaches Fail
// or the caller. A full disk need not be reported for a synced file, nor any error for a folder, which writes nothing.
func TestFailedClose(t *testing.T) {
	begins := func(text string) func(string) bool {
		return func(base string) bool { return strings.HasPrefix(base, text) }
	}
	ends := func(text string) func(string) bool {
		return func(base string) bool { return strings.HasSuffix(base, text) }
	}
	for kind, fails := range map[string]func(string) bool{
		"log": ends(".log"), "table": ends(".sst"), "manifest": begins("MANIFEST"), "marker": begins("marker."),
		"folder": begins("store"),
	} {
		for _, failure := range []error{syscall.EIO, syscall.ENOSPC} {
			t.Run(kind+"/"+failure.Error(), func(t *testing.T) {
				number := int64(0)
				for closed := true; closed; {
					number++
					closed = failOneClose(t, &failedClose{fails: fails, err: failure, number: number})
				}
				if number < 3 {
					t.Errorf("%d closes failed", number-1)
				}
			})
		}
	}
}

// failOneClose works on a store on the disk, and reports whether there was the close that fails.
func failOneClose(t *testing.T, disk *failedClose) bool {
	t.Helper()
	store := vfs.NewCrashableMem()
	disk.FS = store
	files := fulldisk.RetryWhenFull(t.Context(), disk, func() bool { return false })
	failed, done := make(chan error, 1), make(chan error, 1)
	var once sync.Once
	var mu sync.Mutex
	acknowledged := make(map[string]bool)
	work := func() error {
		db, err := engine.Open("store", engine.Options{FS: files, MemTableSize: 64 << 10, Fail: func(err error) {
			once.Do(func() { failed <- err })
			select {} // the process has ended
		}})
		if err != nil {
			return err
		}
		var errs []error
		for range 25 {
			mu.Lock()
			key := fmt.Sprintf("%04d", len(acknowledged))
			mu.Unlock()
			err := db.Set([]byte(key), make([]byte, 8<<10), pebble.Sync)
			if errs = append(errs, err); err == nil {
				mu.Lock()
				acknowledged[key] = true
				mu.Unlock()
			}
		}
		return errors.Join(append(errs, db.Flush(), engine.Close(db, files, "store"))...)
	}
	go func() { done <- errors.Join(work(), work()) }()
	var said error
	select {
	case said = <-failed:
	case said = <-done:
	}
	reached := disk.closes.Load() >= disk.number
	if reached && said == nil && !fulldisk.Is(disk.err) && !disk.fails("store") {
		t.Errorf("close %d failed without a word", disk.number)
	}
	mu.Lock()
	defer mu.Unlock()
	db, err := engine.Open("store", engine.Options{FS: store.CrashClone(vfs.CrashCloneCfg{})})
	if err != nil {
		t.Fatalf("close %d: the store cannot be opened: %v", disk.number, err)
	}
	for key := range acknowledged {
		_, closer, err := db.Get([]byte(key))
		if err != nil {
			t.Fatalf("close %d: %s is lost: %v", disk.number, key, err)
		}
		closer.Close()
	}
	fatal.If(t, db.Close())
	return reached
}
