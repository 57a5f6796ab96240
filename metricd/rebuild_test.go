package metricd_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// newPolicy makes a policy without limits in time.
func newPolicy(t testing.TB, name string, backWindow int, granularities []time.Duration,
	methods ...string) *model.ArchivePolicy {
	t.Helper()
	var definition []model.DefinitionInput
	for _, g := range granularities {
		definition = append(definition, model.DefinitionInput{Granularity: &g})
	}
	policy, err := model.NewArchivePolicy(name, backWindow, definition, methods)
	fatal.If(t, err)
	return policy
}

// createMetric creates a metric and, if need be, its policy.
func createMetric(t *testing.T, n *testnode.Node, policy *model.ArchivePolicy) uuid.UUID {
	t.Helper()
	ctx := context.Background()
	if _, err := n.Index.ArchivePolicy(policy.Name); err != nil {
		fatal.If(t, n.Index.CreateArchivePolicy(ctx, policy))
	}
	id := uuid.New()
	fatal.If(t, n.Index.CreateMetric(ctx, &model.Metric{ID: id, ArchivePolicy: policy, Creator: "admin"}))
	return id
}

// changePolicy replaces a policy by another of the same name.
func changePolicy(t testing.TB, n *testnode.Node, to *model.ArchivePolicy) {
	t.Helper()
	if _, err := n.Index.UpdateArchivePolicy(context.Background(), to.Name,
		func(*model.ArchivePolicy) (*model.ArchivePolicy, error) {
			changed := *to
			changed.SchemaPending = true
			return &changed, nil
		}); err != nil {
		t.Fatal(err)
	}
}

func metricsOf(t testing.TB, n *testnode.Node, ids ...uuid.UUID) (metrics []*model.Metric) {
	t.Helper()
	for _, id := range ids {
		m, err := n.Index.Metric(id)
		fatal.If(t, err)
		metrics = append(metrics, m)
	}
	return metrics
}

func rebuild(t *testing.T, n *testnode.Node, ids ...uuid.UUID) model.RebuildCounts {
	t.Helper()
	done, err := n.Rebuild(context.Background(), ids...)
	fatal.If(t, err)
	if done.Failed > 0 {
		t.Fatal(done.Fault)
	}
	return done
}

const minute = time.Minute

