package latetypes_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/latetypes"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// When metadata names a type.
const (
	first            = iota // before the series is created
	beforeCheckpoint        // while its measures are in its head
	afterCheckpoint
	never
)

const creator = "u:p"

// world is a node, and what its senders do.
type world struct {
	*testnode.Node
	t *testing.T
}

func start(t *testing.T) *world {
	w := &world{testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2}), t}
	series := model.SeriesArchivePolicy()
	for _, p := range []*model.ArchivePolicy{series, model.CounterArchivePolicy(series)} {
		fatal.If(t, w.Index.CreateArchivePolicy(t.Context(), p))
	}
	return w
}

func (w *world) stop() { w.Stop(context.Background()) }

// move has series move and archives follow, as the holder of the index does. It returns what became of the archives.
func (w *world) move() (done model.RebuildCounts) {
	w.t.Helper()
	mover := latetypes.Mover{Index: w.Index, Logger: slog.New(slog.DiscardHandler),
		Rebuild: func(ctx context.Context, ids []uuid.UUID) (model.RebuildCounts, error) {
			some, err := w.Rebuild(ctx, ids...)
			done.Add(&some)
			return some, err
		}}
	fatal.If(w.t, mover.Work(w.t.Context()))
	return done
}

func (w *world) describe(name, kind string) {
	w.t.Helper()
	fatal.If(w.t, w.Index.PutMetadata(w.t.Context(), "p", []model.Metadata{{Name: name, Kind: kind}}))
	w.Index.Retype(index.SeriesName{Project: "p", Name: name})
}

// create creates a series, of the policy of its type; "" for one that is not set.
func (w *world) create(name, job string, set model.SeriesType) uuid.UUID {
	w.t.Helper()
	labels := model.Labels(model.AppendLabel(model.AppendLabel(nil, model.LabelName, name), "job", job))
	t := model.TypeOfLabels(labels, func(name string) string {
		return w.Index.MetadataKind(index.SeriesName{Project: "p", Name: name})
	})
	if set != "" {
		t = set
	}
	series := model.SeriesArchivePolicy()
	if t.Grows() {
		series = model.CounterArchivePolicy(series)
	}
	policy, err := w.Index.ArchivePolicy(series.Name)
	fatal.If(w.t, err)
	m := &model.Metric{Name: name, Labels: labels, Creator: creator, ArchivePolicy: policy, Type: set}
	fatal.If(w.t, w.Index.CreateMetric(w.t.Context(), m))
	return m.ID
}

func (w *world) send(ids []uuid.UUID, timestamps []carbonara.Timestamp, values []float64) {
	w.t.Helper()
	m := &model.Measures{Offsets: []int{0}}
	for _, id := range ids {
		m.Metrics = append(m.Metrics, id)
		m.Timestamps = append(m.Timestamps, timestamps...)
		m.Values = append(m.Values, values...)
		m.Offsets = append(m.Offsets, len(m.Values))
	}
	fatal.If(w.t, w.Post(m))
	fatal.If(w.t, w.Metricd.Refresh(w.t.Context(), ids))
}

// samples of a random series, a minute to two hours of them.
func samples(random *rand.Rand) (timestamps []carbonara.Timestamp, values []float64) {
	now, v := carbonara.Timestamp(1767225600e9)+carbonara.Timestamp(random.Int64N(3600e9)), random.Float64()*100
	kind := random.IntN(4)
	for range 4 + random.IntN(400) {
		now += carbonara.Timestamp(random.Int64N(30e9)) + 1e6
		switch kind {
		case 0:
			v += float64(random.IntN(5))
		case 1:
			if v += random.ExpFloat64(); random.IntN(50) == 0 {
				v = 0
			}
		case 2:
			v += random.NormFloat64()
		}
		if random.IntN(40) == 0 {
			values = append(values, math.NaN())
		} else {
			values = append(values, v)
		}
		timestamps = append(timestamps, now)
	}
	return timestamps, values
}

