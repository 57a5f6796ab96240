package engine_test

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A heartbeat that records while a store is closed, and a kill right after: the logs that went are not missed.
func TestRecordWhileClosing(t *testing.T) {
	memory := vfs.NewMem()
	var recorder *engine.Recorder
	recording := false
	fs := errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpList && recording {
			recording = false
			return recorder.Record()
		}
		return nil
	}))
	recorder = engine.NewRecorder(fs)
	db, err := engine.Open("e1", engine.Options{FS: recorder})
	fatal.If(t, err)
	put(t, db, 0, 2000) // more than a closed store may keep in its log
	recording = true
	if err := engine.Close(db, recorder, "e1"); err != nil || recording {
		t.Fatal(err, recording)
	}
	if doubts, err := engine.Check(clone(t, memory), "e1"); err != nil || len(doubts) > 0 {
		t.Error(doubts, err)
	}
}

// The heartbeat and a store's holder record it one after the other: each leaves a whole record, and the later one
// stays.
func TestRecordsAreWrittenOneByOne(t *testing.T) {
	memory := vfs.NewMem()
	var recorder *engine.Recorder
	var once sync.Once
	second := make(chan error, 1)
	fs := errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpRename && strings.HasPrefix(op.Path, engine.RecordPath("e1")) {
			once.Do(func() {
				recorded := make(chan struct{})
				go func() {
					defer close(recorded)
					second <- recorder.RecordStore("e1")
				}()
				select {
				case <-recorded: // in between
				case <-time.After(100 * time.Millisecond): // it waits, as it should
				}
			})
		}
		return nil
	}))
	recorder = engine.NewRecorder(fs)
	db, err := engine.Open("e1", engine.Options{FS: recorder})
	fatal.If(t, err)
	put(t, db, 0, 1)
	if err := errors.Join(recorder.RecordStore("e1"), <-second, engine.Close(db, recorder, "e1")); err != nil {
		t.Error(err)
	}
}

// Once a store is forgotten, nothing more is written beside it, though its record was just being written: its folder
// may be another process's, or gone.
func TestForgottenStoreIsNotRecorded(t *testing.T) {
	memory := vfs.NewMem()
	var recorder *engine.Recorder
	forgotten := make(chan struct{})
	var once sync.Once
	fs := errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpRename && strings.HasPrefix(op.Path, engine.RecordPath("e1")) {
			once.Do(func() {
				go func() {
					defer close(forgotten)
					recorder.Forget("e1")
				}()
				select {
				case <-forgotten:
					t.Error("forgotten while its record was being written")
				case <-time.After(100 * time.Millisecond): // it waits, as it should
				}
			})
		}
		return nil
	}))
	recorder = engine.NewRecorder(fs)
	db, err := engine.Open("e1", engine.Options{FS: recorder})
	fatal.If(t, err)
	put(t, db, 0, 1)
	if err := recorder.RecordStore("e1"); err != nil {
		t.Error(err)
	}
	<-forgotten
	if err := errors.Join(engine.Close(db, recorder, "e1"), memory.Remove(engine.RecordPath("e1")),
		recorder.Record()); err != nil {
		t.Error(err)
	}
	if _, err := memory.Stat(engine.RecordPath("e1")); err == nil {
		t.Error("recorded after all")
	}
}

// A stop does not wait for a disk on which no table can be made: all is in the log.
func TestCloseOnFullDisk(t *testing.T) {
	t.Parallel() // it waits
	var full atomic.Bool
	memory := vfs.NewMem()
	fs := errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") && full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}))
	db, err := engine.Open("e1", engine.Options{FS: fs})
	fatal.If(t, err)
	put(t, db, 0, 2000) // more than a closed store may keep in its log
	full.Store(true)
	closed := make(chan error, 1)
	go func() { closed <- engine.Close(db, fs, "e1") }()
	select {
	case err := <-closed:
		fatal.If(t, err)
	case <-time.After(2 * time.Minute):
		t.Fatal("it waits for the disk")
	}
	got, err := contents(memory, "e1")
	if keys := strings.Count(got, "\n"); err != nil || keys != 2000 {
		t.Errorf("%d keys, %v", keys, err)
	}
}

// A stop keeps a small log as it is, and brings a larger one into a table.
func TestCloseKeepsSmallLogs(t *testing.T) {
	for _, c := range []struct {
		keys        int
		logs, table bool
	}{{100, true, false}, {2000, false, true}} {
		fs := vfs.NewMem()
		db, err := engine.Open("e1", engine.Options{FS: fs})
		fatal.If(t, err)
		put(t, db, 0, c.keys)
		fatal.If(t, engine.Close(db, fs, "e1"))
		names, err := fs.List("e1")
		fatal.If(t, err)
		table := slices.ContainsFunc(names, func(name string) bool { return strings.HasSuffix(name, ".sst") })
		if logs := logsOf(t, fs, "e1") > 0; logs != c.logs || table != c.table {
			t.Errorf("%d keys: %v", c.keys, names)
		}
	}
}
