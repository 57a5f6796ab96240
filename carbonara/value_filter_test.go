package carbonara_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// wantMatching checks that of src, which holds g, all is found that is at least so much, and that much, and returns how
// many groups were decoded for the latter.
func wantMatching(t *testing.T, src []byte, g *carbonara.Groups, m carbonara.Method, value float64) (decoded int) {
	t.Helper()
	for _, zone := range []carbonara.Zone{{Low: value, High: math.Inf(1)}, {Low: math.Inf(-1), High: value},
		{Low: value, High: value}} {
		valueFilter := carbonara.ValueFilter{Method: m, Zone: zone}
		got := new(carbonara.Groups)
		fatal.If(t, valueFilter.DecodeMatching(src, testKey, g.Columns, 0, carbonara.MaxTimestamp, 0, got))
		decoded = got.Len()
		wantStarts, wantValues := within(zone, g, m)
		gotStarts, gotValues := within(zone, got, m)
		if !slices.Equal(gotStarts, wantStarts) || !slices.Equal(gotValues, wantValues) {
			t.Fatalf("%v in %v: found %d groups of %d", m, zone, len(gotStarts), len(wantStarts))
		}
	}
	return decoded
}

// within returns the aggregates that lie in a zone.
func within(zone carbonara.Zone, g *carbonara.Groups, m carbonara.Method) (
	starts []carbonara.Timestamp, values []float64) {
	allStarts, allValues := g.Aggregate(m, nil, nil)
	for i, v := range allValues {
		if v >= zone.Low && v <= zone.High {
			starts, values = append(starts, allStarts[i]), append(values, v)
		}
	}
	return starts, values
}

// Every match is found, and most vectors of a slow gauge are skipped.
func TestValueFilterDecodeMatching(t *testing.T) {
	methods, err := carbonara.ParseMethods([]string{"mean", "min", "max", "sum", "count", "std", "last", "95pct",
		"rate:mean", "rate:std", "rate:max"})
	fatal.If(t, err)
	for _, measures := range []int{1, 12} {
		for _, n := range []int{30, 700, 3600} {
			g := resampledGroups(measures, n, func(i int) float64 { return float64(i)/100 + float64(i%7)/10 })
			src := carbonara.AppendSplit(nil, testKey, g)
			for _, m := range methods {
				_, values := g.Aggregate(m, nil, nil)
				for at := 0; at < len(values); at += 97 {
					wantMatching(t, src, g, m, values[at])
				}
				if m == carbonara.Mean && n == 3600 {
					if decoded := wantMatching(t, src, g, m, values[3000]); decoded > 1600 {
						t.Errorf("zones of the mean are too wide: %d groups are decoded for one", decoded)
					}
				}
			}
		}
	}
}

// A vector that begins before older groups end is kept, as it replaces them.
func TestValueFilterKeepsWhatReplaces(t *testing.T) {
	g := resampledGroups(1, 3600, func(i int) float64 { return float64(i) })
	src := carbonara.AppendSplit(nil, testKey, g)
	nothing := carbonara.ValueFilter{Method: carbonara.Max, Zone: carbonara.Zone{Low: -2, High: -1}}
	for _, f := range []struct{ later, want int }{{0, 0}, {1, 1024}, {1024, 1024}, {1025, 2048}, {3599, 3600}} {
		got := new(carbonara.Groups)
		fatal.If(t, nothing.DecodeMatching(src, testKey, g.Columns, 0, carbonara.MaxTimestamp,
			g.Starts[f.later], got))
		if got.Len() != f.want {
			t.Errorf("older groups before %d: %d groups are kept, want %d", f.later, got.Len(), f.want)
		}
	}
}

// Damage is found, and leaves what was decoded before.
func TestValueFilterDecodesNoDamage(t *testing.T) {
	g := resampledSplit(1, 12, 100)
	src := carbonara.AppendSplit(nil, testKey, g)
	valueFilter := carbonara.ValueFilter{Method: carbonara.Mean, Zone: carbonara.Zone{Low: 0, High: math.Inf(1)}}
	for i := range src {
		damaged := append([]byte(nil), src...)
		damaged[i] ^= 1
		got := mustDecodeSplit(t, src, testKey, g.Columns)
		if err := valueFilter.DecodeMatching(damaged, testKey, g.Columns, 0, carbonara.MaxTimestamp, 0,
			got); !errors.Is(err, carbonara.ErrCorrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
		wantGroups(t, got, g)
	}
	empty := new(carbonara.Groups)
	empty.Reset(testKey.Granularity, columnsOf7)
	src = carbonara.AppendSplit(nil, testKey, empty)
	if err := valueFilter.DecodeMatching(src, testKey, columnsOf7, 0, carbonara.MaxTimestamp, 0, empty); err != nil ||
		empty.Len() > 0 {
		t.Errorf("%d groups of none, %v", empty.Len(), err)
	}
}

// ZoneOf finds the least and the greatest value that meet a condition, to the bit.
func TestZoneOf(t *testing.T) {
	inf := math.Inf(1)
	for _, want := range []carbonara.Zone{{Low: 3, High: 7.5}, {Low: -inf, High: -1e-300},
		{Low: math.MaxFloat64, High: inf}, {Low: 1, High: 1}, {Low: -inf, High: inf},
		{Low: math.Copysign(0, -1), High: 0}, {Low: inf, High: inf}} {
		got := carbonara.ZoneOf(want.Meets)
		if got != want || math.Signbit(got.Low) != math.Signbit(want.Low) ||
			math.Signbit(got.High) != math.Signbit(want.High) {
			t.Errorf("got %v, want %v", got, want)
		}
	}
	if got := carbonara.ZoneOf(func(carbonara.Zone) bool { return false }); !got.Empty() {
		t.Errorf("got %v of nothing", got)
	}
}
