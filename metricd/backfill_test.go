package metricd_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// backfill moves the history of one metric into another one, and returns what all steps did.
func backfill(t *testing.T, n *testnode.Node, to, from uuid.UUID) (all model.Backfilled) {
	t.Helper()
	for {
		done, err := n.Metricd.Backfill(context.Background(), to, from, all.Next)
		fatal.If(t, err)
		all.Moved += done.Moved
		all.Known += done.Known
		all.Refused = append(all.Refused, done.Refused...)
		if all.Next = done.Next; all.Next == 0 {
			return all
		}
	}
}

// requireSame compares all groups of two metrics, to the last bit.
func requireSame(t *testing.T, n *testnode.Node, got, want uuid.UUID, granularities ...time.Duration) {
	t.Helper()
	for _, g := range granularities {
		a, b := n.Read(got, g), n.Read(want, g)
		if !slices.Equal(a.Starts, b.Starts) {
			t.Fatalf("granularity %v: %d groups, want %d", g, a.Len(), b.Len())
		}
		for i, column := range a.Columns {
			for row, v := range a.Values[i] {
				if w := b.Values[i][row]; math.Float64bits(v) != math.Float64bits(w) {
					t.Fatalf("granularity %v, column %v, %v: %v, want %v", g, column, a.Starts[row], v, w)
				}
			}
		}
	}
}

var everyMethod = []string{"mean", "sum", "count", "min", "max", "std", "first", "last", "median", "95pct"}

// A metric that is backfilled has the archive that it has when all comes in order, through restarts and beside measures
// that come in.
func TestBackfillEqualsOrder(t *testing.T) {
	granularities := []time.Duration{minute, 5 * minute, time.Hour}
	for _, window := range []int{0, 2} {
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
		short, long := 20*time.Hour, 1000*time.Hour
		policy, err := model.NewArchivePolicy("p", window, []model.DefinitionInput{
			{Granularity: &granularities[0], Timespan: &short}, {Granularity: &granularities[1], Timespan: &long},
			{Granularity: &granularities[2]}}, everyMethod)
		fatal.If(t, err)
		ordered, live, history := createMetric(t, n, policy), createMetric(t, n, policy), createMetric(t, n, policy)
		random := rand.New(rand.NewPCG(uint64(window), 1))
		at := func(from, to int) map[int]float64 {
			m := make(map[int]float64)
			for second := from; second < to; second += 1 + random.IntN(100) {
				m[second] = random.NormFloat64() * 1e3
			}
			return m
		}
		const hour = 3600
		const begin = 2400 // of the first block that the metric has measures of
		past, now := at(-40*hour, begin), at(begin, 4*hour)
		post(t, n, live, now)
		checkpoint(t, n)
		// As in the importer, the metric gets the measures that it accepts.
		limit := int((model.KeepFrom(policy.Plan(), window, start+4*hour*1e9-1) - start) / 1e9)
		for from := -40 * hour; from < begin; from += 5 * hour {
			older, newer := make(map[int]float64), make(map[int]float64)
			for second, v := range past {
				if second >= from && second < from+5*hour && second < limit {
					older[second] = v
				} else if second >= from && second < from+5*hour {
					newer[second] = v
				}
			}
			post(t, n, history, older)
			if len(newer) > 0 {
				post(t, n, live, newer)
			}
			if from == -20*hour {
				n.Restart(false)
			}
		}
		later := at(4*hour, 5*hour)
		post(t, n, live, later)
		fatal.If(t, n.Metricd.Refresh(context.Background(), []uuid.UUID{live, history}))
		for range 3 {
			n.Read(live, minute) // so that recent groups are kept
		}
		done := backfill(t, n, live, history)
		if done.Moved < 30 || done.Known > 0 || len(done.Refused) > 0 {
			t.Errorf("back window %d: %+v", window, done)
		}
		post(t, n, ordered, past)
		post(t, n, ordered, now)
		post(t, n, ordered, later)
		requireSame(t, n, live, ordered, granularities...)
		n.Restart(false)
		requireSame(t, n, live, ordered, granularities...)
		if done := backfill(t, n, live, history); done.Moved > 0 || done.Known == 0 || len(done.Refused) > 0 {
			t.Errorf("again: %+v", done)
		}
		// Both go on alike, with late measures.
		late, more := map[int]float64{4*hour + 47*60: 1e9}, at(5*hour, 30*hour)
		for _, id := range []uuid.UUID{live, ordered} {
			post(t, n, id, late)
			post(t, n, id, more)
			checkpoint(t, n)
		}
		requireSame(t, n, live, ordered, granularities...)
		n.Stop(context.Background())
	}
}

