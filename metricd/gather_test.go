package metricd_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// TestReadsDoNotWaitForGathering sends so little that the worker waits a second before it drains. Each measure is read
// at once nevertheless.
func TestReadsDoNotWaitForGathering(t *testing.T) { synctest.Test(t, testReadsDoNotWaitForGathering) }

func testReadsDoNotWaitForGathering(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	id := newMetric(t, n, 0, 1, "count")
	sent := 0
	send := func() {
		sent++
		post(t, n, id, map[int]float64{sent: 1})
	}
	for range 150 {
		send()
		time.Sleep(10 * time.Millisecond)
	}
	metric := metricsOf(t, n, id)[0]
	const rounds = 10
	gathered, took := 0, time.Duration(0)
	for range rounds {
		send()
		if time.Sleep(20 * time.Millisecond); n.Incoming.Backlog().Measures > 0 {
			gathered++
		}
		began := time.Now()
		for visible := 0; visible < sent; {
			var groups carbonara.Groups
			read := model.Read{Metric: metric, Granularity: time.Minute, Columns: carbonara.Count.Columns(),
				To: carbonara.MaxTimestamp}
			fatal.If(t, n.Metricd.Groups(t.Context(), read, &groups))
			visible = 0
			_, counts := groups.Aggregate(carbonara.Count, nil, nil)
			for _, count := range counts {
				visible += int(count)
			}
		}
		took += time.Since(began)
		time.Sleep(10 * time.Millisecond)
	}
	if took != 0 {
		t.Errorf("%d measures became visible in %v", rounds, took)
	}
	if gathered != rounds {
		t.Errorf("the worker gathered %d of %d measures", gathered, rounds)
	}
}

// awayIndex does not answer while it is away.
type awayIndex struct {
	metricd.Index
	away atomic.Bool
}

func (x *awayIndex) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	for x.away.Load() {
		if err := pause.For(ctx, time.Millisecond); err != nil {
			return err
		}
	}
	return x.Index.Find(ctx, ids, found)
}

// TestReadsDoNotWaitForTheIndex sends a measure of a metric that the sack does not know yet while the index is away,
// and reads another one.
func TestReadsDoNotWaitForTheIndex(t *testing.T) { synctest.Test(t, testReadsDoNotWaitForTheIndex) }

func testReadsDoNotWaitForTheIndex(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	known, unknown := newMetric(t, n, 0, 1, "count"), newMetric(t, n, 0, 1, "count")
	fatal.If(t, n.Metricd.CloseSack(t.Context(), 0))
	index := &awayIndex{Index: testnode.WorkersIndex{Store: n.Index}}
	w, err := testnode.Workers(metricd.Options{Sacks: 1, Index: index, FS: vfs.NewMem(),
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour}, "", n.Incoming)
	fatal.If(t, err)
	defer w.Close(context.Background())
	fatal.If(t, w.Open(0, "sack"))
	for range 150 {
		time.Sleep(10 * time.Millisecond)
		post(t, n, known, map[int]float64{1: 1})
	}
	index.away.Store(true)
	defer index.away.Store(false)
	post(t, n, unknown, map[int]float64{1: 1})
	metric := metricsOf(t, n, known)[0]
	began := time.Now()
	for range 10 {
		var groups carbonara.Groups
		read := model.Read{Metric: metric, Granularity: time.Minute, Columns: carbonara.Count.Columns(),
			To: carbonara.MaxTimestamp}
		if err := w.Groups(t.Context(), read, &groups); err != nil || groups.Len() != 1 {
			t.Fatalf("%d groups, error %v", groups.Len(), err)
		}
	}
	if took := time.Since(began); took > time.Second {
		t.Errorf("ten reads took %v while the index was away", took)
	}
}

// heldIndex does not answer for one metric until it is released.
type heldIndex struct {
	metricd.Index
	metric  uuid.UUID
	asked   chan struct{}
	release chan struct{}
}

func (x *heldIndex) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	if slices.Contains(ids, x.metric) {
		x.asked <- struct{}{}
		<-x.release
	}
	return x.Index.Find(ctx, ids, found)
}

