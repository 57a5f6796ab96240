package metricd_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/internal/testnode"
	"gnocco/model"
	"gnocco/storage/archive"
	"gnocco/storage/incoming"
)

const start = carbonara.Timestamp(1_700_000_400e9) // on the minute and the five minutes

// newMetric creates a metric with a policy of its own: one minute and five minutes, of which hours are kept.
func newMetric(t *testing.T, n *testnode.Node, backWindow int, hours int, methods ...string) uuid.UUID {
	t.Helper()
	ctx := context.Background()
	minute, five, timespan := time.Minute, 5*time.Minute, time.Duration(hours)*time.Hour
	id := uuid.New()
	policy, err := model.NewArchivePolicy(id.String(), backWindow, []model.DefinitionInput{
		{Granularity: &minute, Timespan: &timespan}, {Granularity: &five, Timespan: &timespan}}, methods)
	if err != nil {
		t.Fatal(err)
	}
	if err := n.Index.CreateArchivePolicy(ctx, policy); err != nil {
		t.Fatal(err)
	}
	if err := n.Index.CreateMetric(ctx, &model.Metric{ID: id, ArchivePolicy: policy, Creator: "admin"}); err != nil {
		t.Fatal(err)
	}
	return id
}

// post sends values at seconds after start, as one request.
func post(t *testing.T, n *testnode.Node, id uuid.UUID, measures map[int]float64) {
	t.Helper()
	m := &model.Measures{Metrics: []uuid.UUID{id}}
	for second, v := range measures {
		m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(second)*1e9)
		m.Values = append(m.Values, v)
	}
	m.Offsets = []int{0, len(m.Values)}
	if err := n.Post(m); err != nil {
		t.Fatal(err)
	}
}

func checkpoint(t *testing.T, n *testnode.Node) {
	t.Helper()
	if err := n.Metricd.Checkpoint(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// values returns what method answers, by seconds after start.
func values(t *testing.T, n *testnode.Node, id uuid.UUID, granularity time.Duration, method carbonara.Method) map[int]float64 {
	t.Helper()
	starts, values := n.Read(id, granularity).Aggregate(method, nil, nil)
	answer := make(map[int]float64)
	for i, at := range starts {
		answer[int((at-start)/1e9)] = values[i]
	}
	return answer
}

func requireValues(t *testing.T, got, want map[int]float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("got %v, want %v", got, want)
	}
	for second, v := range want {
		if got[second] != v {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

func TestMeasuresAreVisibleBeforeAndAfterTheCheckpoint(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 4, Workers: 2})
	defer n.Stop(context.Background())
	id := newMetric(t, n, 0, 1)
	post(t, n, id, map[int]float64{1: 1, 59: 3, 60: 10})
	for range 2 {
		requireValues(t, values(t, n, id, time.Minute, carbonara.Mean), map[int]float64{0: 2, 60: 10})
		requireValues(t, values(t, n, id, 5*time.Minute, carbonara.Sum), map[int]float64{0: 14})
		checkpoint(t, n)
	}
}

func TestLateMeasuresRewriteOnlyTheirGroups(t *testing.T) {
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	id := newMetric(t, n, 2, 1)
	post(t, n, id, map[int]float64{0: 1, 60: 2, 120: 3, 180: 4, 240: 5, 300: 6})
	checkpoint(t, n)
	const groups = "gnocco_metricd_checkpoint_groups_total"
	before := n.Counter(groups)
	post(t, n, id, map[int]float64{61: 8})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 1, 60: 10, 120: 3, 180: 4, 240: 5, 300: 6})
	checkpoint(t, n)
	if n := n.Counter(groups) - before; n != 2 {
		t.Errorf("%v groups written for one late measure at two granularities", n)
	}
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 1, 60: 10, 120: 3, 180: 4, 240: 5, 300: 6})
	requireValues(t, values(t, n, id, 5*time.Minute, carbonara.Count), map[int]float64{0: 6, 300: 1})
	n.Stop(context.Background())
}

func TestTooOldMeasuresAreDroppedAndCounted(t *testing.T) {
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	id := newMetric(t, n, 0, 1)
	post(t, n, id, map[int]float64{600: 1, 0: 2}) // a first request is never cut
	post(t, n, id, map[int]float64{599: 5, 1: 6, 601: 7})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 2, 600: 8})
	n.Restart(true)
	post(t, n, id, map[int]float64{300: 9, 602: 1})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 2, 600: 9})
	n.Stop(context.Background())
	store, err := archive.Open("sacks/000/e1", archive.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if dropped, err := store.Dropped(id); err != nil || dropped != 3 {
		t.Errorf("%d dropped (%v), want 3", dropped, err)
	}
}

func TestExpiredGroupsAndSplitsGo(t *testing.T) {
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	id := newMetric(t, n, 0, 1)
	const split = 3600 * 60 // seconds, at one minute
	post(t, n, id, map[int]float64{0: 1})
	checkpoint(t, n)
	post(t, n, id, map[int]float64{3599: 2})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 1, 3540: 2})
	post(t, n, id, map[int]float64{3600: 3})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{3540: 2, 3600: 3})
	checkpoint(t, n)
	post(t, n, id, map[int]float64{3 * split: 4})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{3 * split: 4})
	n.Stop(context.Background())
	store, err := archive.Open("sacks/000/e1", archive.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if oldest, ok, err := store.Oldest(id, time.Minute); err != nil || !ok || oldest < start+3600*1e9 {
		t.Errorf("the oldest split starts at %v (%v, %v)", oldest.Time(), ok, err)
	}
}

