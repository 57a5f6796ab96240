package carbonara

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Splits and raw series of format 1 of the size that is now written in format 2 are read, and rewritten when they fold.
func TestLargeFormat1IsReadAndRewritten(t *testing.T) {
	s := new(scratch)
	rng := rand.New(rand.NewPCG(1, 2))
	key := SplitKeyOf(1_700_000_000_000_000_000, time.Minute)
	g := new(Groups)
	g.Reset(key.Granularity, []Column{ColumnCount, ColumnSum, ColumnMin})
	var timestamps []Timestamp
	for i := range GroupsPerSplit {
		g.Starts = append(g.Starts, key.at(uint16(i)))
		timestamps = append(timestamps, key.at(uint16(i))+Timestamp(rng.IntN(1000)))
		for c, v := range []float64{float64(1 + i%3), float64(rng.IntN(1000)) / 10, rng.NormFloat64()} {
			g.Values[c] = append(g.Values[c], v)
		}
	}
	s.positions = appendPositions(s.positions[:0], key, g.Starts)
	old := s.appendColumnSplit(nil, g)
	folded, err := MergeSplits(nil, key, [][]byte{old})
	if err != nil || old[0] != splitVersion || folded[0] != splitVectorVersion {
		t.Fatalf("format %d folds into format %d, %v", old[0], folded[0], err)
	}
	for _, src := range [][]byte{old, folded} {
		got := new(Groups)
		fatal.If(t, DecodeSplit(src, key, g.Columns, 0, MaxTimestamp, got))
		if !slices.Equal(got.Starts, g.Starts) || !slices.EqualFunc(got.Values, g.Values, slices.Equal[[]float64]) {
			t.Fatalf("a split of format %d does not come back", src[0])
		}
	}

	values := g.Values[1]
	old = s.appendRawColumns(nil, rawMarks{timestamps[0], MaxTimestamp, false}, timestamps, values)
	folded, err = MergeRaw(nil, [][]byte{old})
	if err != nil || old[0] != rawVersion || folded[0] != rawVectorVersion {
		t.Fatalf("raw format %d folds into format %d, %v", old[0], folded[0], err)
	}
	for _, src := range [][]byte{old, folded} {
		gotTimestamps, gotValues, err := DecodeRaw(src, nil, nil)
		if err != nil || !slices.Equal(gotTimestamps, timestamps) || !slices.Equal(gotValues, values) {
			t.Fatalf("a raw series of format %d does not come back, %v", src[0], err)
		}
	}
}