// TestReadsDoNotWaitForTheirTurn opens two sacks that have measures to replay. While the only worker is held up in the
// first, all that the second has accepted is read.
func TestReadsDoNotWaitForTheirTurn(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 1})
	defer n.Stop(context.Background())
	policy := newPolicy(t, "p", 0, []time.Duration{time.Minute}, "count")
	fatal.If(t, n.Index.CreateArchivePolicy(t.Context(), policy))
	var ids [2]uuid.UUID
	for sack := range ids {
		fatal.If(t, n.Metricd.CloseSack(t.Context(), sack))
		for ids[sack] = uuid.New(); n.Metricd.Sack(ids[sack]) != sack; {
			ids[sack] = uuid.New()
		}
		metric := &model.Metric{ID: ids[sack], ArchivePolicy: policy, Creator: "admin"}
		fatal.If(t, n.Index.CreateMetric(t.Context(), metric))
		post(t, n, ids[sack], map[int]float64{1: 1, 2: 1})
	}
	index := &heldIndex{Index: testnode.WorkersIndex{Store: n.Index},
		metric: ids[0], asked: make(chan struct{}, 1), release: make(chan struct{})}
	w, err := testnode.Workers(metricd.Options{Sacks: 2, Workers: 1, Index: index, FS: vfs.NewMem(),
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour}, "", n.Incoming)
	fatal.If(t, err)
	defer w.Close(context.Background())
	defer close(index.release)
	fatal.If(t, w.Open(0, "sack0"))
	<-index.asked
	fatal.If(t, w.Open(1, "sack1"))
	var groups carbonara.Groups
	read := model.Read{Metric: metricsOf(t, n, ids[1])[0], Granularity: time.Minute, Columns: carbonara.Count.Columns(),
		To: carbonara.MaxTimestamp}
	fatal.If(t, w.Groups(t.Context(), read, &groups))
	if _, counts := groups.Aggregate(carbonara.Count, nil, nil); len(counts) != 1 || counts[0] != 2 {
		t.Errorf("counts %v, want 2", counts)
	}
}

// TestListedHeads sends measures of the same metrics in the same order. One of the metrics is deleted meanwhile.
func TestListedHeads(t *testing.T) {
	ctx := context.Background()
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(ctx)
	policy := newPolicy(t, "p", 0, []time.Duration{time.Minute}, "count")
	fatal.If(t, n.Index.CreateArchivePolicy(ctx, policy))
	m := &model.Measures{Offsets: []int{0}}
	for i := range 20 {
		metric := &model.Metric{ID: uuid.New(), ArchivePolicy: policy, Creator: "admin"}
		fatal.If(t, n.Index.CreateMetric(ctx, metric))
		m.Metrics, m.Offsets = append(m.Metrics, metric.ID), append(m.Offsets, i+1)
		m.Timestamps, m.Values = append(m.Timestamps, start), append(m.Values, 1)
	}
	send := func(seconds ...int) {
		t.Helper()
		for _, second := range seconds {
			for i := range m.Timestamps {
				m.Timestamps[i] = start + carbonara.Timestamp(second)*1e9
			}
			fatal.If(t, n.Post(m))
			fatal.If(t, n.Metricd.Refresh(ctx, m.Metrics[:1]))
		}
	}
	send(1, 2, 3)
	fatal.If(t, n.Index.DeleteMetric(ctx, m.Metrics[7]))
	send(4, 5)
	fatal.If(t, n.Metricd.Expunge(ctx))
	send(6)
	checkpoint(t, n)
	send(7)
	for i, id := range m.Metrics {
		if i != 7 {
			requireValues(t, values(t, n, id, time.Minute, carbonara.Count), map[int]float64{0: 7})
		}
	}
	if processed := n.Value("gnocco_metricd_measures_processed_total"); processed != 19*7+3 {
		t.Errorf("%v measures processed, want those of 19 metrics and 3 of the deleted one", processed)
	}
	if heads := n.Value("gnocco_metricd_heads"); heads != 19 {
		t.Errorf("%v heads, want 19", heads)
	}
}