// TestANewGranularityIsMadeOfMoments: it is there since the first measure, and goes on as if it had been there.
func TestANewGranularityIsMadeOfMoments(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 2, Workers: 1})
	defer n.Stop(context.Background())
	id := createMetric(t, n, newPolicy(t, "p", 0, []time.Duration{minute}, "mean", "max", "std", "last", "first"))
	for i := range 110 {
		post(t, n, id, map[int]float64{i * 60: float64(i), i*60 + 30: float64(2 * i)})
	}
	checkpoint(t, n)
	post(t, n, id, map[int]float64{6600: 1, 6610: 3})
	changePolicy(t, n, newPolicy(t, "p", 0, []time.Duration{minute, 5 * minute, 30 * minute}, "mean", "max",
		"std", "last", "first"))
	// Until it is rebuilt it goes on as it was.
	requireValues(t, values(t, n, id, 30*minute, carbonara.Max), map[int]float64{})
	post(t, n, id, map[int]float64{6620: 5})
	requireValues(t, values(t, n, id, 30*minute, carbonara.Max), map[int]float64{})
	if got := values(t, n, id, minute, carbonara.Max); len(got) != 111 || got[6600] != 5 {
		t.Fatal(got)
	}
	if done := rebuild(t, n, id); done.Changed != 1 {
		t.Fatal(done)
	}
	if done := rebuild(t, n, id); done.Unchanged != 1 {
		t.Fatal(done)
	}
	// start is 20 minutes into its half hour, and minute 110 ten minutes into its one.
	requireValues(t, values(t, n, id, 30*minute, carbonara.Max),
		map[int]float64{-1200: 18, 600: 78, 2400: 138, 4200: 198, 6000: 218})
	requireValues(t, values(t, n, id, 30*minute, carbonara.First),
		map[int]float64{-1200: 0, 600: 10, 2400: 40, 4200: 70, 6000: 100})
	// A late measure in the open minute also changes its half hour. The raw series has only the end of that half hour.
	post(t, n, id, map[int]float64{6605: 1000, 6630: 7})
	for range 2 {
		if got := values(t, n, id, 30*minute, carbonara.Max); got[6000] != 1000 {
			t.Fatal(got)
		}
		if got := values(t, n, id, 30*minute, carbonara.Last); got[6000] != 7 {
			t.Fatal(got)
		}
		n.Restart(false)
	}
	checkpoint(t, n)
	post(t, n, id, map[int]float64{6605: 0, 6640: 9}) // the same time again: it replaces
	if got := values(t, n, id, 30*minute, carbonara.Max); got[6000] != 218 {
		t.Fatal(got)
	}
	// The half hour is open, but what came before the change is not in the raw series, and is not changed any more.
	post(t, n, id, map[int]float64{6250: 5000})
	if got := values(t, n, id, 30*minute, carbonara.Max); got[6000] != 218 {
		t.Fatal(got)
	}
	post(t, n, id, map[int]float64{9000: 1})
	checkpoint(t, n)
	if got := values(t, n, id, 30*minute, carbonara.Max); got[6000] != 218 || got[7800] != 1 {
		t.Fatal(got)
	}
	// 6605 was late twice, and 6250 dropped, counted before the change and after it.
	if sizes, err := n.Metricd.Sizes(context.Background(), []uuid.UUID{id}); err != nil || sizes[0].Late != 2 ||
		sizes[0].Dropped != 1 {
		t.Fatal(sizes, err)
	}
}

func TestANewMethodIsComputedFromTheRawSeries(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	id := createMetric(t, n, newPolicy(t, "p", 1, []time.Duration{minute, 5 * minute}, "sum"))
	for i := range 100 {
		post(t, n, id, map[int]float64{i * 60: float64(i), i*60 + 30: float64(i + 2)})
	}
	checkpoint(t, n)
	changePolicy(t, n, newPolicy(t, "p", 1, []time.Duration{minute, 5 * minute}, "mean", "median", "rate:max"))
	rebuild(t, n, id)
	// Means follow from the stored columns. The others begin where all measures are there: the block before the open
	// one.
	if got := values(t, n, id, 5*minute, carbonara.Mean); len(got) != 20 || got[0] != 3 || got[5700] != 98 {
		t.Fatal(got)
	}
	requireValues(t, values(t, n, id, 5*minute, carbonara.Median), map[int]float64{5400: 93, 5700: 98})
	requireValues(t, values(t, n, id, 5*minute, carbonara.Max.Rate()), map[int]float64{5400: 2, 5700: 2})
	if got := values(t, n, id, minute, carbonara.Median); len(got) != 10 || got[5400] != 91 {
		t.Fatal(got)
	}
	post(t, n, id, map[int]float64{6000: 5})
	checkpoint(t, n)
	requireValues(t, values(t, n, id, 5*minute, carbonara.Median), map[int]float64{5400: 93, 5700: 98, 6000: 5})
}

