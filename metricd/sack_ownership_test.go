package metricd_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// worker starts a second Metricd beside a node's, which takes from the same stores.
func worker(t *testing.T, n *testnode.Node, fs vfs.FS, sacks int) *metricd.Metricd {
	t.Helper()
	w, err := testnode.Workers(metricd.Options{Sacks: sacks, Index: testnode.WorkersIndex{Store: n.Index}, FS: fs,
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour}, "", n.Incoming)
	fatal.If(t, err)
	return w
}

func groupsOf(t *testing.T, w *metricd.Metricd, n *testnode.Node, id uuid.UUID) (*carbonara.Groups, error) {
	t.Helper()
	if err := w.Refresh(context.Background(), []uuid.UUID{id}); err != nil {
		return nil, err
	}
	metric, err := n.Index.Metric(id)
	fatal.If(t, err)
	var groups carbonara.Groups
	return &groups, w.Groups(context.Background(), model.Read{Metric: metric, Granularity: time.Minute,
		Columns: metric.ArchivePolicy.Plan().Columns, To: carbonara.MaxTimestamp}, &groups)
}

func countOf(t *testing.T, w *metricd.Metricd, n *testnode.Node, id uuid.UUID) float64 {
	t.Helper()
	groups, err := groupsOf(t, w, n, id)
	fatal.If(t, err)
	total := 0.0
	for _, count := range groups.Column(carbonara.ColumnCount) {
		total += count
	}
	return total
}

// A sack goes from one to another while measures arrive: each counts once, wherever the sack is.
func TestSackChangesHands(t *testing.T) {
	fs := vfs.NewMem()
	const sacks = 3
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: sacks, Workers: 2})
	defer n.Stop(context.Background())
	id := newMetric(t, n, 10, 1)
	sack := model.Sack(id, sacks)
	dir := filepath.Join("sacks", []string{"000", "001", "002"}[sack], "e1")
	other := worker(t, n, fs, sacks)
	defer other.Close(context.Background())

	if _, err := groupsOf(t, other, n, id); !errors.Is(err, metricd.ErrNotOwned) ||
		!errors.Is(err, model.ErrUnavailable) {
		t.Errorf("read of a sack that is not held: %v", err)
	}
	holder, free := n.Metricd, other
	for second := range 8 {
		post(t, n, id, map[int]float64{second: 1})
		if count := countOf(t, holder, n, id); count != float64(second+1) {
			t.Fatalf("%v measures count after %d", count, second+1)
		}
		ctx, cancel := context.WithCancel(context.Background())
		if second%2 == 1 {
			cancel() // no last checkpoint: the next one replays
		}
		fatal.If(t, holder.CloseSack(ctx, sack))
		cancel()
		if err := holder.CloseSack(context.Background(), sack); err != nil {
			t.Errorf("closed again: %v", err)
		}
		if _, err := groupsOf(t, holder, n, id); !errors.Is(err, metricd.ErrNotOwned) {
			t.Errorf("read of a sack that was given away: %v", err)
		}
		fatal.If(t, free.Open(sack, dir))
		if err := free.Open(sack, dir); err == nil {
			t.Error("opened twice")
		}
		holder, free = free, holder
	}
	if count := countOf(t, holder, n, id); count != 8 {
		t.Errorf("%v measures count of 8", count)
	}
	if held := len(n.Metricd.Held()) + len(other.Held()); held != sacks {
		t.Errorf("%d sacks held of %d", held, sacks)
	}
}

// Measures come from several stores, which come and go; each has its own mark.
func TestSourcesComeAndGo(t *testing.T) { synctest.Test(t, testSourcesComeAndGo) }

func testSourcesComeAndGo(t *testing.T) {
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 2})
	defer func() { n.Stop(context.Background()) }()
	id := newMetric(t, n, 10, 1)
	second, err := incoming.Open("second", incoming.Options{FS: fs, Sacks: 1, FreeSpace: func() (uint64, error) {
		return 1 << 40, nil
	}})
	fatal.If(t, err)
	defer second.Close()
	if empty, err := second.Empty(); err != nil || !empty {
		t.Errorf("a new store is not empty: %v", err)
	}
	toSecond := func(at int) {
		t.Helper()
		m := &model.Measures{Metrics: []uuid.UUID{id},
			Timestamps: []carbonara.Timestamp{start + carbonara.Timestamp(at)*1e9}, Values: []float64{1},
			Offsets: []int{0, 1}}
		fatal.If(t, second.Append(context.Background(),
			[]incoming.Block{{Sack: 0, Data: incoming.AppendBlock(nil, m, []int{0}, time.Now())}}))
	}
	want := func(count float64) {
		t.Helper()
		if got := countOf(t, n.Metricd, n, id); got != count {
			t.Fatalf("%v measures count, want %v", got, count)
		}
	}
	toSecond(0)
	post(t, n, id, map[int]float64{1: 1})
	want(1)
	for range 3 { // attached again, what is in the heads is not taken twice
		fatal.If(t, n.Metricd.Attach(second))
		want(2)
		n.Metricd.Detach(second.ID())
	}
	toSecond(2)
	want(2)
	checkpoint(t, n)
	fatal.If(t, n.Metricd.Attach(second))
	want(3)
	n.Restart(false) // without a checkpoint; the second source is attached later
	want(2)
	fatal.If(t, n.Metricd.Attach(second))
	want(3)
	checkpoint(t, n)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(time.Millisecond) {
		if empty, err := second.Empty(); err != nil || time.Now().After(deadline) {
			t.Fatalf("not empty: %v", err)
		} else if empty {
			break
		}
	}
	n.Metricd.Detach(second.ID())
	want(3)
}

// slowFolder is a file system on which the first listing of a folder waits.
type slowFolder struct {
	vfs.FS
	dir     string
	once    sync.Once
	listing chan struct{} // closed when somebody lists it
	goOn    chan struct{}
}

func (s *slowFolder) Unwrap() vfs.FS { return s.FS }

func (s *slowFolder) List(dir string) ([]string, error) {
	if dir == s.dir {
		s.once.Do(func() {
			close(s.listing)
			<-s.goOn
		})
	}
	return s.FS.List(dir)
}

// A store that is slow to open holds up no other sack.
func TestSacksOpenSideBySide(t *testing.T) {
	fs := vfs.NewMem()
	const sacks = 3
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: sacks, Workers: 2})
	defer n.Stop(context.Background())
	for sack := range 2 {
		fatal.If(t, n.Metricd.CloseSack(context.Background(), sack))
	}
	slow := &slowFolder{FS: fs, dir: "sacks/000/e1", listing: make(chan struct{}), goOn: make(chan struct{})}
	other := worker(t, n, slow, sacks)
	defer other.Close(context.Background())
	opened := make(chan error)
	go func() { opened <- other.Open(0, slow.dir) }()
	<-slow.listing
	go func() { opened <- other.Open(1, "sacks/001/e1") }()
	select {
	case err := <-opened:
		fatal.If(t, err)
	case <-time.After(time.Minute):
		t.Error("a sack waits for the opening of another one")
	}
	close(slow.goOn)
	fatal.If(t, <-opened)
}
