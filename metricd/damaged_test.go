package metricd_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// A sack whose flush meets corrupt bytes is told once, and can be closed; opened again without the damage it has all
// that was accepted.
func TestSackIsAbandoned(t *testing.T) {
	memory := vfs.NewMem()
	var inject atomic.Bool
	fs := errorfs.Wrap(memory, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if inject.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") &&
			strings.Contains(op.Path, "sacks") {
			return fmt.Errorf("injected: %w", pebble.ErrCorruption)
		}
		return nil
	}))
	n := testnode.Start(t, testnode.Options{FS: memory, Sacks: 1, Workers: 2})
	defer n.Stop(context.Background())
	id := newMetric(t, n, 10, 1)
	fatal.If(t, n.Metricd.CloseSack(t.Context(), 0))
	damaged := make(chan error, 10)
	w, err := testnode.Workers(metricd.Options{Sacks: 1, Index: testnode.WorkersIndex{Store: n.Index}, FS: fs,
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour,
		Damaged: func(_ int, err error) { damaged <- err }}, "", n.Incoming)
	fatal.If(t, err)
	defer w.Close(context.Background())
	dir := filepath.Join("sacks", "000", "e1")
	fatal.If(t, w.Open(0, dir))
	post(t, n, id, map[int]float64{1: 1})
	if count := countOf(t, w, n, id); count != 1 {
		t.Fatalf("%v measures count", count)
	}
	inject.Store(true)
	go func() { _ = w.Compact(context.Background()) }() // the flush never ends
	if err := <-damaged; !pebble.IsCorruptionError(err) {
		t.Errorf("told %v", err)
	}
	if open, _ := w.Abandon(0); !open {
		t.Error("was not open")
	}
	if open, err := w.Abandon(0); open || err != nil {
		t.Errorf("abandoned twice: %v", err)
	}
	if _, err := groupsOf(t, w, n, id); !errors.Is(err, metricd.ErrNotOwned) || !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("read of a sack that was abandoned: %v", err)
	}
	post(t, n, id, map[int]float64{2: 1})
	inject.Store(false)
	fatal.If(t, w.Open(0, dir))
	if count := countOf(t, w, n, id); count != 2 {
		t.Errorf("%v measures count of 2", count)
	}
	if len(damaged) > 0 {
		t.Errorf("told again: %v", <-damaged)
	}
}
