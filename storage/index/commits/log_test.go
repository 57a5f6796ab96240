package commits_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func open(t testing.TB, fs vfs.FS) *commits.Log {
	t.Helper()
	db, err := engine.Open("index", engine.Options{FS: fs, Fail: func(error) {}})
	fatal.If(t, err)
	l := commits.NewLog(db, slog.New(slog.DiscardHandler))
	fatal.If(t, errors.Join(l.LoadCounts(), l.LoadChanges()))
	return l
}

// disk is a file system whose syncs of the store's log can be held up, counted and failed.
type disk struct {
	vfs.FS
	held  sync.RWMutex // while it is locked, syncs wait
	syncs atomic.Int64 // that began
	fail  atomic.Bool
}

func newDisk() *disk {
	d := new(disk)
	d.FS = errorfs.Wrap(vfs.NewMem(), errorfs.InjectorFunc(func(op errorfs.Op) error {
		switch op.Kind {
		case errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFileSyncTo:
			if strings.HasSuffix(op.Path, ".log") {
				d.syncs.Add(1)
				d.held.RLock()
				defer d.held.RUnlock()
				if d.fail.Load() {
					return errorfs.ErrInjected
				}
			}
		}
		return nil
	}))
	return d
}

// put is a change of one key that adds a metric.
func put(key, value string) func(*commits.Change) error {
	return func(c *commits.Change) error {
		c.Live++
		return c.Set([]byte(key), []byte(value), nil)
	}
}

func get(t testing.TB, l *commits.Log, key string) string {
	t.Helper()
	value, err := l.Get([]byte(key))
	if errors.Is(err, pebble.ErrNotFound) {
		return ""
	}
	fatal.If(t, err)
	return string(value)
}