// law returns how a series that learns its type at some time differs from one that had it from the start; "" for not at
// all. apply has types applied.
func law(t *testing.T, random *rand.Rand, apply func(*world)) string {
	w := start(t)
	defer w.stop()
	when, kind := random.IntN(never+1), []string{"counter", "gauge", "unknown"}[random.IntN(3)]
	timestamps, values := samples(random)
	cut := 3 + random.IntN(len(values)-3) // what the first checkpoint has
	want := model.UnknownType
	switch {
	case when != never && kind == "counter":
		want = model.CounterType
	case (when == first || when == beforeCheckpoint) && kind == "gauge":
	case model.NeverFalls(values[:cut]): // a gauge that is declared late stays
		want = model.CounterType
	}
	if when == first {
		w.describe("x", kind)
	}
	late, twin := w.create("x", "late", ""), w.create("x", "twin", cmpType(want))
	ids := []uuid.UUID{late, twin}
	half := 1 + random.IntN(cut-1)
	w.send(ids, timestamps[:half], values[:half])
	if when == beforeCheckpoint {
		w.describe("x", kind)
		apply(w)
	}
	w.send(ids, timestamps[half:cut], values[half:cut])
	w.Restart(true)
	apply(w)
	if when == afterCheckpoint {
		w.describe("x", kind)
		apply(w)
	}
	w.send(ids, timestamps[cut:], values[cut:])
	if random.IntN(2) == 0 {
		w.Restart(random.IntN(2) == 0)
		apply(w)
	}
	about := fmt.Sprintf("%s at time %d, checkpoint of %d of %d", kind, when, cut, len(values))
	metrics, err := w.Index.CurrentMetrics(ids)
	fatal.If(t, err)
	if a, b := metrics[0].ArchivePolicy, metrics[1].ArchivePolicy; a.Name != b.Name || metrics[0].OwnSchemaPending {
		return fmt.Sprintf("%s: archive policy %s, want %s", about, a.Name, b.Name)
	}
	for _, g := range metrics[0].ArchivePolicy.Granularities() {
		got, want := w.Read(late, g), w.Read(twin, g)
		if !slices.Equal(got.Starts, want.Starts) || !slices.Equal(got.Columns, want.Columns) {
			return fmt.Sprintf("%s: groups of %v differ", about, g)
		}
		for c := range want.Values {
			for i, v := range want.Values[c] {
				if math.Float64bits(v) != math.Float64bits(got.Values[c][i]) {
					return fmt.Sprintf("%s: %s of %v at %v is %v, want %v", about, want.Columns[c], g, want.Starts[i].Time(),
						got.Values[c][i], v)
				}
			}
		}
	}
	if job, err := w.Index.Rebuild(model.RebuildOfLateTypes); err == nil && job.State != model.RebuildDone {
		return about + ": its rebuild is " + string(job.State)
	}
	return ""
}

// cmpType returns a type to set for a metric that has the policy of this one.
func cmpType(t model.SeriesType) model.SeriesType {
	if t.Grows() {
		return t
	}
	return model.GaugeType
}

// A series is the same whether its type was known first, learned later or never, to the bit while measures are kept.
func TestTypesThatComeLate(t *testing.T) {
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	for range rounds {
		random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
		if difference := law(t, random, func(w *world) { w.move() }); difference != "" {
			t.Fatal(difference)
		}
	}
}

// The law finds types that are learned and not applied.
func TestPlantedTypesNotApplied(t *testing.T) {
	for range 60 {
		if law(t, rand.New(rand.NewPCG(seedtest.Next(t), 0)), func(*world) {}) != "" {
			return
		}
	}
	t.Error("not found")
}

// Before the first checkpoint a move costs no rebuild, and one of ten thousand needs few writes.
func TestMovesBeforeCheckpoints(t *testing.T) {
	w := start(t)
	defer w.stop()
	var ids []uuid.UUID
	for i := range 2500 {
		ids = append(ids, w.create("x", fmt.Sprint(i), ""))
	}
	now := carbonara.Timestamp(1767225600e9)
	w.send(ids, []carbonara.Timestamp{now, now.Add(time.Second)}, []float64{2, 1})
	w.describe("x", "counter")
	if done := w.move(); done.Unchanged != len(ids) || done.Changed+done.Failed > 0 {
		t.Errorf("%+v", done)
	}
	w.Restart(true)
	if done := w.move(); done != (model.RebuildCounts{}) {
		t.Errorf("again: %+v", done)
	}
	groups := w.Read(ids[7], time.Minute)
	if resets := groups.Column(carbonara.ColumnResets); len(resets) != 1 || resets[0] != 1 {
		t.Errorf("resets %v", resets)
	}
}

// A move that was under way when its process ended goes on.
func TestMovesGoOn(t *testing.T) {
	w := start(t)
	defer w.stop()
	id := w.create("x", "j", "")
	now := carbonara.Timestamp(1767225600e9)
	w.send([]uuid.UUID{id}, []carbonara.Timestamp{now, now.Add(time.Second)}, []float64{2, 1})
	w.Restart(true)
	w.describe("x", "counter")
	mover := latetypes.Mover{Index: w.Index, Logger: slog.New(slog.DiscardHandler),
		Rebuild: func(context.Context, []uuid.UUID) (model.RebuildCounts, error) {
			return model.RebuildCounts{}, model.ErrUnavailable
		}}
	if err := mover.Work(t.Context()); err == nil {
		t.Fatal("no error")
	}
	w.Restart(true)
	if done := w.move(); done.Changed != 1 {
		t.Errorf("%+v", done)
	}
	if m, err := w.Index.Metric(id); err != nil || m.OwnSchemaPending || m.ArchivePolicy.Name != "prometheus-counter" {
		t.Errorf("%v, %v", m, err)
	}
}

// Sacks whose first checkpoints are at once find their counters, and one of them creates the archive policy.
func TestCountersOfManySacks(t *testing.T) {
	w := &world{testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2}), t}
	defer w.stop()
	fatal.If(t, w.Index.CreateArchivePolicy(t.Context(), model.SeriesArchivePolicy()))
	var ids []uuid.UUID
	for i := range 32 {
		ids = append(ids, w.create("x", fmt.Sprint(i), ""))
	}
	var sacks sync.WaitGroup
	for _, id := range ids {
		sacks.Go(func() {
			err := latetypes.Growing(t.Context(), w.Index, []uuid.UUID{id}, slog.New(slog.DiscardHandler))
			if err != nil {
				t.Error(err)
			}
		})
	}
	sacks.Wait()
	for _, id := range ids {
		if m, err := w.Index.Metric(id); err != nil || m.ArchivePolicy.Name != "prometheus-counter" {
			t.Errorf("%v, %v", m, err)
		}
	}
}
