package carbonara_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// columnsOf7 are the columns of a policy with all moments.
var columnsOf7 = []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnMin,
	carbonara.ColumnMax, carbonara.ColumnM2, carbonara.ColumnFirst, carbonara.ColumnLast}

// A pattern gives the value of a column at a row. Rows are seen once each, in order.
type pattern struct {
	name  string
	value func(rng *rand.Rand, row, column int) float64
}

// splitPatterns are the shapes of data that the codec is judged by; column 0 is the count.
var splitPatterns = []pattern{
	{"constant", func(_ *rand.Rand, _, _ int) float64 { return 42.5 }},
	{"bits", func(r *rand.Rand, _, _ int) float64 { return float64(r.IntN(2)) }},
	{"counter", func(_ *rand.Rand, row, column int) float64 {
		if column == 0 {
			return 60
		}
		return 1e9 + float64(row*1500+column)
	}},
	{"gauge", func(r *rand.Rand, _, column int) float64 {
		if column == 0 {
			return 6
		}
		return float64(2000+r.IntN(300)) / 100
	}},
	{"single", nil}, // one measure in every group: see splitGroups
	{"sine", func(_ *rand.Rand, row, column int) float64 {
		return float64(column+1) * math.Sin(float64(row)/100)
	}},
	{"random", func(r *rand.Rand, _, _ int) float64 { return r.NormFloat64() }},
	{"holes", func(r *rand.Rand, row, column int) float64 {
		if r.IntN(4) == 0 {
			return math.NaN()
		}
		return float64(row + column)
	}},
	{"anything", func(r *rand.Rand, row, column int) float64 {
		if r.IntN(8) > 0 {
			return float64(row)
		}
		return oddValues[r.IntN(len(oddValues))]
	}},
	{"anybits", func(r *rand.Rand, _, _ int) float64 { return math.Float64frombits(r.Uint64()) }},
}

// oddValues are floats that a codec may get wrong.
var oddValues = []float64{0, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(),
	math.Float64frombits(0x7FF8000000000000), math.Float64frombits(0xFFF8000000000123),
	math.Float64frombits(0x7FF0000000000001),
	math.SmallestNonzeroFloat64, -math.SmallestNonzeroFloat64, math.MaxFloat64, -math.MaxFloat64, 1e15 + 0.5,
	0.30000000000000004, 1e-10,
	-1e-10, 9007199254740993, 1 << 62, -(1 << 62), 1 << 63, -(1 << 63), 4.5e15 + 0.5,
	900719925474.0993, 1e300, 123456.789}

// splitGroups makes the rows at positions of the split; all columns of the pattern.
func splitGroups(p pattern, key carbonara.SplitKey, columns []carbonara.Column, positions []int,
	seed uint64) *carbonara.Groups {
	rng := rand.New(rand.NewPCG(seed, 7))
	g := new(carbonara.Groups)
	g.Reset(key.Granularity, columns)
	for row, position := range positions {
		g.Starts = append(g.Starts, key.Start+carbonara.Timestamp(position)*carbonara.Timestamp(key.Granularity))
		single := float64(2000+rng.IntN(300)) / 100
		for c := range columns {
			var v float64
			switch {
			case p.value != nil:
				v = p.value(rng, row, c)
			case columns[c] == carbonara.ColumnCount:
				v = 1
			case columns[c] != carbonara.ColumnM2:
				v = single
			}
			g.Values[c] = append(g.Values[c], v)
		}
	}
	return g
}

func consecutive(n int) []int {
	positions := make([]int, n)
	for i := range positions {
		positions[i] = i
	}
	return positions
}

// positionSets are the kinds of presence.
func positionSets(rng *rand.Rand) map[string][]int {
	with := func(keep func(i int) bool) (positions []int) {
		for i := range carbonara.GroupsPerSplit {
			if keep(i) {
				positions = append(positions, i)
			}
		}
		return positions
	}
	return map[string][]int{
		"none":   nil,
		"one":    {3599},
		"two":    {0, 3599},
		"all":    consecutive(carbonara.GroupsPerSplit),
		"tail":   with(func(i int) bool { return i >= 3000 }),
		"stride": with(func(i int) bool { return i%7 == 3 }),
		"runs":   with(func(i int) bool { return i/500%2 == 1 }),
		"bitmap": with(func(int) bool { return rng.IntN(3) > 0 }),
		"sparse": with(func(int) bool { return rng.IntN(100) == 0 }),
		"ends":   {0, 1, 5, 6, 3598},
	}
}