// Each check sees the writes of all earlier ones, so of many that count one up none is lost.
func TestWritesAreOrdered(t *testing.T) {
	l := open(t, vfs.NewMem())
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			for range 10 {
				if err := l.Write(t.Context(), func(c *commits.Change) error {
					n := len(get(t, l, "n"))
					return put("n", strings.Repeat("x", n+1))(c)
				}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	if n, live := len(get(t, l, "n")), l.Live.Load(); n != 200 || live != 200 {
		t.Errorf("200 writes counted to %d, and %d metrics", n, live)
	}
	fatal.If(t, l.DB.Close())
}

// A refused change, or one whose caller has gone, leaves no key, no count and no trace among the changes.
func TestARefusedChangeLeavesNothing(t *testing.T) {
	l := open(t, vfs.NewMem())
	_, _, last, _ := l.ChangesSince(0)
	refused := errors.New("refused")
	if err := l.Write(t.Context(), func(c *commits.Change) error {
		c.TouchMetric(uuid.New())
		return errors.Join(put("k", "v")(c), refused)
	}); !errors.Is(err, refused) {
		t.Errorf("a refused write ends with %v", err)
	}
	if err := l.WriteSynced(t.Context(), func(b *pebble.Batch) (func(), error) {
		return func() { t.Error("a refused write replaces") }, errors.Join(b.Set([]byte("k"), nil, nil), refused)
	}); !errors.Is(err, refused) {
		t.Errorf("a refused synced write ends with %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if err := l.Write(gone, put("k", "v")); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled write ends with %v", err)
	}
	if err := l.WriteSynced(gone, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled synced write ends with %v", err)
	}
	if has, err := l.Has([]byte("k")); has || err != nil || l.Live.Load() != 0 {
		t.Errorf("key %v (%v), %d metrics; want none", has, err, l.Live.Load())
	}
	if metrics, _, _, ok := l.ChangesSince(last); len(metrics) > 0 || !ok {
		t.Errorf("changes %v, %v; want none", metrics, ok)
	}
	fatal.If(t, l.DB.Close())
}

// While a sync is slow, writes enter the log and share the next one. Neither a success nor a conflict nor a read is
// answered before the sync of its cause.
func TestAnswersWaitForASharedSync(t *testing.T) {
	const writes = 30
	d := newDisk()
	l := open(t, d)
	fatal.If(t, l.Write(t.Context(), put("first", "v")))
	before := d.syncs.Load()
	d.held.Lock()
	var released atomic.Bool
	var all sync.WaitGroup
	answered := func(what string, err error) {
		if !released.Load() {
			t.Errorf("%s before the sync", what)
		}
		if err != nil {
			t.Errorf("%s: %v", what, err)
		}
	}
	for i := range writes {
		all.Go(func() { answered("a write is answered", l.Write(t.Context(), put(fmt.Sprint(i), "v"))) })
	}
	for l.Live.Load() < 1+writes {
		time.Sleep(time.Millisecond)
	}
	conflict := errors.New("conflict")
	all.Go(func() {
		err := l.Write(t.Context(), func(*commits.Change) error { return conflict })
		if errors.Is(err, conflict) {
			err = nil
		}
		answered("a conflict is answered", err)
	})
	all.Go(func() {
		answered("an empty write is answered", l.Write(t.Context(), func(*commits.Change) error { return nil }))
	})
	all.Go(func() { answered("a read is answered", l.WaitDurable()) })
	time.Sleep(20 * time.Millisecond)
	released.Store(true)
	d.held.Unlock()
	all.Wait()
	if n := d.syncs.Load() - before; n > 3 {
		t.Errorf("%d writes took %d syncs", writes, n)
	}
	fatal.If(t, l.WaitDurable())
	fatal.If(t, l.DB.Close())
}

// A failed sync is an error for the write, and for all that could have read it.
func TestAFailedSyncIsReported(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	d.fail.Store(true)
	if err := l.Write(t.Context(), put("k", "v")); !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("a write that is not synced ends with %v", err)
	}
	if err := l.WaitDurable(); !errors.Is(err, errorfs.ErrInjected) {
		t.Errorf("a read of what is not synced ends with %v", err)
	}
}

// After a crash at any write to the disk, each change is there as a whole or not at all, with its counts, and all that
// were acknowledged are there.
func TestACrashLeavesWholeChanges(t *testing.T) {
	type crash struct {
		fs    *vfs.MemFS
		acked int
	}
	var mu sync.Mutex // guards crashes, acked
	var crashes []crash
	acked := 0
	mem := vfs.NewCrashableMem()
	l := open(t, errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
		mu.Lock()
		defer mu.Unlock()
		if op.Kind.ReadOrWrite() == errorfs.OpIsWrite {
			crashes = append(crashes, crash{mem.CrashClone(vfs.CrashCloneCfg{}), acked})
		}
		return nil
	})))
	const changes = 10
	for i := range changes {
		fatal.If(t, l.Write(t.Context(), func(c *commits.Change) error {
			c.Resources, c.Deleted = 2, 3
			return errors.Join(put(fmt.Sprint("a", i), "v")(c), c.Set(fmt.Append(nil, "b", i), []byte("v"), nil))
		}))
		mu.Lock()
		acked++
		mu.Unlock()
	}
	fatal.If(t, l.DB.Close())
	if len(crashes) < changes {
		t.Fatalf("only %d writes to the disk", len(crashes))
	}
	for _, c := range crashes {
		l := open(t, c.fs)
		n := 0
		for i := range changes {
			a, b := get(t, l, fmt.Sprint("a", i)), get(t, l, fmt.Sprint("b", i))
			if a != b || a != "" && n < i {
				t.Errorf("after %d changes a crash leaves %q and %q of change %d", c.acked, a, b, i)
			}
			if a != "" {
				n++
			}
		}
		if n < c.acked || n > c.acked+1 {
			t.Errorf("after %d changes a crash leaves %d", c.acked, n)
		}
		if live, deleted, resources := l.Live.Load(), l.Deleted.Load(), l.Resources.Load(); live != int64(n) ||
			deleted != int64(3*n) || resources != int64(2*n) {
			t.Errorf("%d changes count %d, %d and %d", n, live, deleted, resources)
		}
		fatal.If(t, l.DB.Close())
	}
}

