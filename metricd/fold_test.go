package metricd_test

import (
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// folds by name, over the values of a group.
var folds = map[string]func(values []float64) float64{
	"count_above(7)": func(values []float64) float64 {
		return countIf(values, func(v float64) bool { return v > 7 })
	},
	"count_below(-.5)": func(values []float64) float64 {
		return countIf(values, func(v float64) bool { return v < -0.5 })
	},
	"share_above(5)": func(values []float64) float64 {
		return countIf(values, func(v float64) bool { return v > 5 }) / float64(len(values))
	},
	"difference": func(values []float64) float64 { return values[len(values)-1] - values[0] },
	"sum(x*x)": func(values []float64) (sum float64) {
		for _, v := range values {
			sum += v * v
		}
		return sum
	},
}

func countIf(values []float64, is func(float64) bool) (n float64) {
	for _, v := range values {
		if is(v) {
			n++
		}
	}
	return n
}

// requireFold compares a fold of groups with that of all measures, and returns how many groups lack it.
func requireFold(t *testing.T, g *carbonara.Groups, name string, measures map[carbonara.Timestamp]float64) (
	unknown int) {
	t.Helper()
	m, err := carbonara.ParseMethod(name)
	fatal.If(t, err)
	groups := map[carbonara.Timestamp][]float64{}
	for _, at := range slices.Sorted(maps.Keys(measures)) {
		groups[at.Floor(g.Granularity)] = append(groups[at.Floor(g.Granularity)], measures[at])
	}
	starts, got := g.Aggregate(m, nil, nil)
	for i, start := range starts {
		want := folds[name](groups[start])
		if got[i] != want && (got[i] == got[i] || want == want) &&
			!(name == "sum(x*x)" && math.Abs(got[i]-want) <= 1e-12*want) {
			t.Fatalf("%s of %v at %v: %v, want %v of %v", name, g.Granularity, start.Time(), got[i], want,
				groups[start])
		}
	}
	return len(groups) - len(starts)
}

// Folds of a metric are those of all its measures, in any batches, with late ones and equal times, after checkpoints
// and crashes. A rebuild keeps them and gives them to a wider granularity. Of a new threshold it knows some groups, and
// what it knows is right.
func TestFoldsOfAMetric(t *testing.T) {
	rounds := 100
	if testing.Short() {
		rounds = 25
	}
	policy := func(name string, window int, methods []string, granularities ...time.Duration) *model.ArchivePolicy {
		var definition []model.DefinitionInput
		for _, g := range granularities {
			definition = append(definition, model.DefinitionInput{Granularity: &g})
		}
		p, err := model.NewArchivePolicy(name, window, definition, methods)
		fatal.If(t, err)
		return p
	}
	special := []float64{5, math.Nextafter(5, 6), math.NaN(), math.Inf(1), math.Inf(-1), -0.5}
	inferred, unknown := 0, 0
	for range rounds {
		random := rand.New(rand.NewPCG(seedtest.Next(t), 0))
		n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1})
		window := random.IntN(3)
		before := []string{"share_above(5)", "count_below(-.5)", "difference", "sum(x*x)"}
		narrow := []time.Duration{10 * time.Second, 10 * time.Minute}
		wide := append(slices.Clone(narrow), time.Hour, 24*time.Hour)
		fatal.If(t, n.Index.CreateArchivePolicy(t.Context(), policy("narrow", window, before, narrow...)))
		fatal.If(t, n.Index.CreateArchivePolicy(t.Context(),
			policy("wide", window, append(slices.Clone(before), "count_above(7)"), wide...)))
		p, err := n.Index.ArchivePolicy("narrow")
		fatal.If(t, err)
		m := &model.Metric{Name: "x", Creator: "u:p", ArchivePolicy: p}
		fatal.If(t, n.Index.CreateMetric(t.Context(), m))
		measures := map[carbonara.Timestamp]float64{}
		begin := carbonara.Timestamp(1767225600e9) + carbonara.Timestamp(random.Int64N(3600e9))
		newest := begin
		for range 2 + random.IntN(10) {
			switch random.IntN(5) {
			case 0:
				n.Restart(random.IntN(3) > 0)
			case 1: // it fills the reader's cache
				n.Read(m.ID, narrow[random.IntN(2)])
			default:
				one := &model.Measures{Metrics: []uuid.UUID{m.ID}, Offsets: []int{0}}
				at, open := newest, newest.Floor(narrow[1])-carbonara.Timestamp(window)*carbonara.Timestamp(narrow[1])
				if random.IntN(3) == 0 { // late
					at = max(begin, open) + carbonara.Timestamp(random.Int64N(int64(newest-max(begin, open))+1))
				}
				for range 1 + random.IntN(60) {
					value := float64(random.IntN(200)-20) / 10
					if random.IntN(40) == 0 {
						value = special[random.IntN(len(special))]
					}
					one.Timestamps, one.Values = append(one.Timestamps, at), append(one.Values, value)
					measures[at] = value
					at += carbonara.Timestamp(random.Int64N(40e9))
				}
				one.Offsets = append(one.Offsets, len(one.Values))
				fatal.If(t, n.Post(one))
				newest = max(newest, slices.Max(one.Timestamps))
			}
		}
		check := func(granularities []time.Duration) {
			t.Helper()
			for _, g := range granularities {
				for _, name := range before {
					if lacks := requireFold(t, n.Read(m.ID, g), name, measures); lacks != 0 {
						t.Fatalf("%d groups of %v lack %s", lacks, g, name)
					}
				}
			}
		}
		check(narrow)
		n.Restart(true)
		check(narrow)
		_, _, err = n.Index.ChangeMetric(t.Context(), m.ID, "wide", time.Now())
		fatal.If(t, err)
		_, err = n.Rebuild(t.Context(), m.ID)
		fatal.If(t, err)
		check(wide)
		for _, g := range wide {
			groups := n.Read(m.ID, g)
			lacks := requireFold(t, groups, "count_above(7)", measures)
			inferred, unknown = inferred+groups.Len()-lacks, unknown+lacks
		}
		n.Stop(t.Context())
	}
	if unknown == 0 || inferred < unknown {
		t.Errorf("of a new threshold %d groups are known and %d are not", inferred, unknown)
	}
}
