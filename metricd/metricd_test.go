package metricd_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

const start = carbonara.Timestamp(1_700_000_400e9) // on the minute and the five minutes

// newMetric creates a metric with a policy of its own: one minute and five minutes, both kept for hours.
func newMetric(t testing.TB, n *testnode.Node, backWindow int, hours int, methods ...string) uuid.UUID {
	t.Helper()
	ctx := context.Background()
	minute, five, timespan := time.Minute, 5*time.Minute, time.Duration(hours)*time.Hour
	id := uuid.New()
	policy, err := model.NewArchivePolicy(id.String(), backWindow, []model.DefinitionInput{
		{Granularity: &minute, Timespan: &timespan}, {Granularity: &five, Timespan: &timespan}}, methods)
	fatal.If(t, err)
	fatal.If(t, n.Index.CreateArchivePolicy(ctx, policy))
	fatal.If(t, n.Index.CreateMetric(ctx, &model.Metric{ID: id, ArchivePolicy: policy, Creator: "admin"}))
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
	fatal.If(t, n.Post(m))
}

func checkpoint(t *testing.T, n *testnode.Node) {
	t.Helper()
	fatal.If(t, n.Metricd.Checkpoint(context.Background()))
}

// values returns what method answers, by seconds after start.
func values(t *testing.T, n *testnode.Node, id uuid.UUID, granularity time.Duration,
	method carbonara.Method) map[int]float64 {
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
	m := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0, 1}, Timestamps: []carbonara.Timestamp{start + 1e9},
		Values: []float64{7}}
	block := incoming.AppendBlock(nil, m, []int{0}, time.Now())
	block[len(block)-1] ^= 1
	fatal.If(t, n.Incoming.Append(context.Background(), []incoming.Block{{Sack: 0, Data: block}}))
	post(t, n, id, map[int]float64{2: 2})
	requireValues(t, values(t, n, id, time.Minute, carbonara.Sum), map[int]float64{0: 3})
	checkpoint(t, n)
	source := n.Incoming.ID()
	n.Stop(context.Background())
	store, err := archive.Open("sacks/000/e1", archive.Options{FS: fs})
	fatal.If(t, err)
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

// One checkpoint of many measures writes those that may be needed again, whether another one follows or not.
func TestCheckpointLeavesOutWhatIsTrimmed(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	id := newMetric(t, n, 0, 1, "mean")
	measures := map[int]float64{}
	for i := range 18_000 {
		measures[i] = float64(i*7919%1000) / 8
	}
	post(t, n, id, measures)
	checkpoint(t, n)
	sizes, err := n.Metricd.Sizes(context.Background(), []uuid.UUID{id})
	fatal.If(t, err)
	if sizes[0].Raw > 1500 { // 300 measures of some bytes each, and the key
		t.Errorf("%d bytes of raw measures, of which 300 are kept", sizes[0].Raw)
	}
}
