package engine_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
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

// smallDisk is a disk in memory with so many bytes left. The write that finds too few takes what fits, as a real one
// does.
type smallDisk struct {
	vfs.FS
	left atomic.Int64
	err  error // of a write without room; nil: ENOSPC
}

func (d *smallDisk) full(what string) error {
	return fmt.Errorf("%s: %w", what, cmp.Or[error](d.err, syscall.ENOSPC))
}

func (d *smallDisk) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if d.left.Load() <= 0 {
		return nil, d.full("create " + filepath.Base(name))
	}
	f, err := d.FS.Create(name, category)
	return &smallFile{f, d}, err
}

func (d *smallDisk) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	f, err := d.FS.ReuseForWrite(oldname, newname, category)
	return &smallFile{f, d}, err
}

type smallFile struct {
	vfs.File
	disk *smallDisk
}

func (f *smallFile) Write(b []byte) (int, error) {
	fits := min(int64(len(b)), max(f.disk.left.Load(), 0))
	f.disk.left.Add(-fits)
	n, err := f.File.Write(b[:fits])
	if err == nil && int(fits) < len(b) {
		err = f.disk.full("write")
	}
	return n, err
}

// A full disk keeps commits waiting and reads going; when there is room they are done, once, and a store that is opened
// anew has them all. The test uses no bubble: a flush that finds the disk full pauses with Pebble's lock held, and a
// bubble's time stands still while another goroutine waits for that lock.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	disk := &smallDisk{FS: vfs.NewMem()}
	disk.left.Store(1 << 20)
	var asked atomic.Int64
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fs := fulldisk.RetryWhenFull(ctx, disk, func() bool { asked.Add(1); return false })
	options := engine.Options{FS: fs, MemTableSize: 64 << 10, Fail: func(err error) { t.Error(err) }}
	db, err := engine.Open("store", options)
	fatal.If(t, err)
	const commits = 400
	value := []byte(strings.Repeat("v", 4096))
	done := make(chan error, 1)
	go func() {
		for i := range commits {
			if err := db.Set(fmt.Appendf(nil, "k%03d", i), value, pebble.Sync); err != nil {
				done <- err
				return
			}
		}
		done <- nil
	}()
	for deadline := time.Now().Add(2 * time.Minute); asked.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("the disk does not get full")
		}
	}
	if _, closer, err := db.Get([]byte("k000")); err != nil {
		t.Errorf("read while the disk is full: %v", err)
	} else {
		closer.Close()
	}
	select {
	case err := <-done:
		t.Fatalf("commits do not wait: %v", err)
	default:
	}
	disk.left.Store(1 << 30)
	fatal.If(t, <-done)
	fatal.If(t, db.Close())
	if db, err = engine.Open("store", options); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for i := range commits {
		got, closer, err := db.Get(fmt.Appendf(nil, "k%03d", i))
		if err != nil || string(got) != string(value) {
			t.Fatalf("key %d: %d bytes, %v", i, len(got), err)
		}
		closer.Close()
	}
}

// A disk that is full while a store is opened, however far that is, delays the opening or fails it. It does not reach
// Options.Fail, which ends the process.
func TestOpenOnFullDisk(t *testing.T) {
	for left := int64(0); left < 8<<10; left += 800 {
		t.Run(fmt.Sprintf("left=%d", left), func(t *testing.T) {
			t.Parallel()
			disk := &smallDisk{FS: vfs.NewMem()}
			disk.left.Store(1 << 30)
			fs := fulldisk.RetryWhenFull(t.Context(), disk, func() bool {
				disk.left.Store(1 << 30) // for the next attempt
				return false
			})
			options := engine.Options{FS: fs, Fail: func(err error) { t.Error(err) }}
			set := func(key string) {
				t.Helper()
				db, err := engine.Open("store", options)
				if err == nil {
					err = errors.Join(db.Set([]byte(key), []byte("value"), pebble.Sync), db.Close())
				}
				fatal.If(t, err)
			}
			set("a")
			disk.left.Store(left)
			db, err := engine.Open("store", options)
			if err == nil {
				err = db.Close()
			}
			if err != nil && !errors.Is(err, syscall.ENOSPC) {
				t.Error(err)
			}
			set("b")
			if db, err = engine.Open("store", options); err != nil {
				t.Fatal(err)
			}
			defer db.Close()
			for _, key := range []string{"a", "b"} {
				_, closer, err := db.Get([]byte(key))
				if err != nil {
					t.Fatalf("%s: %v", key, err)
				}
				closer.Close()
			}
		})
	}
}

// A write goes on as soon as there is room, and a caller that has given up waiting gets the error.
func TestRetryWhenFull(t *testing.T) {
	for _, full := range []error{syscall.ENOSPC, syscall.EDQUOT} {
		t.Run(full.Error(), func(t *testing.T) { testRetryWhenFull(t, full) })
	}
}

func testRetryWhenFull(t *testing.T, full error) {
	disk := &smallDisk{FS: vfs.NewMem(), err: full}
	disk.left.Store(10)
	ballast := int64(20)
	ctx, cancel := context.WithCancel(t.Context())
	fs := fulldisk.RetryWhenFull(ctx, disk, func() bool {
		freed := ballast > 0
		disk.left.Add(ballast)
		ballast = 0
		return freed
	})
	write := func(name string, size, want int, wantErr error) {
		t.Helper()
		f, err := fs.Create(name, vfs.WriteCategoryUnspecified)
		fatal.If(t, err)
		defer f.Close()
		if n, err := f.Write(make([]byte, size)); n != want || !errors.Is(err, wantErr) {
			t.Errorf("%s: %d bytes written, %v", name, n, err)
		}
		if info, err := fs.Stat(name); err != nil || info.Size() != int64(want) {
			t.Errorf("%s: %v, %v", name, info, err)
		}
	}
	write("000001.sst", 25, 25, nil)
	write("000002.sst", 10, 5, full)
	disk.left.Store(1)
	time.AfterFunc(300*time.Millisecond, func() { disk.left.Store(100) })
	write("000003.log", 50, 50, nil)
	cancel()
	write("000004.log", 100, 51, full)
}
