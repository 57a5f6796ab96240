package fulldisk

import (
	"bytes"
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestReserveFile(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	r := NewReserveFile(dir, 1<<20, slog.New(slog.NewTextHandler(&log, nil)))
	if r.Remove() {
		t.Error("removed what was never there")
	}
	for range 2 {
		fatal.If(t, r.ensure())
		if info, err := os.Stat(filepath.Join(dir, "reserve")); err != nil || info.Size() != 256<<10 {
			t.Errorf("reserve file: %v, %v", info, err)
		}
	}
	if !r.Remove() || r.Remove() || log.Len() == 0 {
		t.Errorf("not removed once: %s", log.String())
	}
	r.needed = 1 << 62 // more than any disk has
	fatal.If(t, r.ensure())
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("with too little room: %v, %v", left, err)
	}
}

// A quota that is used up is a full disk that shows room: attempts are rare, as each one changes the folder of all.
func TestReserveFileOnAFullQuota(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := NewReserveFile(dir, 1<<20, slog.New(slog.DiscardHandler))
		var tried atomic.Int32
		var roomy atomic.Bool
		r.allocate = func(*os.File, int64) error {
			if tried.Add(1); !roomy.Load() {
				return syscall.EDQUOT
			}
			return nil
		}
		ctx, cancel := context.WithCancel(t.Context())
		go r.Reconcile(ctx)
		time.Sleep(59 * time.Second)
		if n := tried.Load(); n != 2 {
			t.Errorf("tried %d times in a minute", n)
		}
		roomy.Store(true)
		for range 10 {
			r.Remove() // something waits for room
			time.Sleep(time.Second)
		}
		if tried.Load() != 2 {
			t.Error("tried while something waits for room")
		}
		time.Sleep(3 * time.Second)
		if _, err := os.Stat(r.path); err != nil {
			t.Errorf("not made when there is room: %v", err)
		}
		cancel()
		synctest.Wait()
	})
}

// A writer that waits for room asks several times a second, and the folder of all is looked at once.
func TestReserveFileIsLookedForRarely(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := NewReserveFile(dir, 1<<20, slog.New(slog.DiscardHandler))
		if r.Remove() {
			t.Error("removed what was never there")
		}
		if err := os.WriteFile(r.path, nil, 0o600); err != nil { // by another process
			t.Fatal(err)
		}
		if r.Remove() {
			t.Error("looked at again at once")
		}
		if time.Sleep(reserveInterval); !r.Remove() {
			t.Error("not looked at again")
		}
	})
}

// A look at the data folder that hangs holds up nothing that waits for room.
func TestReserveFileOnAFolderThatHangs(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		r := NewReserveFile(dir, 1<<20, slog.New(slog.DiscardHandler))
		var asked atomic.Int32
		hangs := make(chan struct{})
		r.remove = func(string) error {
			asked.Add(1)
			<-hangs
			return nil
		}
		begun := time.Now()
		for range 100 {
			if r.Remove() {
				t.Error("removed nothing")
			}
		}
		if took := time.Since(begun); asked.Load() != 1 || took > 2*reserveInterval {
			t.Errorf("asked %d times in %v", asked.Load(), took)
		}
		close(hangs)
		if synctest.Wait(); !r.Remove() {
			t.Error("not removed when the folder answers")
		}
	})
}
