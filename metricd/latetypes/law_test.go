package latetypes_test

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
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
	t     *testing.T
	mover latetypes.Mover // of the open index
	done  model.RebuildCounts
}

func start(t *testing.T) *world {
	w := &world{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2}), t: t}
	w.move()
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
	if w.mover.Index != w.Index {
		w.mover = latetypes.Mover{Index: w.Index, Logger: slog.New(slog.DiscardHandler),
			Rebuild: func(ctx context.Context, ids []uuid.UUID) (model.RebuildCounts, error) {
				some, err := w.Rebuild(ctx, ids...)
				w.done.Add(&some)
				return some, err
			}}
	}
	w.done = model.RebuildCounts{}
	fatal.If(w.t, w.mover.Work(w.t.Context()))
	return w.done
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
	rounds := seedtest.Rounds(15, 60)
	for range rounds {
		random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
		if difference := law(t, random, func(w *world) { w.move() }); difference != "" {
			t.Fatal(difference)
		}
	}
}

// A move at any moment of a series' history, beside checkpoints, crashes and imports of older measures, costs no group
// and no value. Columns are absent only where groups without their measures do not tell them.
func TestMovesCostNoGroups(t *testing.T) {
	rounds := seedtest.Rounds(15, 60)
	for range rounds {
		seed := seedtest.Next(t)
		r := rand.New(rand.NewPCG(seed, 4))
		w := start(t)
		late, twin := w.create("x", "late", ""), w.create("x", "twin", model.CounterType)
		if told := w.schedule(r, late, twin); told != "" {
			t.Errorf("seed %d: %s", seed, told)
		}
		w.stop()
		if t.Failed() {
			return
		}
	}
}

// schedule does the same to two series in random order, one of which moves meanwhile, and says how they differ.
func (w *world) schedule(r *rand.Rand, late, twin uuid.UUID) (told string) {
	ids := []uuid.UUID{late, twin}
	hours := []int{1, 20, 100, 1000, 3000}[r.IntN(5)]
	const hour = carbonara.Timestamp(3600e9)
	at := carbonara.Timestamp(1767225600e9)
	var parts [][]carbonara.Timestamp // of an hour, from the oldest
	for range hours {
		if at += hour; r.IntN(hours) > 40 {
			continue
		}
		var part []carbonara.Timestamp
		for t := at + carbonara.Timestamp(r.Int64N(60e9)); t < at+hour; {
			part = append(part, t)
			t += 1 + carbonara.Timestamp(r.ExpFloat64()*600e9)
		}
		if len(part) > 0 {
			parts = append(parts, part)
		}
	}
	v := 0.0
	values := func(n int) (values []float64) {
		for range n {
			if v += float64(r.IntN(9)); r.IntN(20) == 0 {
				v = float64(r.IntN(3))
			}
			values = append(values, v)
		}
		return values
	}
	older := r.IntN(len(parts) + 1) // the parts that are filled in behind the newer ones
	next, moved, about := older, false, []string{fmt.Sprint(len(parts), " hours of ", hours)}
	filled := r.Perm(older)
	for next < len(parts) || len(filled) > 0 || !moved {
		what := r.IntN(8)
		switch {
		case what < 3 && next < len(parts):
			w.send(ids, parts[next], values(len(parts[next])))
			next++
		case what == 3 && len(filled) > 0 && next > older:
			part := parts[filled[0]]
			history := &model.Replacement{Empty: true, Timestamps: part, Values: values(len(part))}
			for _, id := range ids {
				done, err := w.Metricd.Replace(w.t.Context(), []uuid.UUID{id}, history)
				fatal.If(w.t, err)
				about = append(about, fmt.Sprintf("fill %d: %+v", filled[0], done))
			}
			filled = filled[1:]
		case what == 3 && older == len(parts):
			older-- // histories are filled in behind measures
			w.send(ids, parts[older], values(len(parts[older])))
			filled = slices.DeleteFunc(filled, func(i int) bool { return i == older })
		case what == 4 && !moved && r.IntN(3) == 0:
			moved = true
			w.describe("x", "counter")
			w.move()
			about = append(about, fmt.Sprintf("move %+v", w.done))
		case what == 5 && r.IntN(4) == 0:
			fatal.If(w.t, w.Metricd.Checkpoint(w.t.Context()))
			about = append(about, "checkpoint")
		case what == 6 && r.IntN(4) == 0:
			clean := r.IntN(2) == 0
			w.Restart(clean)
			w.move()
			about = append(about, fmt.Sprint("restart ", clean))
		case what == 7:
			w.Read(late, time.Minute)
		}
	}
	if r.IntN(3) == 0 {
		end := at + hour*carbonara.Timestamp(r.IntN(2000))
		w.send(ids, []carbonara.Timestamp{end}, values(1))
	}
	for range 2 {
		if told = w.differ(late, twin); told != "" {
			return told + "\n" + strings.Join(about, "\n")
		}
		w.Restart(r.IntN(2) == 0)
		w.move()
	}
	return ""
}

// differ says how the groups of two series differ, beyond values that are absent.
func (w *world) differ(late, twin uuid.UUID) string {
	m, err := w.Index.Metric(late)
	fatal.If(w.t, err)
	if m.ArchivePolicy.Name != "prometheus-counter" || m.OwnSchemaPending {
		return fmt.Sprintf("archive policy %s, pending %v", m.ArchivePolicy.Name, m.OwnSchemaPending)
	}
	for _, g := range m.ArchivePolicy.Granularities() {
		got, want := w.Read(late, g), w.Read(twin, g)
		if !slices.Equal(got.Starts, want.Starts) {
			return fmt.Sprintf("%d groups of %v, and %d", len(got.Starts), g, len(want.Starts))
		}
		for c, of := range want.Values {
			for i, v := range of {
				is := got.Values[c][i]
				absent := carbonara.IsAbsent(is) && want.Columns[c].IsCounter()
				if math.Float64bits(v) != math.Float64bits(is) && !absent {
					return fmt.Sprintf("%s of %v at %v is %v, want %v", want.Columns[c], g, want.Starts[i].Time(), is, v)
				}
			}
		}
	}
	return ""
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
	w := &world{Node: testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2}), t: t}
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