// ChangesSince names each change once it is in the store, in order; if it may lack any, it says so.
func TestChangesSince(t *testing.T) {
	l := open(t, vfs.NewMem())
	write := func(touch func(c *commits.Change)) {
		t.Helper()
		fatal.If(t, l.Write(t.Context(), func(c *commits.Change) error {
			touch(c)
			return c.Set([]byte("k"), nil, nil)
		}))
	}
	a, b, resource := uuid.New(), uuid.New(), uuid.New()
	write(func(c *commits.Change) { c.TouchMetric(a) })
	_, _, first, _ := l.ChangesSince(0)
	write(func(c *commits.Change) { c.TouchMetric(a); c.TouchResource(resource) })
	write(func(c *commits.Change) { c.TouchMetric(b) })
	f := func(since uint64, wantMetrics, wantResources []uuid.UUID) {
		t.Helper()
		metrics, resources, last, ok := l.ChangesSince(since)
		if fmt.Sprint(metrics, resources) != fmt.Sprint(wantMetrics, wantResources) || last != first+3 || !ok {
			t.Errorf("since %d: %v, %v to %d, %v", since-first, metrics, resources, last-first, ok)
		}
	}
	f(first, []uuid.UUID{a, b}, []uuid.UUID{resource})
	f(first+2, []uuid.UUID{b}, nil)
	f(first+3, nil, nil)
	for _, unknown := range []uint64{0, first + 4} {
		if _, _, last, ok := l.ChangesSince(unknown); ok || last != first+3 {
			t.Errorf("since %d: to %d, %v; want unknown", unknown-first, last-first, ok)
		}
	}
	fatal.If(t, l.WriteSynced(t.Context(), func(*pebble.Batch) (func(), error) { return func() {}, nil }))
	_, _, last, ok := l.ChangesSince(first + 3)
	if ok {
		t.Error("a synced write, after which anything may read differently, is not noticed")
	}
	write(func(c *commits.Change) {
		for range 1<<18 + 1 {
			c.TouchMetric(a)
		}
	})
	if _, _, _, ok := l.ChangesSince(last); ok {
		t.Error("more changes are known than are remembered")
	}
	fatal.If(t, l.DB.Close())
}

// A synced write is durable, under the lock, when it replaces what is in memory.
func TestWriteSynced(t *testing.T) {
	d := newDisk()
	l := open(t, d)
	before := d.syncs.Load()
	replaced := false
	fatal.If(t, l.WriteSynced(t.Context(), func(b *pebble.Batch) (func(), error) {
		return func() {
			replaced = true
			if d.syncs.Load() == before || get(t, l, "k") != "v" {
				t.Error("replaced before it was durable")
			}
		}, b.Set([]byte("k"), []byte("v"), nil)
	}))
	if !replaced {
		t.Error("not replaced")
	}
	fatal.If(t, l.DB.Close())
}

// Has of a change is about the store, not about the change.
func TestAChangeSeesTheStore(t *testing.T) {
	l := open(t, vfs.NewMem())
	fatal.If(t, l.Write(t.Context(), put("there", "v")))
	fatal.If(t, l.Write(t.Context(), func(c *commits.Change) error {
		if err := put("new", "v")(c); err != nil {
			return err
		}
		for key, want := range map[string]bool{"new": false, "there": true, "ther": false, "there2": false} {
			if has, err := c.Has([]byte(key)); has != want || err != nil {
				t.Errorf("has %q: %v, %v", key, has, err)
			}
		}
		return nil
	}))
	fatal.If(t, l.DB.Close())
}