var testKey = carbonara.SplitKeyOf(1_700_000_000_000_000_000, time.Minute)

func wantGroups(t testing.TB, got, want *carbonara.Groups) {
	t.Helper()
	if !slices.Equal(got.Starts, want.Starts) {
		t.Fatalf("starts: got %d, want %d", got.Len(), want.Len())
	}
	if !slices.Equal(got.Columns, want.Columns) {
		t.Fatalf("columns: got %v, want %v", got.Columns, want.Columns)
	}
	for c := range want.Columns {
		for i, v := range want.Values[c] {
			if math.Float64bits(got.Values[c][i]) != math.Float64bits(v) {
				t.Fatalf("%v of row %d: got %x, want %x (%v)", want.Columns[c], i, math.Float64bits(got.Values[c][i]),
					math.Float64bits(v), v)
			}
		}
	}
}

func mustDecodeSplit(t testing.TB, src []byte, key carbonara.SplitKey, columns []carbonara.Column) *carbonara.Groups {
	t.Helper()
	g := new(carbonara.Groups)
	fatal.If(t, carbonara.DecodeSplit(src, key, columns, 0, carbonara.MaxTimestamp, g))
	return g
}

func TestSplitRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for kind, positions := range positionSets(rng) {
		for _, p := range splitPatterns {
			t.Run(fmt.Sprintf("pattern=%s/presence=%s", p.name, kind), func(t *testing.T) {
				g := splitGroups(p, testKey, columnsOf7, positions, 3)
				src := carbonara.AppendSplit([]byte("before"), testKey, g)[len("before"):]
				wantGroups(t, mustDecodeSplit(t, src, testKey, columnsOf7), g)

				// A part of the rows and columns, after rows that are there already.
				want := []carbonara.Column{carbonara.ColumnSum, carbonara.ColumnM2, carbonara.PercentileColumn(95)}
				got := new(carbonara.Groups)
				got.Reset(testKey.Granularity, want)
				got.Starts = append(got.Starts, 5)
				for i := range got.Values {
					got.Values[i] = append(got.Values[i], 6)
				}
				from, to := testKey.Start+rngTimestamp(rng, 3*time.Hour), testKey.Start+rngTimestamp(rng, 60*time.Hour)
				fatal.If(t, carbonara.DecodeSplit(src, testKey, want, from, to, got))
				rows := carbonara.Groups{}
				if lo, hi := g.Search(from), g.Search(to); lo < hi {
					rows = g.Slice(lo, hi)
				}
				model := new(carbonara.Groups)
				model.Reset(testKey.Granularity, want)
				model.Starts = append(model.Starts, 5)
				for i := range model.Values {
					model.Values[i] = append(model.Values[i], 6)
				}
				model.Append(&rows)
				wantGroups(t, got, model)
			})
		}
	}
}

func rngTimestamp(rng *rand.Rand, upTo time.Duration) carbonara.Timestamp {
	return carbonara.Timestamp(rng.Int64N(int64(upTo)))
}

func TestSplitOfOddValues(t *testing.T) {
	column := []carbonara.Column{carbonara.ColumnSum}
	for i, a := range oddValues {
		for _, b := range oddValues[i:] {
			for _, values := range [][]float64{{a}, {a, b}, {b, a, a}, {1.25, a, math.NaN(), b}} {
				g := &carbonara.Groups{Granularity: time.Minute, Columns: column, Values: [][]float64{values}}
				for i := range values {
					g.Starts = append(g.Starts, testKey.Start+carbonara.Timestamp(i)*carbonara.Timestamp(time.Minute))
				}
				wantGroups(t, mustDecodeSplit(t, carbonara.AppendSplit(nil, testKey, g), testKey, column), g)
			}
		}
	}
}