// A block in which the metric has measures whose raw ones are gone stays as it is.
func TestBackfillRefusesWhatItCannotKnow(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	policy := newPolicy(t, "p", 0, []time.Duration{minute, 5 * minute}, "sum", "count")
	live, history := createMetric(t, n, policy), createMetric(t, n, policy)
	post(t, n, live, map[int]float64{0: 1})
	post(t, n, live, map[int]float64{600: 2, 6000: 3})
	post(t, n, history, map[int]float64{0: 1, 360: 10, 660: 20, 900: 30, 6000: 40, 6600: 50})
	checkpoint(t, n)
	done := backfill(t, n, live, history)
	if done.Moved != 2 || done.Known != 1 ||
		!slices.Equal(done.Refused, []carbonara.Timestamp{start + 600e9, start + 6000e9, start + 6600e9}) {
		t.Errorf("%+v", done)
	}
	want := map[int]float64{0: 1, 360: 10, 600: 2, 900: 30, 6000: 3}
	requireValues(t, values(t, n, live, minute, carbonara.Sum), want)
	delete(want, 360)
	want[300] = 10
	requireValues(t, values(t, n, live, 5*minute, carbonara.Sum), want)

	// Widening the back window later does not recompute these blocks from the remaining raw measures.
	changePolicy(t, n, newPolicy(t, "p", 100, []time.Duration{minute, 5 * minute}, "sum", "count"))
	post(t, n, live, map[int]float64{370: 1000})
	requireValues(t, values(t, n, live, 5*minute, carbonara.Sum), want)
}

// No block is moved from which late measures may still compute groups, now or under a wider back window.
func TestBackfillSparesWhatRawMeasuresCover(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	granularities := []time.Duration{minute, 5 * minute}
	wide, narrow := newPolicy(t, "p", 100, granularities, "sum"), newPolicy(t, "p", 0, granularities, "sum")
	live, history := createMetric(t, n, wide), createMetric(t, n, wide)
	post(t, n, live, map[int]float64{6000: 3})
	post(t, n, history, map[int]float64{0: 1, -60_000: 2})
	checkpoint(t, n)
	changePolicy(t, n, narrow)
	if done := backfill(t, n, live, history); done.Moved != 1 || !slices.Equal(done.Refused,
		[]carbonara.Timestamp{start}) {
		t.Errorf("%+v", done)
	}
	changePolicy(t, n, wide)
	post(t, n, live, map[int]float64{10: 5})
	requireValues(t, values(t, n, live, minute, carbonara.Sum), map[int]float64{-60_000: 2, 0: 5, 6000: 3})
}

// Blocks that the back window will have passed once the measures of the metric are settled wait for that, also if it
// is sent nothing more.
func TestBackfillWaitsUntilMeasuresAreSettled(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	own := n.Incoming.ID()
	n.Metricd.SetSources(intake.Sources{Complete: true, Waited: []string{own, "other"}})
	policy := newPolicy(t, "p", 0, []time.Duration{minute, 5 * minute}, "sum")
	live, history := createMetric(t, n, policy), createMetric(t, n, policy)
	post(t, n, live, map[int]float64{6010: 3})
	post(t, n, history, map[int]float64{0: 1, 900: 2, 6050: 4, 9000: 5})
	checkpoint(t, n)
	for range 2 {
		done, err := n.Metricd.Backfill(context.Background(), live, history, 0)
		if !errors.Is(err, model.ErrUnavailable) || done.Moved+len(done.Refused) > 0 {
			t.Errorf("while another store may have earlier measures: %+v, %v", done, err)
		}
		n.Restart(false)
		n.Metricd.SetSources(intake.Sources{Complete: true, Waited: []string{own, "other"}})
	}
	if done, err := n.Metricd.Backfill(context.Background(), live, history, start+6000e9); err != nil ||
		!slices.Equal(done.Refused, []carbonara.Timestamp{start + 6000e9, start + 9000e9}) {
		t.Errorf("blocks that no settling frees: %+v, %v", done, err)
	}
	n.Metricd.SetSources(intake.Sources{Complete: true, Waited: []string{own}})
	done := backfill(t, n, live, history)
	if done.Moved != 2 || !slices.Equal(done.Refused, []carbonara.Timestamp{start + 6000e9, start + 9000e9}) {
		t.Errorf("%+v", done)
	}
	requireValues(t, values(t, n, live, minute, carbonara.Sum), map[int]float64{0: 1, 900: 2, 6000: 3})
	post(t, n, live, map[int]float64{6070: 6, 6020: 7, 10: 8}) // the last one is too old
	requireValues(t, values(t, n, live, minute, carbonara.Sum), map[int]float64{0: 1, 900: 2, 6000: 10, 6060: 6})
}