func TestDeletedMetricsAreExpunged(t *testing.T) {
	ctx := context.Background()
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 2, Workers: 1})
	id, other := newMetric(t, n, 0, 1), newMetric(t, n, 0, 1)
	for _, id := range []uuid.UUID{id, other} {
		post(t, n, id, map[int]float64{0: 1})
	}
	checkpoint(t, n)
	post(t, n, id, map[int]float64{1: 1})
	if err := n.Metricd.Refresh(ctx, []uuid.UUID{id}); err != nil {
		t.Fatal(err)
	}
	if err := n.Index.DeleteMetric(ctx, id); err != nil {
		t.Fatal(err)
	}
	post(t, n, id, map[int]float64{2: 1}) // accepted while it was still known
	if err := n.Metricd.Expunge(ctx); err != nil {
		t.Fatal(err)
	}
	checkpoint(t, n)
	if _, err := n.Index.Metric(id); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("the index answers %v", err)
	}
	requireValues(t, values(t, n, other, time.Minute, carbonara.Sum), map[int]float64{0: 1})
	n.Stop(ctx)
	for _, dir := range []string{"sacks/000/e1", "sacks/001/e1"} {
		store, err := archive.Open(dir, archive.Options{FS: fs})
		if err != nil {
			t.Fatal(err)
		}
		if timestamps, _, _, err := store.Raw(id, nil, nil); err != nil || len(timestamps) > 0 {
			t.Errorf("%d raw measures are left in %s (%v)", len(timestamps), dir, err)
		}
		if _, ok, err := store.Newest(id, time.Minute); err != nil || ok {
			t.Errorf("groups are left in %s (%v)", dir, err)
		}
		store.Close()
	}
}

func TestAChangedPolicyCountsAtOnce(t *testing.T) {
	ctx := context.Background()
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(ctx)
	id := newMetric(t, n, 0, 2)
	post(t, n, id, map[int]float64{0: 1, 3600: 2})
	checkpoint(t, n)
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 1, 3600: 2})
	metric, err := n.Index.Metric(id)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := n.Index.UpdateArchivePolicy(ctx, metric.ArchivePolicy.Name, func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		minute, five, timespan := time.Minute, 5*time.Minute, 30*time.Minute
		backWindow := 100
		return old.Update(&backWindow, []model.DefinitionInput{{Granularity: &minute, Timespan: &timespan}, {Granularity: &five, Timespan: &timespan}})
	}); err != nil {
		t.Fatal(err)
	}
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{3600: 2})
	post(t, n, id, map[int]float64{3000: 5})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{3000: 5, 3600: 2})
}

// TestReadsGoOnBesideCheckpoints reads after every request while checkpoints run.
func TestReadsGoOnBesideCheckpoints(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 2})
	defer n.Stop(context.Background())
	id := newMetric(t, n, 0, 24)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 100 {
			if err := n.Metricd.Checkpoint(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}()
	var counts []float64
	for second := 0; ; second++ {
		post(t, n, id, map[int]float64{second: 1})
		total := 0.0
		for _, v := range values(t, n, id, time.Minute, carbonara.Count) {
			total += v
		}
		counts = append(counts, total)
		if total != float64(second+1) {
			t.Fatalf("%v measures are visible after %d", total, second+1)
		}
		select {
		case <-done:
			if !slices.IsSorted(counts) {
				t.Fatal("measures went away and came back")
			}
			return
		default:
		}
	}
}

// TestCorruptBlocksAreSetAside sends a block whose checksum does not hold among good ones.
func TestCorruptBlocksAreSetAside(t *testing.T) {
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	id := newMetric(t, n, 0, 1)
	post(t, n, id, map[int]float64{0: 1})
	m := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0, 1}, Timestamps: []carbonara.Timestamp{start + 1e9}, Values: []float64{7}}
	block := incoming.AppendBlock(nil, m, []int{0}, time.Now())
	block[len(block)-1] ^= 1
	if err := n.Incoming.Append(context.Background(), []incoming.Block{{Sack: 0, Data: block}}); err != nil {
		t.Fatal(err)
	}
	post(t, n, id, map[int]float64{2: 2})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 3})
	checkpoint(t, n)
	source := n.Incoming.ID()
	n.Stop(context.Background())
	store, err := archive.Open("sacks/000/e1", archive.Options{FS: fs})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	kept := 0
	err = store.EachAside(func(a archive.Aside) error {
		if kept++; a.Source != source || a.Sequence == 0 || string(a.Bytes) != string(block) {
			t.Errorf("kept: %+v", a)
		}
		return nil
	})
	if err != nil || kept != 1 {
		t.Errorf("%d blocks set aside (%v)", kept, err)
	}
}
