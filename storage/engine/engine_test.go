package engine_test

import (
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestOpen(t *testing.T) {
	fs := vfs.NewMem()
	db, err := engine.Open("store", engine.Options{FS: fs})
	fatal.If(t, err)
	fatal.If(t, db.Set([]byte("k"), []byte("v"), pebble.Sync))
	if got := db.FormatMajorVersion(); got != pebble.FormatValueSeparation {
		t.Errorf("format version %d", got)
	}
	fatal.If(t, db.Close())

	db, err = engine.Open("store", engine.Options{FS: fs, ReadOnly: true})
	fatal.If(t, err)
	defer db.Close()
	value, closer, err := db.Get([]byte("k"))
	if err != nil || string(value) != "v" {
		t.Fatalf("read %q, %v", value, err)
	}
	closer.Close()
	if err := db.Set([]byte("k"), nil, pebble.Sync); !errors.Is(err, pebble.ErrReadOnly) {
		t.Errorf("write to a store opened for reading: %v", err)
	}
}

// A flush that fails makes the store unusable; Fail hears of it once, though Pebble tries again and again.
func TestFailedFlush(t *testing.T) {
	var inject atomic.Bool
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if inject.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			return errorfs.ErrInjected
		}
		return nil
	}))
	failed := make(chan error, 2)
	db, err := engine.Open("store", engine.Options{FS: fs, Fail: func(err error) { failed <- err }})
	fatal.If(t, err)
	fatal.If(t, db.Set([]byte("k"), []byte("v"), pebble.Sync))
	inject.Store(true)
	flushed, err := db.AsyncFlush()
	fatal.If(t, err)
	if err := <-failed; !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("failed with %v", err)
	}
	inject.Store(false)
	<-flushed
	fatal.If(t, db.Close())
	if len(failed) != 0 {
		t.Errorf("Fail was told again: %v", <-failed)
	}
}

// A flush that meets corrupt bytes is told once, and is not tried again without a pause; the store can be closed.
func TestCorruptFlush(t *testing.T) {
	var inject atomic.Bool
	var tries atomic.Int64
	fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		if inject.Load() && op.Kind == errorfs.OpCreate && strings.HasSuffix(op.Path, ".sst") {
			tries.Add(1)
			return fmt.Errorf("injected: %w", pebble.ErrCorruption)
		}
		return nil
	}))
	corrupt := make(chan error, 1000)
	db, err := engine.Open("store", engine.Options{FS: fs, Fail: func(err error) { t.Error(err) },
		Corrupt: func(err error) { corrupt <- err }})
	fatal.If(t, err)
	fatal.If(t, db.Set([]byte("k"), []byte("v"), pebble.Sync))
	inject.Store(true)
	if _, err := db.AsyncFlush(); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if err := <-corrupt; !pebble.IsCorruptionError(err) {
		t.Errorf("told %v", err)
	}
	for tries.Load() < 3 {
		time.Sleep(time.Millisecond)
	}
	if pauses := time.Since(began) / (100 * time.Millisecond); tries.Load() > int64(pauses)+3 {
		t.Errorf("%d tries in %v", tries.Load(), time.Since(began))
	}
	_ = db.Close()
	if len(corrupt) > 0 {
		t.Errorf("told again: %v", <-corrupt)
	}
	inject.Store(false)
	db, err = engine.Open("store", engine.Options{FS: fs})
	fatal.If(t, err)
	defer db.Close()
	value, closer, err := db.Get([]byte("k"))
	if err != nil || string(value) != "v" {
		t.Fatalf("%q, %v", value, err)
	}
	closer.Close()
}

func TestCollector(t *testing.T) {
	collector := engine.NewPebbleCollector()
	var dbs []*pebble.DB
	for _, dir := range []string{"a", "b", "c"} {
		db, err := engine.Open(dir, engine.Options{FS: vfs.NewMem()})
		fatal.If(t, err)
		defer db.Close()
		fatal.If(t, db.Set([]byte("k"), []byte("v"), pebble.Sync))
		fatal.If(t, db.Flush())
		dbs = append(dbs, db)
	}
	collector.Register("sacks", dbs[0], engine.ShortLog, nil)
	collector.Register("sacks", dbs[1], engine.ShortLog, nil)
	collector.Register("index", dbs[2], engine.ShortLog, nil)
	registry := prometheus.NewPedanticRegistry()
	registry.MustRegister(collector)

	f := func(name, want string) {
		t.Helper()
		if got := gather(t, registry, name); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	f("gnocco_store_open", "index=1 sacks=2")
	f("gnocco_store_tables", "index=1 sacks=2")
	tableBytes := func(db *pebble.DB) float64 { return float64(db.Metrics().Levels[0].TablesSize) }
	f("gnocco_store_flushed_bytes_total",
		fmt.Sprintf("index=%v sacks=%v", tableBytes(dbs[2]), tableBytes(dbs[0])+tableBytes(dbs[1])))
	f("gnocco_store_read_amplification", "index=1 sacks=1") // the highest, not the sum
	collector.Unregister(dbs[0])
	collector.Unregister(dbs[2])
	f("gnocco_store_tables", "sacks=1")
}

// gather returns the values of one metric as "store=value", by store.
func gather(t *testing.T, registry *prometheus.Registry, name string) string {
	t.Helper()
	families, err := registry.Gather()
	fatal.If(t, err)
	var values []string
	for _, family := range families {
		if family.GetName() != name {
			continue
		}
		for _, m := range family.GetMetric() {
			values = append(values, fmt.Sprintf("%s=%v", m.GetLabel()[0].GetValue(),
				m.GetGauge().GetValue()+m.GetCounter().GetValue()))
		}
	}
	return strings.Join(values, " ")
}

// A failure of a log ends the process by Fail, with its exit status, and not by Pebble's panic. Here Fail ends a
// goroutine's work by never coming back.
func TestFailedLog(t *testing.T) {
	for _, kind := range []struct {
		name string
		is   func(errorfs.Op) bool
	}{
		{"create", func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpCreate || op.Kind == errorfs.OpReuseForWrite
		}},
		{"write", func(op errorfs.Op) bool { return op.Kind == errorfs.OpFileWrite }},
		{"sync", func(op errorfs.Op) bool {
			return op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		}},
	} {
		t.Run(kind.name, func(t *testing.T) {
			var inject atomic.Bool
			fs := errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
				if inject.Load() && strings.HasSuffix(op.Path, ".log") && kind.is(op) {
					return errorfs.ErrInjected
				}
				return nil
			}))
			failed := make(chan error, 1)
			db, err := engine.Open("store", engine.Options{FS: fs, MemTableSize: 256 << 10,
				Fail: func(err error) {
					failed <- err
					select {}
				}})
			fatal.If(t, err)
			inject.Store(true)
			go func() {
				for i := range 1000 {
					_ = db.Set(fmt.Append(nil, i), make([]byte, 4<<10), pebble.Sync)
				}
			}()
			if err := <-failed; !errors.Is(err, errorfs.ErrInjected) ||
				!strings.HasPrefix(err.Error(), "store store: ") {
				t.Errorf("failed with %v", err)
			}
		})
	}
}