// Sketches are computed of kept measures, and of wider groups from those of narrower ones. Older groups have
// none.
func TestSketchesAreRebuilt(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	id := createMetric(t, n, newPolicy(t, "p", 1, []time.Duration{minute, 5 * minute}, "sum"))
	for i := range 100 {
		post(t, n, id, map[int]float64{i * 60: float64(i), i*60 + 30: float64(i + 2)})
	}
	checkpoint(t, n)
	changePolicy(t, n, newPolicy(t, "p", 1, []time.Duration{minute, 5 * minute}, "sum", "sketch"))
	rebuild(t, n, id)
	near := func(granularity time.Duration, want map[int]float64) {
		t.Helper()
		got := values(t, n, id, granularity, carbonara.Median)
		if len(got) != len(want) {
			t.Fatalf("%v, want %v", got, want)
		}
		for at, v := range want {
			if math.Abs(got[at]-v) > 0.011*v {
				t.Fatalf("%v, want %v", got, want)
			}
		}
	}
	near(5*minute, map[int]float64{5400: 93, 5700: 98})
	for i := 100; i < 200; i++ {
		post(t, n, id, map[int]float64{i * 60: float64(i), i*60 + 30: float64(i + 2)})
	}
	checkpoint(t, n)
	post(t, n, id, map[int]float64{199*60 + 45: 200}) // late measures go on to count
	changePolicy(t, n, newPolicy(t, "p", 1, []time.Duration{minute, 5 * minute, 30 * minute}, "sum", "sketch"))
	rebuild(t, n, id)
	// start is 20 minutes into its half hour.
	near(30*minute, map[int]float64{6000: 116, 7800: 146, 9600: 176, 11400: 195})
	if got := values(t, n, id, 30*minute, carbonara.Sum); len(got) != 8 {
		t.Fatal(got)
	}
}

func TestDroppedGranularitiesAndMethodsGo(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	id := createMetric(t, n, newPolicy(t, "p", 0, []time.Duration{minute, 5 * minute}, "sum", "max"))
	for i := range 5000 {
		post(t, n, id, map[int]float64{i * 60: float64(i)})
	}
	checkpoint(t, n)
	changePolicy(t, n, newPolicy(t, "p", 0, []time.Duration{10 * minute}, "max"))
	rebuild(t, n, id)
	if got := values(t, n, id, 10*minute, carbonara.Max); len(got) != 500 || got[0] != 9 || got[600] != 19 {
		t.Fatal(len(got), got[0], got[600])
	}
	sizes, err := n.Metricd.Sizes(t.Context(), []uuid.UUID{id})
	if err != nil || len(sizes) != 1 || len(sizes[0].Splits) != 1 || sizes[0].Splits[10*minute] == 0 {
		t.Fatal(sizes, err)
	}
	// And back: five minutes can't be made of ten, except from the raw series.
	changePolicy(t, n, newPolicy(t, "p", 0, []time.Duration{5 * minute, 10 * minute}, "max", "sum"))
	rebuild(t, n, id)
	requireValues(t, values(t, n, id, 5*minute, carbonara.Sum),
		map[int]float64{299700: 4995 + 4996 + 4997 + 4998 + 4999})
	if got := values(t, n, id, 10*minute, carbonara.Max); len(got) != 500 {
		t.Fatal(len(got))
	}
	// of half of the last group nothing is known
	requireValues(t, values(t, n, id, 10*minute, carbonara.Sum), map[int]float64{})
	post(t, n, id, map[int]float64{299950: 1})
	requireValues(t, values(t, n, id, 10*minute, carbonara.Sum), map[int]float64{})
	post(t, n, id, map[int]float64{300000: 2})
	checkpoint(t, n)
	requireValues(t, values(t, n, id, 10*minute, carbonara.Sum), map[int]float64{300000: 2})
}

// TestRebuiltIsAsIfFromTheStart changes policies at random, while measures come in and late, and compares with a metric
// that had the last policy from the start. Every aggregate that can be there is there, and all are the same.
func TestRebuiltIsAsIfFromTheStart(t *testing.T) {
	seed := seedtest.Next(t)
	rounds := seedtest.Rounds(5, 20)
	for round := range rounds {
		t.Run(fmt.Sprintf("seed=%d/round=%d", seed, round), func(t *testing.T) {
			compareWithFresh(t, rand.New(rand.NewPCG(seed, uint64(round))))
		})
	}
}

var methodSets = [][]string{{"mean"}, {"sum", "max"}, {"mean", "min", "max", "sum", "std", "count"},
	{"last", "first", "rate:sum"}, {"median", "max"}, {"rate:mean", "rate:max", "95pct", "sum"},
	{"increase", "resets", "sum"}, {"increase", "95pct"}}

