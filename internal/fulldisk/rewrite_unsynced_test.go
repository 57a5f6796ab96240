package fulldisk_test

import (
	"bytes"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// lateDisk is a network disk in memory. Writes go to its client, which finds out at a sync, or a close, that the disk
// is full, and drops then what was written, as kernels do: a later sync has nothing to do.
type lateDisk struct {
	vfs.FS
	full  atomic.Bool
	found atomic.Int64 // syncs and closes that found it full
}

func (d *lateDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, category)
	return &lateFile{File: f, disk: d}, err
}

func (d *lateDisk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(oldname, newname, category)
	return &lateFile{File: f, disk: d}, err
}

type lateFile struct {
	vfs.File
	disk *lateDisk

	mu      sync.Mutex
	end     int64
	pending []func() error
}

func (f *lateFile) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.end)
	f.end += int64(n)
	return n, err
}

func (f *lateFile) WriteAt(p []byte, offset int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	data := append([]byte(nil), p...)
	f.pending = append(f.pending, func() error {
		_, err := f.File.WriteAt(data, offset)
		return err
	})
	return len(p), nil
}

func (f *lateFile) flush() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	pending := f.pending
	f.pending = nil
	if f.disk.full.Load() && len(pending) > 0 {
		f.disk.found.Add(1)
		return fmt.Errorf("sync: %w", syscall.ENOSPC)
	}
	for _, write := range pending {
		if err := write(); err != nil {
			return err
		}
	}
	return nil
}

func (f *lateFile) Sync() error { return errors.Join(f.flush(), f.File.Sync()) }

func (f *lateFile) SyncData() error { return f.Sync() }

func (f *lateFile) SyncTo(int64) (bool, error) { return true, f.Sync() }

func (f *lateFile) Close() error { return errors.Join(f.flush(), f.File.Close()) }

// A sync that finds the disk full waits for room, and then makes all its bytes durable: the store has them when it is
// opened anew from the disk.
func TestSyncFindsDiskFull(t *testing.T) {
	disk := &lateDisk{FS: vfs.NewMem()}
	fs := fulldisk.RetryWhenFull(t.Context(), engine.WholeBlocks(fulldisk.RewriteUnsynced(disk)),
		func() bool { return false })
	options := engine.Options{FS: fs, MemTableSize: 64 << 10, Fail: func(err error) { t.Error(err) }}
	db, err := engine.Open("store", options)
	fatal.If(t, err)
	const commits = 300
	valueOf := func(i int) []byte { // those that find the disk full are small or large
		if i%40 == 10 {
			return bytes.Repeat([]byte{byte(i)}, 300_000)
		}
		return bytes.Repeat([]byte{byte(i)}, 1000)
	}
	for i := range commits {
		if i%20 == 10 {
			disk.full.Store(true)
			was := disk.found.Load()
			time.AfterFunc(20*time.Millisecond, func() {
				for disk.found.Load() == was {
					time.Sleep(time.Millisecond)
				}
				disk.full.Store(false)
			})
		}
		fatal.If(t, db.Set(fmt.Appendf(nil, "k%03d", i), valueOf(i), pebble.Sync))
	}
	fatal.If(t, db.Close())
	if disk.found.Load() < commits/20 {
		t.Fatalf("the disk was found full %d times", disk.found.Load())
	}
	options.FS = disk.FS
	if db, err = engine.Open("store", options); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range commits {
		got, closer, err := db.Get(fmt.Appendf(nil, "k%03d", i))
		if err != nil || !bytes.Equal(got, valueOf(i)) {
			t.Fatalf("key %d: %d bytes, %v", i, len(got), err)
		}
		closer.Close()
	}
}

// A close that finds the disk full fails nothing that is synced, and all that is not.
func TestCloseFindsDiskFull(t *testing.T) {
	closing := &fullAtClose{FS: vfs.NewMem()}
	for _, synced := range []bool{true, false} {
		f, err := fulldisk.RewriteUnsynced(closing).Create("000001.log", vfs.WriteCategoryUnspecified)
		fatal.If(t, err)
		if _, err := f.Write([]byte("x")); err != nil {
			t.Fatal(err)
		}
		if synced {
			fatal.If(t, f.Sync())
		}
		if err := f.Close(); (err == nil) != synced {
			t.Errorf("synced %v: %v", synced, err)
		}
	}
}

type fullAtClose struct{ vfs.FS }

func (d *fullAtClose) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.Create(name, category)
	return fullAtCloseFile{f}, err
}

type fullAtCloseFile struct{ vfs.File }

func (f fullAtCloseFile) Close() error { return errors.Join(f.File.Close(), syscall.ENOSPC) }