func TestSplitDecimalsAreSmall(t *testing.T) {
	f := func(v []float64, wantCodec string) {
		t.Helper()
		g := &carbonara.Groups{Granularity: time.Minute, Columns: []carbonara.Column{carbonara.ColumnSum},
			Values: [][]float64{v}}
		for i := range v {
			g.Starts = append(g.Starts, testKey.Start+carbonara.Timestamp(i)*carbonara.Timestamp(time.Minute))
		}
		info, err := carbonara.SplitInfo(carbonara.AppendSplit(nil, testKey, g))
		fatal.If(t, err)
		if got := info.Columns[0].Codec; got != wantCodec {
			t.Errorf("%v: codec %q, want %q", v, got, wantCodec)
		}
	}
	f([]float64{7}, "decimal constant e=0")
	f([]float64{0.07, 0.07}, "decimal constant e=2")
	f([]float64{math.Pi}, "constant")
	f([]float64{math.Copysign(0, -1)}, "constant")
	f([]float64{1, 2, 3}, "decimal e=0")
	f([]float64{1000, 1001, 1002}, "decimal delta e=0")
	f([]float64{1, 2.5, 3.25}, "decimal e=2")
	f([]float64{3.25, 1e-10}, "decimal e=10")
	f([]float64{300000.25, 3.5}, "decimal e=2")
	f([]float64{1, math.NaN()}, "decimal delta with holes e=0")
	f([]float64{1, math.Inf(1)}, "float")
	f([]float64{1, 0.30000000000000004}, "float")
	f([]float64{0, math.Copysign(0, -1)}, "float")
	f([]float64{1e15 + 1, 1e-9}, "float") // no exponent for both
}

func TestSplitKey(t *testing.T) {
	f := func(at carbonara.Timestamp, granularity time.Duration, start, next carbonara.Timestamp) {
		t.Helper()
		key := carbonara.SplitKeyOf(at, granularity)
		if key.Start != start || key.Next().Start != next || key.Granularity != granularity {
			t.Errorf("split of %d by %v: %v, next %v", at, granularity, key, key.Next())
		}
		if !key.Contains(at) || !key.Contains(start) || key.Contains(start-1) ||
			(next < carbonara.MaxTimestamp && key.Contains(next)) {
			t.Errorf("what %v contains", key)
		}
	}
	second := carbonara.Timestamp(time.Second)
	f(0, time.Second, 0, 3600*second)
	f(3600*second-1, time.Second, 0, 3600*second)
	f(3600*second, time.Second, 3600*second, 7200*second)
	f(3600*second+5, 1, 3600*second, 3600*second+3600)
	f(carbonara.MaxTimestamp, time.Hour, carbonara.MaxTimestamp-carbonara.MaxTimestamp%(3600*3600*second),
		carbonara.MaxTimestamp)
	f(carbonara.MaxTimestamp, 40*24*time.Hour, 0, carbonara.MaxTimestamp)
	f(1_700_000_000*second, math.MaxInt64, 0, carbonara.MaxTimestamp)
}

func TestSplitAtTheEndOfTime(t *testing.T) {
	for _, granularity := range []time.Duration{1, time.Hour, 30 * 24 * time.Hour, math.MaxInt64} {
		key := carbonara.SplitKeyOf(carbonara.MaxTimestamp, granularity)
		g := &carbonara.Groups{Granularity: granularity,
			Starts:  []carbonara.Timestamp{carbonara.MaxTimestamp.Floor(granularity)},
			Columns: []carbonara.Column{carbonara.ColumnSum}, Values: [][]float64{{1}}}
		src := carbonara.AppendSplit(nil, key, g)
		merged, err := carbonara.MergeSplits(nil, key, [][]byte{src, src})
		if err != nil || string(merged) != string(src) {
			t.Errorf("%v: merged %x, want %x, %v", key, merged, src, err)
		}
		want := 1
		if g.Starts[0] == carbonara.MaxTimestamp {
			want = 0 // it does not start before "to"
		}
		if got := mustDecodeSplit(t, merged, key, g.Columns); got.Len() != want {
			t.Errorf("%v: %d groups, want %d", key, got.Len(), want)
		}
	}
}

func TestAppendSplitRefusesForeignGroups(t *testing.T) {
	f := func(starts ...carbonara.Timestamp) {
		t.Helper()
		defer func() {
			if recover() == nil {
				t.Errorf("groups %v of split %v are accepted", starts, testKey)
			}
		}()
		g := &carbonara.Groups{Starts: starts}
		carbonara.AppendSplit(nil, testKey, g)
	}
	minute := carbonara.Timestamp(time.Minute)
	f(testKey.Start - minute)
	f(testKey.Start + 1)
	f(testKey.Start+minute, testKey.Start)
	f(testKey.Start+3599*minute, testKey.Start+3600*minute)
	f(testKey.Start + 4000*minute)
}