func compareWithFresh(t *testing.T, rng *rand.Rand) {
	granularitySets := [][]time.Duration{{minute}, {minute, 5 * minute}, {5 * minute},
		{minute, 10 * minute, 30 * minute}, {7 * time.Second, minute}, {90 * time.Second, 3 * minute}, {30 * minute},
		{time.Hour}, {25 * minute, 100 * minute}}
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	var policies []*model.ArchivePolicy
	backWindow := rng.IntN(3)
	for range 2 + rng.IntN(2) {
		policies = append(policies, newPolicy(t, "p", backWindow, granularitySets[rng.IntN(len(granularitySets))],
			methodSets[rng.IntN(len(methodSets))]...))
	}
	last := *policies[len(policies)-1]
	last.Name = "fresh"
	id, fresh := createMetric(t, n, policies[0]), createMetric(t, n, &last)
	now := rng.IntN(100_000)
	if rng.IntN(2) == 0 { // of the year 2036; it counts for nothing
		post(t, n, id, map[int]float64{385_978_096: 9})
		post(t, n, fresh, map[int]float64{385_978_096: 9})
	}
	floor := 0 // nothing older is sent, so that both take all
	for i, policy := range policies {
		if i > 0 {
			checkpoint(t, n) // what is late is judged when it is processed, by the policy of then; after a crash, again
			changePolicy(t, n, policy)
			if rng.IntN(2) == 0 {
				post(t, n, id, map[int]float64{now: 1})
				post(t, n, fresh, map[int]float64{now: 1})
			}
			if rng.IntN(3) == 0 {
				n.Restart(rng.IntN(2) == 0)
			}
			rebuild(t, n, id)
		}
		for range 10 + rng.IntN(60) {
			now += 1 + rng.IntN(400)
			for _, p := range []*model.ArchivePolicy{policies[max(0, i-1)], policy, &last} {
				block := p.Plan().Coarsest()
				opened := (start + carbonara.Timestamp(now)*1e9).Floor(block) - carbonara.Timestamp(
					p.BackWindowBlocks())*carbonara.Timestamp(block)
				if second := int((opened - start) / 1e9); i == 0 || p != policies[i-1] {
					floor = max(floor, second+1)
				}
			}
			measures := map[int]float64{now: float64(rng.IntN(1000))}
			if late := now - rng.IntN(2000); rng.IntN(3) == 0 && late >= floor {
				measures[late] = float64(rng.IntN(1000))
			}
			post(t, n, id, measures)
			post(t, n, fresh, measures)
			switch rng.IntN(8) {
			case 0:
				checkpoint(t, n)
			case 1:
				n.Read(id, policy.Granularities()[0])
			case 2:
				if rng.IntN(8) == 0 {
					n.Restart(rng.IntN(2) == 0)
				}
			}
		}
		// Where windows widen, measures after a change can no longer change groups from before it.
		floor = max(floor, windowStart(policy, now))
	}
	defer func() {
		if t.Failed() {
			for _, p := range policies {
				t.Logf("%v, back window %d: %v", p.Granularities(), p.BackWindow, p.MethodNames())
			}
		}
	}()
	for range 2 {
		for _, g := range last.Granularities() {
			compareGroups(t, policies, g, n.Read(id, g), n.Read(fresh, g))
		}
		checkpoint(t, n)
	}
}

// windowStart is the second from which on a policy takes measures when the newest is at second now.
func windowStart(p *model.ArchivePolicy, now int) int {
	block := p.Plan().Coarsest()
	opened := (start + carbonara.Timestamp(now)*1e9).Floor(block) - carbonara.Timestamp(
		p.BackWindowBlocks())*carbonara.Timestamp(block)
	return int((opened-start)/1e9) + 1
}