// Steps are bounded by the history, not by its gaps, nor by where a split begins.
func TestBackfillStepsOverGaps(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	const year, day = 365 * 86_400, 86_400
	// A split of days holds both ends of the gap, and begins years before.
	policy := newPolicy(t, "p", 0, []time.Duration{time.Second, time.Hour, 24 * time.Hour}, "sum")
	live, history := createMetric(t, n, policy), createMetric(t, n, policy)
	post(t, n, live, map[int]float64{10 * day: 1})
	post(t, n, history, map[int]float64{-10 * year: 2, -10*year + 7: 3, -5 * year: 4, 0: 5})
	checkpoint(t, n)
	var starts []carbonara.Timestamp
	for done := (model.Backfilled{}); ; {
		var err error
		if done, err = n.Metricd.Backfill(context.Background(), live, history, done.Next); err != nil {
			t.Fatal(err)
		}
		if done.Moved != 1 {
			t.Errorf("a step moved %d blocks", done.Moved)
		}
		if starts = append(starts, done.Next); done.Next == 0 || len(starts) > 10 {
			break
		}
	}
	today := start.Floor(24 * time.Hour)
	if want := []carbonara.Timestamp{today - 5*year*1e9, today, 0}; !slices.Equal(starts, want) {
		t.Errorf("%d steps, which end at %v, want %v", len(starts), starts, want)
	}
	requireValues(t, values(t, n, live, time.Second, carbonara.Sum),
		map[int]float64{-10 * year: 2, -10*year + 7: 3, -5 * year: 4, 0: 5, 10 * day: 1})
	// From anywhere within the gap it goes on behind it.
	done, err := n.Metricd.Backfill(context.Background(), live, history, start-7*year*1e9)
	if err != nil || done.Known != 1 || done.Next != today {
		t.Errorf("from within the gap: %+v, %v", done, err)
	}
}

// Groups that the policy does not keep are not moved. An archive that waits to be rebuilt is not touched.
func TestBackfillFollowsThePolicy(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	live, history := newMetric(t, n, 0, 1, "sum"), uuid.New()
	policy := metricsOf(t, n, live)[0].ArchivePolicy
	fatal.If(t, n.Index.CreateMetric(context.Background(), &model.Metric{ID: history, ArchivePolicy: policy,
		Creator: "admin"}))
	post(t, n, live, map[int]float64{60_000: 1})
	post(t, n, history, map[int]float64{0: 1})
	checkpoint(t, n)
	post(t, n, history, map[int]float64{57_000: 2})
	checkpoint(t, n)
	if done := backfill(t, n, live, history); done.Moved != 1 || done.Known+len(done.Refused) > 0 {
		t.Errorf("%+v", done)
	}
	changePolicy(t, n, newPolicy(t, policy.Name, 0, []time.Duration{minute, 15 * minute}, "sum"))
	if _, err := n.Metricd.Backfill(context.Background(), live, history, 0); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("before a rebuild: %v", err)
	}
}

// Policies whose blocks depend on one another cannot be backfilled, nor metrics of different policies.
func TestBackfillIsInvalid(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	f := func(to, from *model.ArchivePolicy) {
		t.Helper()
		a, b := createMetric(t, n, to), createMetric(t, n, from)
		post(t, n, a, map[int]float64{6000: 1})
		post(t, n, b, map[int]float64{0: 1})
		checkpoint(t, n)
		if _, err := n.Metricd.Backfill(context.Background(), a, b, 0); !errors.Is(err, model.ErrInvalid) {
			t.Errorf("from %s to %s: %v", from.Name, to.Name, err)
		}
	}
	good := newPolicy(t, "good", 0, []time.Duration{minute, 5 * minute}, "sum")
	rate := newPolicy(t, "rate", 0, []time.Duration{minute}, "rate:mean")
	apart := newPolicy(t, "apart", 0, []time.Duration{7 * minute, time.Hour}, "sum")
	f(rate, rate)
	f(apart, apart)
	f(good, newPolicy(t, "other", 0, []time.Duration{minute, 5 * minute}, "sum"))
	young, history := createMetric(t, n, good), createMetric(t, n, good)
	post(t, n, history, map[int]float64{0: 1})
	checkpoint(t, n)
	if done := backfill(t, n, young, history); done.Moved > 0 || len(done.Refused) != 1 {
		t.Errorf("into a metric without measures, which accepts all: %+v", done)
	}
}

// A rebuild makes wider groups of history that was backfilled, also where no measure has left the raw series yet.
func TestRebuildAfterBackfill(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	policy := newPolicy(t, "p", 0, []time.Duration{minute}, "sum", "count")
	live, history := createMetric(t, n, policy), createMetric(t, n, policy)
	const hour = 3600
	post(t, n, live, map[int]float64{hour / 2: 1})
	checkpoint(t, n)
	post(t, n, history, map[int]float64{-2 * hour: 2, -2*hour + 60: 3, hour/2 - 60: 4})
	fatal.If(t, n.Metricd.Refresh(context.Background(), []uuid.UUID{live, history}))
	if done := backfill(t, n, live, history); done.Moved != 3 {
		t.Fatalf("%+v", done)
	}
	changePolicy(t, n, newPolicy(t, "p", 0, []time.Duration{minute, time.Hour}, "sum", "count"))
	rebuild(t, n, live)
	requireValues(t, values(t, n, live, time.Hour, carbonara.Sum), map[int]float64{-8400: 5, -1200: 5})
	post(t, n, live, map[int]float64{hour/2 + 1: 8, hour / 2 * 3: 16})
	checkpoint(t, n)
	requireValues(t, values(t, n, live, time.Hour, carbonara.Sum), map[int]float64{-8400: 5, -1200: 13, 2400: 16})
}
