package claim_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"gnocco/storage/claim"
	"gnocco/storage/engine"
)

// openSnapshot opens the store of a snapshot.
func openSnapshot(t *testing.T, fs vfs.FS) (*claim.Snapshot, *pebble.DB) {
	t.Helper()
	s, err := claim.TakeSnapshot(fs, storeDir)
	if err != nil {
		t.Fatal(err)
	}
	db, err := engine.Open(s.Path, engine.Options{FS: s, ReadOnly: true, Fail: func(err error) { t.Error(err) }})
	if err != nil {
		t.Fatal(err)
	}
	return s, db
}

// A snapshot has all that was committed, however the store was left, and not what comes later.
func TestSnapshot(t *testing.T) {
	for _, h := range hands {
		t.Run(h.name, func(t *testing.T) {
			fs := h.leave(t)
			s, view := openSnapshot(t, fs)
			if s.Path != h.dir {
				t.Errorf("of %s", s.Path)
			}
			path, err := claim.TakeOver(fs, storeDir, 2)
			if err != nil {
				t.Fatal(err)
			}
			db := openStore(t, fs, path)
			fill(t, db, "b")
			if err := claim.RemoveOld(fs, storeDir, 2); err != nil {
				t.Fatal(err)
			}
			if a, b := keys(t, view, "a"), keys(t, view, "b"); a != 60 || b != 0 {
				t.Errorf("%d and %d keys", a, b)
			}
			if err := errors.Join(view.Close(), s.Close(), db.Close()); err != nil {
				t.Fatal(err)
			}
		})
	}
	if _, err := claim.TakeSnapshot(vfs.NewMem(), storeDir); !errors.Is(err, claim.ErrNoStore) {
		t.Errorf("of nothing: %v", err)
	}
}

// The holder of a store does not notice snapshots, and each has what was committed before it was taken.
func TestSnapshotOfAnOpenStore(t *testing.T) {
	fs := vfs.Default
	t.Chdir(t.TempDir())
	if err := fs.MkdirAll(storeDir, 0o750); err != nil {
		t.Fatal(err)
	}
	db := openStore(t, fs, storeDir+"/e1")
	const count = 2000
	var committed atomic.Int64 // keys that are there for sure
	done := make(chan struct{})
	go func() {
		defer close(done)
		value := make([]byte, 4<<10)
		for i := range count {
			if err := db.Set(fmt.Appendf(nil, "k/%05d", i), value, pebble.Sync); err != nil {
				t.Error(err)
				return
			}
			committed.Add(1)
		}
	}()
	taken := 0
	for running := true; running; {
		select {
		case <-done:
			running = false
		default:
		}
		least := int(committed.Load())
		s, err := claim.TakeSnapshot(fs, storeDir)
		if errors.Is(err, claim.ErrUnstable) {
			continue
		}
		if err != nil {
			t.Error(err)
			break
		}
		view, err := engine.Open(s.Path, engine.Options{FS: s, ReadOnly: true, MemTableSize: 256 << 10, Fail: func(error) {}})
		if pebble.IsCorruptionError(err) { // a log that was written to while it was copied
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			break
		}
		taken++
		if n := keys(t, view, "k"); n < least {
			t.Errorf("%d keys, want at least %d", n, least)
		}
		if err := errors.Join(view.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	}
	<-done
	if taken == 0 {
		t.Error("no snapshot was taken")
	}
	if n := keys(t, db, "k"); n != count {
		t.Errorf("%d keys", n)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