func compareGroups(t *testing.T, policies []*model.ArchivePolicy, g time.Duration, got, want *carbonara.Groups) {
	t.Helper()
	last := policies[len(policies)-1]
	always := !slices.ContainsFunc(policies, func(p *model.ArchivePolicy) bool { return !p.HasGranularity(g) })
	for _, m := range last.Methods() {
		starts, values := got.Aggregate(m, nil, nil)
		wantStarts, wantValues := want.Aggregate(m, nil, nil)
		all := make(map[carbonara.Timestamp]float64)
		for i, at := range wantStarts {
			all[at] = wantValues[i]
		}
		for i, at := range starts {
			v, ok := all[at]
			if i == 0 && m.IsCounter() && ok {
				continue // the step from the group before, which only fresh may have, is missing
			}
			if close := math.Abs(v-values[i]) <= 1e-9*math.Abs(v); !ok || !close && m.Base() == carbonara.Std ||
				v != values[i] && m.Base() != carbonara.Std && !close {
				t.Errorf("%v at %v of %v: %v, want %v (%v)", m, g, at.Time(), values[i], v, ok)
			}
		}
		had := !slices.ContainsFunc(policies, func(p *model.ArchivePolicy) bool {
			return slices.ContainsFunc(m.Columns(), func(c carbonara.Column) bool {
				return !slices.Contains(p.Plan().Columns, c)
			})
		})
		if always && had && len(starts) != len(wantStarts) {
			t.Errorf("%v at %v: %d groups, want %d: it was there all the time", m, g, len(starts), len(wantStarts))
		}
		if first := policies[0].Granularities()[0]; len(policies) == 2 && had && m.Percentile() == 0 &&
			m.Base() != carbonara.Median && g%first == 0 && dividing(policies[0]) &&
			len(starts) < len(wantStarts)-1 {
			t.Errorf("%v at %v: %d groups, want %d: they follow from those of %v", m, g, len(starts),
				len(wantStarts), first)
		}
		if n := len(starts); n > 0 && len(wantStarts) > 0 && had && starts[n-1] != wantStarts[len(wantStarts)-1] &&
			m.Percentile() == 0 && m.Base() != carbonara.Median && g%policies[0].Granularities()[0] == 0 &&
			len(policies) == 2 && dividing(policies[0]) {
			t.Errorf("%v at %v ends at %v, want %v", m, g, starts[n-1].Time(), wantStarts[len(wantStarts)-1].Time())
		}
	}
}

// dividing reports whether each granularity divides the next.
func dividing(p *model.ArchivePolicy) bool {
	granularities := p.Granularities()
	for i := range granularities[1:] {
		if granularities[i+1]%granularities[i] != 0 {
			return false
		}
	}
	return true
}

// TestWhatDoesNotDecodeKeepsItsForm: an archive is not rebuilt from a half of its bytes, and does not keep others from
// their new form.
func TestWhatDoesNotDecodeKeepsItsForm(t *testing.T) {
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	policy := newPolicy(t, "p", 0, []time.Duration{minute}, "sum")
	ids := []uuid.UUID{createMetric(t, n, policy), createMetric(t, n, policy), createMetric(t, n, policy)}
	for _, id := range ids {
		post(t, n, id, map[int]float64{0: 1, 60 * 4000: 2})
	}
	n.Stop(context.Background())
	store, err := archive.Open("sacks/000/e1", archive.Options{FS: fs})
	fatal.If(t, err)
	garbage := []byte{1, 2, 3}
	for _, key := range [][]byte{archive.RawKey(ids[0]),
		archive.SplitKey(ids[1], carbonara.SplitKeyOf(start, minute))} {
		fatal.If(t, store.DB().Merge(key, garbage, nil))
	}
	fatal.If(t, store.Close())
	n = testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1})
	defer n.Stop(context.Background())
	changePolicy(t, n, newPolicy(t, "p", 0, []time.Duration{5 * minute}, "sum"))
	done, err := n.Rebuild(context.Background(), ids...)
	if err != nil || done.Changed != 1 || done.Failed != 2 || done.Fault == "" {
		t.Fatal(done, err)
	}
	for _, id := range ids {
		post(t, n, id, map[int]float64{60*4000 + 1: 5})
	}
	checkpoint(t, n)
	sizes, err := n.Metricd.Sizes(t.Context(), ids)
	fatal.If(t, err)
	for i, size := range sizes {
		if len(size.Splits) != 1 || (size.Splits[minute] > 0) != (i < 2) {
			t.Errorf("metric %d: %v", i, size)
		}
	}
	requireValues(t, values(t, n, ids[2], 5*minute, carbonara.Sum), map[int]float64{0: 1, 60 * 4000: 7})
}