func TestScan(t *testing.T) {
	l := open(t, vfs.NewMem())
	for i := range 40 {
		fatal.If(t, l.DB.Set(fmt.Appendf(nil, "a%02d", i), []byte{byte(i)}, pebble.NoSync))
	}
	fatal.If(t, l.DB.Set([]byte("b"), nil, pebble.NoSync))
	stop := errors.New("stop")
	f := func(ctx context.Context, from []byte, end int, fail error, first, last int, want error) {
		t.Helper()
		var seen []int
		err := l.Scan(ctx, []byte("a"), from, func(key, value []byte) (bool, error) {
			seen = append(seen, int(value[0]))
			return int(value[0]) != end, fail
		})
		if len(seen) != last-first+1 || seen[0] != first || seen[len(seen)-1] != last || !errors.Is(err, want) {
			t.Errorf("from %q to %d: %v, %v", from, end, seen, err)
		}
	}
	f(t.Context(), nil, -1, nil, 0, 39, nil)
	f(t.Context(), []byte("a38"), -1, nil, 38, 39, nil)
	f(t.Context(), nil, 7, nil, 0, 7, nil)
	f(t.Context(), nil, -1, stop, 0, 0, stop)
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	f(gone, nil, -1, nil, 0, 14, context.Canceled)
	fatal.If(t, l.DB.Close())
}

// Bytes that do not decode are counted and skipped; any other error is not.
func TestSkipCorrupt(t *testing.T) {
	l := open(t, vfs.NewMem())
	if !l.SkipCorrupt(fmt.Errorf("value: %w", storage.ErrCorrupt)) || l.SkipCorrupt(errors.New("disk")) {
		t.Error("only bytes that do not decode are skipped")
	}
	if n := testutil.ToFloat64(l.Corrupt); n != 1 {
		t.Errorf("%v values are counted", n)
	}
	for _, counts := range [][]byte{make([]byte, 23), binary.BigEndian.AppendUint64(nil, 1)} {
		fatal.If(t, l.DB.Set(keyspace.Counts, counts, pebble.NoSync))
		if err := l.LoadCounts(); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("counts of %d bytes: %v", len(counts), err)
		}
	}
	fatal.If(t, l.DB.Close())
}

// The store remembers changes over a restart, and the session of each.
func TestChangesAfterARestart(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	write := func(n int) (last, session uint64) {
		t.Helper()
		fatal.If(t, l.Write(t.Context(), func(c *commits.Change) error {
			for range n {
				c.TouchMetric(uuid.New())
			}
			return c.Set([]byte("k"), nil, nil)
		}))
		_, _, last, _ = l.ChangesSince(0)
		session, ok := l.SessionOf(last)
		if !ok {
			t.Errorf("the session of change %d is unknown", last)
		}
		return last, session
	}
	first, of := write(2)
	if _, ok := l.SessionOf(first - 1); ok {
		t.Error("a change amid a commit has a session")
	}
	fatal.If(t, l.DB.Close())
	l = open(t, fs)
	last, session := write(3)
	metrics, _, at, ok := l.ChangesSince(first)
	if len(metrics) != 3 || at != last || last != first+3 || !ok {
		t.Errorf("since %d: %v to %d, %v", first, metrics, at, ok)
	}
	if again, ok := l.SessionOf(first); again != of || !ok || session == of {
		t.Errorf("sessions %x, then %x and %x", of, again, session)
	}
	fatal.If(t, l.DB.Close())
}

// The store forgets old changes, not all of them.
func TestChangesAreForgotten(t *testing.T) {
	fs := vfs.NewMem()
	l := open(t, fs)
	_, _, first, _ := l.ChangesSince(0)
	const each = 1 << 14
	for range 40 {
		fatal.If(t, l.Write(t.Context(), func(c *commits.Change) error {
			for range each {
				c.TouchMetric(uuid.Nil)
			}
			return c.Set([]byte("k"), nil, nil)
		}))
	}
	_, _, last, ok := l.ChangesSince(first)
	if ok || last != first+40*each {
		t.Errorf("since the first: to %d, %v", last-first, ok)
	}
	for range 2 {
		for n := range uint64(9) {
			if metrics, _, _, ok := l.ChangesSince(last - n*each); !ok || len(metrics) != int(n*each) {
				t.Errorf("the last %d changes: %d, %v", n*each, len(metrics), ok)
			}
		}
		fatal.If(t, l.DB.Close())
		l = open(t, fs)
	}
	fatal.If(t, l.DB.Close())
}
