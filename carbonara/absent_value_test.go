package carbonara_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// TestWhatASplitLacksIsAbsent: columns that a policy has got since are no values of the groups before.
func TestWhatASplitLacksIsAbsent(t *testing.T) {
	key := carbonara.SplitKey{Granularity: time.Minute}
	minute := carbonara.Timestamp(time.Minute)
	old := carbonara.Groups{Granularity: time.Minute, Starts: []carbonara.Timestamp{0, minute},
		Columns: []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum},
		Values:  [][]float64{{2, 1}, {5, math.NaN()}}}
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnMax, carbonara.ColumnM2}
	newer := carbonara.Groups{Granularity: time.Minute, Starts: []carbonara.Timestamp{2 * minute},
		Columns: columns, Values: [][]float64{{3}, {6}, {math.NaN()}, {0.5}}}
	merged, err := carbonara.MergeSplits(nil, key,
		[][]byte{carbonara.AppendSplit(nil, key, &old), carbonara.AppendSplit(nil, key, &newer)})
	fatal.If(t, err)
	var groups carbonara.Groups
	groups.Reset(time.Minute, columns)
	fatal.If(t, carbonara.DecodeSplit(merged, key, columns, 0, carbonara.MaxTimestamp, &groups))
	want := func(g *carbonara.Groups, m carbonara.Method, starts ...carbonara.Timestamp) {
		t.Helper()
		if got, _ := g.Aggregate(m, nil, nil); !slices.Equal(got, starts) {
			t.Errorf("%v of groups %v, want %v", m, got, starts)
		}
	}
	want(&groups, carbonara.Count, 0, minute, 2*minute)
	want(&groups, carbonara.Sum, 0, minute, 2*minute) // a NaN is a value
	want(&groups, carbonara.Max, 2*minute)
	want(&groups, carbonara.Std, 2*minute)

	// Nor is anything known of a wider group that one of them is part of.
	var wide carbonara.Groups
	fatal.If(t, carbonara.Coarsen(&wide, &groups, 2*time.Minute))
	want(&wide, carbonara.Count, 0, 2*minute)
	want(&wide, carbonara.Sum, 0, 2*minute)
	want(&wide, carbonara.Max, 2*minute)
	want(&wide, carbonara.Std, 2*minute)
}

func TestEndOfRawTellsWhatIsKept(t *testing.T) {
	f := func(want carbonara.Timestamp, operands ...[]byte) {
		t.Helper()
		if got, err := carbonara.EndOfRaw(slices.Concat(operands...)); err != nil || got.KeptFrom != want {
			t.Errorf("%v (%v), want %v", got, err, want)
		}
	}
	f(0)
	f(0, carbonara.AppendRaw(nil, 0, []carbonara.Timestamp{5}, []float64{1}))
	f(7, carbonara.AppendRaw(nil, 7, []carbonara.Timestamp{9}, []float64{1}),
		carbonara.AppendRaw(nil, 3, []carbonara.Timestamp{10}, []float64{1}))
	f(4, carbonara.AppendRaw(nil, 4, nil, nil))
}