// batches notes how many packed series it is given together.
type batches struct {
	carbonara.Resampler
	packed []int
}

func (b *batches) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	if packed := slices.DeleteFunc(slices.Clone(batch.Series), func(s carbonara.Series) bool {
		return s.Packed == nil
	}); len(packed) > 0 {
		b.packed = append(b.packed, len(packed))
	}
	return b.Resampler.Resample(ctx, batch, result)
}

// TestManyAreRebuiltTogether: raw series go packed to the resampler of the options, many at once; one that turns out to
// be corrupt there is no loss to the others.
func TestManyAreRebuiltTogether(t *testing.T) {
	const metrics, measures = 30, 3000
	fs, resampler := vfs.NewMem(), &batches{Resampler: carbonara.NewCPUResampler(1)}
	options := testnode.Options{FS: fs, Sacks: 1, Workers: 1, Resampler: resampler}
	n := testnode.Start(t, options)
	policy := newPolicy(t, "p", 3000, []time.Duration{minute}, "sum")
	rng := rand.New(rand.NewPCG(1, 2))
	ids, want := make([]uuid.UUID, metrics), make([]map[int]float64, metrics)
	for i := range ids {
		ids[i], want[i] = createMetric(t, n, policy), map[int]float64{}
		all, at := map[int]float64{}, 0
		for range measures {
			at += 1 + rng.IntN(90)
			all[at] = float64(rng.IntN(1000))
			want[i][at/300*300] = max(want[i][at/300*300], all[at])
		}
		post(t, n, ids[i], all)
	}
	checkpoint(t, n)
	n.Stop(context.Background())
	damageRaw(t, fs, ids[7])
	n = testnode.Start(t, options)
	defer n.Stop(context.Background())
	changePolicy(t, n, newPolicy(t, "p", 3000, []time.Duration{5 * minute}, "max"))
	resampler.packed = nil
	done, err := n.Rebuild(context.Background(), ids...)
	if err != nil || done.Changed != metrics-1 || done.Failed != 1 || done.Fault == "" {
		t.Fatal(done, err)
	}
	if together := slices.Max(append(resampler.packed, 0)); together < 5 { // all of them, unless the machine is slow
		t.Errorf("%d packed series at a time, of %d", resampler.packed, metrics)
	}
	for i, id := range ids {
		if i != 7 {
			requireValues(t, values(t, n, id, 5*minute, carbonara.Max), want[i])
		}
	}
}

// damageRaw makes a raw series one that decodes no more, but for its head and its end.
func damageRaw(t *testing.T, fs vfs.FS, id uuid.UUID) {
	t.Helper()
	store, err := archive.Open("sacks/000/e1", archive.Options{FS: fs})
	fatal.If(t, err)
	timestamps, values, _, err := store.Raw(id, nil, nil)
	fatal.If(t, err)
	whole := carbonara.AppendRaw(nil, 0, timestamps, values)
	for at := range whole {
		raw := slices.Clone(whole)
		raw[at] ^= 0x55
		end := len(raw) - 4
		binary.LittleEndian.PutUint32(raw[end:], uint32(xxhash.Sum64(raw[:end])))
		_, _, err := carbonara.DecodeRaw(raw, nil, nil)
		_, endErr := carbonara.EndOfRaw(raw)
		if err == nil || endErr != nil || new(carbonara.Packed).Parse(raw) != nil {
			continue
		}
		fatal.If(t, errors.Join(store.DB().Set(archive.RawKey(id), raw, nil), store.Close()))
		return
	}
	t.Fatal("whatever is damaged is seen at once")
}
