package metricd_test

import (
	"context"
	"errors"
	"maps"
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

// fillIn puts measures where a metric has nothing.
func fillIn(t *testing.T, n *testnode.Node, id uuid.UUID, seconds map[int]float64) model.Replaced {
	t.Helper()
	done, err := n.Metricd.Replace(context.Background(), []uuid.UUID{id}, history(seconds))
	fatal.If(t, err)
	if done.Failed > 0 || done.Put+done.Known+done.Refused != len(seconds) {
		t.Fatalf("%d measures: %+v", len(seconds), done)
	}
	return done
}

// history is the replacement that fills in measures.
func history(seconds map[int]float64) *model.Replacement {
	r := &model.Replacement{Empty: true}
	for _, second := range slices.Sorted(maps.Keys(seconds)) {
		r.Timestamps = append(r.Timestamps, start+carbonara.Timestamp(second)*1e9)
		r.Values = append(r.Values, seconds[second])
	}
	return r
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

// A metric whose history is filled in has the archive that it has when all comes in order, through restarts and beside
// measures that come in.
func TestFillEqualsOrder(t *testing.T) {
	granularities := []time.Duration{minute, 5 * minute, time.Hour}
	for _, window := range []int{0, 2} {
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
		short, long := 20*time.Hour, 1000*time.Hour
		policy, err := model.NewArchivePolicy("p", window, []model.DefinitionInput{
			{Granularity: &granularities[0], Timespan: &short}, {Granularity: &granularities[1], Timespan: &long},
			{Granularity: &granularities[2]}}, everyMethod)
		fatal.If(t, err)
		ordered, live := createMetric(t, n, policy), createMetric(t, n, policy)
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
		older, newer := make(map[int]float64), make(map[int]float64)
		for second, v := range past {
			if second < limit {
				older[second] = v
			} else {
				newer[second] = v
			}
		}
		if len(newer) > 0 {
			post(t, n, live, newer)
		}
		later := at(4*hour, 5*hour)
		post(t, n, live, later)
		for range 3 {
			n.Read(live, minute) // so that recent groups are kept
		}
		// The parts come in any order, each with whole blocks.
		parts := make(map[int]map[int]float64)
		for second, v := range older {
			block := int(((start + carbonara.Timestamp(second)*1e9).Floor(time.Hour) - start) / 1e9)
			k := (block + 50*hour) / (5 * hour)
			if parts[k] == nil {
				parts[k] = make(map[int]float64)
			}
			parts[k][second] = v
		}
		for i, part := range parts {
			if done := fillIn(t, n, live, part); done.Put != len(part) {
				t.Errorf("back window %d: %+v of %d", window, done, len(part))
			}
			if i%3 == 0 {
				n.Restart(false)
			}
		}
		post(t, n, ordered, past)
		post(t, n, ordered, now)
		post(t, n, ordered, later)
		requireSame(t, n, live, ordered, granularities...)
		n.Restart(false)
		requireSame(t, n, live, ordered, granularities...)
		if done := fillIn(t, n, live, older); done.Known != len(older) {
			t.Errorf("again: %+v", done)
		}
		requireSame(t, n, live, ordered, granularities...)
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

// A block in which the metric has measures stays as it is.
func TestFillRefusesWhatIsThere(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	policy := newPolicy(t, "p", 0, []time.Duration{minute, 5 * minute}, "sum", "count")
	live := createMetric(t, n, policy)
	post(t, n, live, map[int]float64{0: 1})
	post(t, n, live, map[int]float64{600: 2, 6000: 3})
	given := map[int]float64{0: 1, 360: 10, 660: 20, 900: 30, 6060: 40, 6600: 50}
	preview := history(given)
	preview.DryRun = true
	if done, err := n.Metricd.Replace(context.Background(), []uuid.UUID{live}, preview); err != nil || done.Put != 3 {
		t.Errorf("a dry run: %+v, %v", done, err)
	}
	done := fillIn(t, n, live, given)
	if done.Put != 3 || done.Known != 1 ||
		!slices.Equal(done.RefusedBlocks, []carbonara.Timestamp{start + 600e9, start + 6000e9}) {
		t.Errorf("%+v", done)
	}
	want := map[int]float64{0: 1, 360: 10, 600: 2, 900: 30, 6000: 3, 6600: 50}
	requireValues(t, values(t, n, live, minute, carbonara.Sum), want)
	delete(want, 360)
	want[300] = 10
	requireValues(t, values(t, n, live, 5*minute, carbonara.Sum), want)

	// Widening the back window later does not recompute these blocks from the remaining raw measures.
	changePolicy(t, n, newPolicy(t, "p", 100, []time.Duration{minute, 5 * minute}, "sum", "count"))
	post(t, n, live, map[int]float64{370: 1000})
	requireValues(t, values(t, n, live, 5*minute, carbonara.Sum), want)
}

// A block of which later measures compute groups is filled with its raw measures.
func TestFillWithinTheBackWindow(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	granularities := []time.Duration{minute, 5 * minute}
	wide, narrow := newPolicy(t, "p", 100, granularities, "sum"), newPolicy(t, "p", 0, granularities, "sum")
	live := createMetric(t, n, wide)
	post(t, n, live, map[int]float64{6000: 3})
	checkpoint(t, n)
	changePolicy(t, n, narrow)
	if done := fillIn(t, n, live, map[int]float64{0: 1, -60_000: 2}); done.Put != 2 {
		t.Errorf("%+v", done)
	}
	changePolicy(t, n, wide)
	post(t, n, live, map[int]float64{10: 5})
	requireValues(t, values(t, n, live, minute, carbonara.Sum), map[int]float64{-60_000: 2, 0: 6, 6000: 3})
}

// Measures that another incoming store may still have count as if they had come before.
func TestFillBeforeMeasuresAreSettled(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	own := n.Incoming.ID()
	n.Metricd.SetSources(intake.Sources{Complete: true, Waited: []string{own, "other"}})
	policy := newPolicy(t, "p", 0, []time.Duration{minute, 5 * minute}, "sum")
	live := createMetric(t, n, policy)
	post(t, n, live, map[int]float64{6010: 3})
	done := fillIn(t, n, live, map[int]float64{0: 1, 900: 2, 6050: 4, 9000: 5})
	if done.Put != 3 || !slices.Equal(done.RefusedBlocks, []carbonara.Timestamp{start + 6000e9}) {
		t.Errorf("%+v", done)
	}
	// Groups have no measures that could count: they wait.
	from, other := createMetric(t, n, policy), createMetric(t, n, policy)
	post(t, n, from, map[int]float64{0: 1})
	post(t, n, other, map[int]float64{6010: 3})
	groups := &model.Replacement{Empty: true,
		Groups: model.PlacedGroups{*n.Read(from, minute), *n.Read(from, 5*minute)}}
	if done, err := n.Metricd.Replace(context.Background(), []uuid.UUID{other}, groups); !errors.Is(err,
		model.ErrUnavailable) {
		t.Errorf("groups: %+v, %v", done, err)
	}
	n.Restart(false)
	n.Metricd.SetSources(intake.Sources{Complete: true, Waited: []string{own}})
	requireValues(t, values(t, n, live, minute, carbonara.Sum), map[int]float64{0: 1, 900: 2, 6000: 3, 9000: 5})
	checkpoint(t, n)
	if done, err := n.Metricd.Replace(context.Background(), []uuid.UUID{other}, groups); err != nil || done.Put != 2 {
		t.Errorf("groups of settled measures: %+v, %v", done, err)
	}
	post(t, n, live, map[int]float64{9070: 6, 9020: 7, 10: 8}) // the last one is too old
	requireValues(t, values(t, n, live, minute, carbonara.Sum),
		map[int]float64{0: 1, 900: 2, 6000: 3, 9000: 12, 9060: 6})
}

// Groups that the policy does not keep are left out.
func TestFillFollowsThePolicy(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	live := newMetric(t, n, 0, 1, "sum")
	post(t, n, live, map[int]float64{60_000: 1})
	fillIn(t, n, live, map[int]float64{0: 1, 57_000: 2})
	requireValues(t, values(t, n, live, minute, carbonara.Sum), map[int]float64{57_000: 2, 60_000: 1})
}

// Policies whose blocks depend on one another take no history. A metric without measures takes it.
func TestFillIsInvalid(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	for _, policy := range []*model.ArchivePolicy{newPolicy(t, "rate", 0, []time.Duration{minute}, "rate:mean"),
		newPolicy(t, "apart", 0, []time.Duration{7 * minute, time.Hour}, "sum")} {
		id := createMetric(t, n, policy)
		post(t, n, id, map[int]float64{6000: 1})
		_, err := n.Metricd.Replace(context.Background(), []uuid.UUID{id}, history(map[int]float64{0: 1}))
		if !errors.Is(err, model.ErrInvalid) {
			t.Errorf("%s: %v", policy.Name, err)
		}
	}
	young := createMetric(t, n, newPolicy(t, "good", 0, []time.Duration{minute, 5 * minute}, "sum"))
	if done := fillIn(t, n, young, map[int]float64{0: 1, 6000: 2}); done.Put != 2 {
		t.Errorf("%+v", done)
	}
	requireValues(t, values(t, n, young, minute, carbonara.Sum), map[int]float64{0: 1, 6000: 2})
}

// A rebuild makes wider groups of history that was filled in, also where no measure has left the raw series yet.
func TestRebuildAfterFill(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	policy := newPolicy(t, "p", 0, []time.Duration{minute}, "sum", "count")
	live := createMetric(t, n, policy)
	const hour = 3600
	post(t, n, live, map[int]float64{hour / 2: 1})
	fillIn(t, n, live, map[int]float64{-2 * hour: 2, -2*hour + 60: 3, hour/2 - 60: 4})
	changePolicy(t, n, newPolicy(t, "p", 0, []time.Duration{minute, time.Hour}, "sum", "count"))
	rebuild(t, n, live)
	requireValues(t, values(t, n, live, time.Hour, carbonara.Sum), map[int]float64{-8400: 5, -1200: 5})
	post(t, n, live, map[int]float64{hour/2 + 1: 8, hour / 2 * 3: 16})
	checkpoint(t, n)
	requireValues(t, values(t, n, live, time.Hour, carbonara.Sum), map[int]float64{-8400: 5, -1200: 13, 2400: 16})
}

// Groups whose measures are nowhere fill blocks as well, one request after the other. Newer measures go on from them.
func TestFillWithGroups(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	granularities := []time.Duration{minute, 5 * minute}
	policy := newPolicy(t, "p", 0, granularities, everyMethod...)
	from, empty, live := createMetric(t, n, policy), createMetric(t, n, policy), createMetric(t, n, policy)
	all := make(map[int]float64)
	for second := 0; second < 6000; second += 7 {
		all[second] = float64(second * second % 1009)
	}
	post(t, n, from, all)
	post(t, n, live, map[int]float64{4500: 1})
	groups := func(from, to int, id uuid.UUID) *model.Replacement {
		r := &model.Replacement{Empty: true}
		for _, g := range granularities {
			groups := n.Read(id, g)
			r.Groups = append(r.Groups, groups.Slice(groups.Search(start+carbonara.Timestamp(from)*1e9),
				groups.Search(start+carbonara.Timestamp(to)*1e9)))
		}
		return r
	}
	put := func(id uuid.UUID, r *model.Replacement) model.Replaced {
		t.Helper()
		done, err := n.Metricd.Replace(context.Background(), []uuid.UUID{id}, r)
		fatal.If(t, err)
		return done
	}
	for _, part := range [][2]int{{0, 1500}, {1500, 6000}} {
		r := groups(part[0], part[1], from)
		if done := put(empty, r); done.Put != r.Rows() {
			t.Errorf("%d to %d: %+v", part[0], part[1], done)
		}
	}
	requireSame(t, n, empty, from, granularities...)
	n.Restart(false)
	if done := put(empty, groups(0, 6000, from)); done.Known != 120 {
		t.Errorf("again: %+v", done)
	}
	post(t, n, empty, map[int]float64{5990: 1e9, 6001: 4}) // the first one is too old
	post(t, n, from, map[int]float64{6001: 4})
	requireSame(t, n, empty, from, granularities...)
	if done := put(live, groups(0, 6000, from)); done.Put != 15*6 ||
		len(done.RefusedBlocks) != 5 || done.RefusedBlocks[0] != start+4500e9 {
		t.Errorf("%+v", done)
	}
	if got := values(t, n, live, 5*minute, carbonara.Count); len(got) != 16 || got[4500] != 1 {
		t.Errorf("%v", got)
	}
}