func TestMergeSplits(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	for round := range 200 {
		all := columnsOf7[:1+rng.IntN(7)]
		model := map[carbonara.Timestamp][]float64{}
		var union []carbonara.Column
		var operands [][]byte
		for range 1 + rng.IntN(6) {
			var columns []carbonara.Column
			for _, c := range all {
				if rng.IntN(8) > 0 {
					columns = append(columns, c)
				}
			}
			var positions []int
			first, density := rng.IntN(3600), 1+rng.IntN(5)
			for i := first; i < min(3600, first+rng.IntN(500)); i++ {
				if rng.IntN(density) == 0 {
					positions = append(positions, i)
				}
			}
			g := splitGroups(splitPatterns[rng.IntN(len(splitPatterns))], testKey, columns, positions, uint64(round))
			operands = append(operands, carbonara.AppendSplit(nil, testKey, g))
			if g.Len() > 0 {
				union = append(union, columns...)
			}
			for i, start := range g.Starts {
				row := make([]float64, len(columnsOf7))
				for c := range row {
					row[c] = carbonara.Absent()
					if values := g.Column(columnsOf7[c]); values != nil {
						row[c] = values[i]
					}
				}
				model[start] = row
			}
		}
		slices.Sort(union)
		union = slices.Compact(union)
		want := new(carbonara.Groups)
		want.Reset(testKey.Granularity, columnsOf7)
		for start := range model {
			want.Starts = append(want.Starts, start)
		}
		slices.Sort(want.Starts)
		for _, start := range want.Starts {
			for c, v := range model[start] {
				want.Values[c] = append(want.Values[c], v)
			}
		}

		merged := mustMergeSplits(t, operands)
		wantGroups(t, mustDecodeSplit(t, merged, testKey, columnsOf7), want)
		info, err := carbonara.SplitInfo(merged)
		if err != nil || len(info.Columns) != len(union) || info.Groups != want.Len() || info.Bytes != len(merged) {
			t.Fatalf("%+v, %v: want columns %v and %d groups", info, err, union, want.Len())
		}

		// However the operands are gathered before, they fold into the same.
		at := rng.IntN(len(operands))
		end := at + 1 + rng.IntN(len(operands)-at)
		gathered := slices.Concat(operands[:at], [][]byte{mustMergeSplits(t, operands[at:end])}, operands[end:])
		if got := mustMergeSplits(t, gathered); string(got) != string(merged) {
			t.Fatalf("round %d: folding %d to %d of %d first gives another split", round, at, end, len(operands))
		}
	}
}

func mustMergeSplits(t testing.TB, operands [][]byte) []byte {
	t.Helper()
	merged, err := carbonara.MergeSplits([]byte("before"), testKey, operands)
	fatal.If(t, err)
	return merged[len("before"):]
}

// TestDecodeSplitOfDamage flips every bit pattern of single bytes, cuts and extends splits: all of these are refused.
func TestDecodeSplitOfDamage(t *testing.T) {
	f := func(src []byte) {
		t.Helper()
		got := new(carbonara.Groups)
		got.Reset(testKey.Granularity, columnsOf7)
		if err := carbonara.DecodeSplit(src, testKey, columnsOf7, 0, carbonara.MaxTimestamp, got); !errors.Is(err,
			carbonara.ErrCorrupt) {
			t.Fatalf("decode: error %v", err)
		}
		if got.Len() != 0 || len(got.Values[0]) != 0 {
			t.Fatal("rows of a corrupt split")
		}
		if out, err := carbonara.MergeSplits([]byte{1}, testKey, [][]byte{src}); !errors.Is(err,
			carbonara.ErrCorrupt) || len(out) != 1 {
			t.Fatalf("merge: error %v", err)
		}
		if _, err := carbonara.SplitInfo(src); !errors.Is(err, carbonara.ErrCorrupt) {
			t.Fatalf("info: error %v", err)
		}
	}
	for _, p := range splitPatterns {
		src := carbonara.AppendSplit(nil, testKey, splitGroups(p, testKey, columnsOf7, []int{0, 1, 2, 7, 9}, 1))
		for i := range src {
			for flip := 1; flip < 256; flip++ {
				damaged := slices.Clone(src)
				damaged[i] ^= byte(flip)
				f(damaged)
			}
			f(src[:i])
		}
		f(append(slices.Clone(src), 0))
		f(slices.Concat(src, src))
	}
	src := carbonara.AppendSplit(nil, testKey, resampledSplit(1, 12, 64))
	for i := range src {
		for _, flip := range []byte{1, 0x80, 0xff} {
			damaged := slices.Clone(src)
			damaged[i] ^= flip
			f(damaged)
		}
		f(src[:i])
	}
}
