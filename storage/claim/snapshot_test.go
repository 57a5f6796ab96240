package claim_test

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// The holder of a store does not notice snapshots, and each has what was committed before it was taken.
func TestSnapshotOfAnOpenStore(t *testing.T) {
	fs := vfs.Default
	t.Chdir(t.TempDir())
	fatal.If(t, fs.MkdirAll(storeDir, 0o750))
	db := openStore(t, fs, storeDir+"/e1")
	const count = 600
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
		view, err := engine.Open(s.Path, engine.Options{FS: s, ReadOnly: true, MemTableSize: 256 << 10,
			Fail: func(error) {}})
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
	fatal.If(t, db.Close())
}
