package carbonara_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// resampledSplit returns groups of testKey as a resampler answers them, of a gauge with two decimals.
func resampledSplit(seed uint64, measures, groups int) *carbonara.Groups {
	rng := rand.New(rand.NewPCG(seed, 1))
	level := 5000
	return resampledGroups(measures, groups, func(int) float64 {
		level += rng.IntN(201) - 100
		return float64(level) / 100
	})
}

// resampledGroups returns groups of testKey with so many measures each.
func resampledGroups(measures, groups int, value func(i int) float64) *carbonara.Groups {
	methods, err := carbonara.ParseMethods([]string{"mean", "min", "max", "sum", "count", "std", "first", "last",
		"95pct", "rate:mean", "rate:std", "rate:max"})
	if err != nil {
		panic(err)
	}
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, methods)
	batch := &carbonara.Batch{}
	for i := range measures * groups {
		at := carbonara.Timestamp(i) * carbonara.Timestamp(time.Minute) / carbonara.Timestamp(measures)
		batch.Timestamps = append(batch.Timestamps, testKey.Start+at)
		batch.Values = append(batch.Values, value(i))
	}
	batch.Series = []carbonara.Series{{Plan: plan, To: len(batch.Values)}}
	var result carbonara.Result
	if err := carbonara.NewCPUResampler(1).Resample(context.Background(), batch, &result); err != nil {
		panic(err)
	}
	return result.Groups(0, 0)
}

// Real groups come back bit for bit, whole and in parts, at the sizes where vectors begin and end.
func TestVectorSplitRoundTrip(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 9))
	for _, measures := range []int{1, 2, 12, 61} {
		for _, n := range []int{64, 127, 128, 1000, 1024, 1025, 2048, 3600} {
			g := resampledSplit(uint64(n), measures, n)
			src := carbonara.AppendSplit(nil, testKey, g)
			if src[0] != 2 {
				t.Fatalf("%d groups are written in format %d", n, src[0])
			}
			wantGroups(t, mustDecodeSplit(t, src, testKey, g.Columns), g)
			for range 20 {
				lo := rng.IntN(n)
				hi := lo + 1 + rng.IntN(n-lo)
				columns := []carbonara.Column{g.Columns[rng.IntN(len(g.Columns))]}
				rows := g.Slice(lo, hi)
				part, want := new(carbonara.Groups), new(carbonara.Groups)
				want.Reset(g.Granularity, columns)
				want.Append(&rows)
				fatal.If(t, carbonara.DecodeSplit(src, testKey, columns, g.Starts[lo], g.Starts[hi-1]+1,
					part))
				wantGroups(t, part, want)
			}
		}
	}
}

// A split that format 1 wrote folds with one of format 2 into one of format 2.
func TestFormatsFold(t *testing.T) {
	g := resampledSplit(1, 12, 200)
	var operands [][]byte
	for _, cut := range [][2]int{{0, 150}, {150, 170}, {160, 200}} {
		rows := g.Slice(cut[0], cut[1])
		operands = append(operands, carbonara.AppendSplit(nil, testKey, &rows))
	}
	if operands[0][0] != 2 || operands[1][0] != 1 {
		t.Fatalf("operands are of formats %d and %d", operands[0][0], operands[1][0])
	}
	merged := mustMergeSplits(t, operands)
	if merged[0] != 2 {
		t.Errorf("folded into format %d", merged[0])
	}
	wantGroups(t, mustDecodeSplit(t, merged, testKey, g.Columns), g)
}

func TestVectorSplitCodecs(t *testing.T) {
	info, err := carbonara.SplitInfo(carbonara.AppendSplit(nil, testKey, resampledSplit(1, 12, 1024)))
	fatal.If(t, err)
	for _, c := range info.Columns {
		want := "decimal relative to mean e=2"
		switch c.Column.Base() {
		case carbonara.ColumnCount:
			want = "decimal"
		case carbonara.ColumnSum:
			want = "decimal e=2"
		case carbonara.ColumnM2:
			want = "second moment relative to range e=2"
			if c.Column.IsRate() { // rate:min is not stored
				want = "second moment e=2"
			}
		case carbonara.PercentileColumn(95):
			want = "decimal relative to mean"
		}
		if !strings.HasPrefix(c.Codec, want) {
			t.Errorf("%v: %q, want %q", c.Column, c.Codec, want)
		}
	}
}

// The bytes of a group in seven columns, for data of several kinds.
func TestVectorSplitsAreSmall(t *testing.T) {
	rng := rand.New(rand.NewPCG(10, 11))
	methods, err := carbonara.ParseMethods([]string{"mean", "min", "max", "sum", "count", "std", "first", "last"})
	fatal.If(t, err)
	columns := carbonara.NewPlan([]time.Duration{time.Minute}, methods).Columns
	f := func(name string, measures int, value func(i int) float64, most float64) {
		t.Helper()
		all := resampledGroups(measures, 3600, value)
		g := new(carbonara.Groups)
		g.Reset(all.Granularity, columns)
		g.Append(all)
		got := float64(len(carbonara.AppendSplit(nil, testKey, g))) / 3600
		if got > most {
			t.Errorf("%s, %d measures a group: %.4f bytes a group, want %.4f at most", name, measures, got, most)
		}
	}
	counter := 0
	f("zeros", 12, func(int) float64 { return 0 }, 0.01)
	f("constant", 1, func(int) float64 { return 42.5 }, 0.01)
	f("counter", 12, func(int) float64 { counter += 1500; return float64(counter) }, 0.055)
	f("gauge", 1, func(int) float64 { return float64(2000+rng.IntN(256)) / 100 }, 1.03)
	f("gauge", 12, func(int) float64 { return float64(2000+rng.IntN(256)) / 100 }, 8.6)
	f("random", 1, func(int) float64 { return rng.NormFloat64() }, 8.1)
	f("random", 12, func(int) float64 { return rng.NormFloat64() }, 8.1*6)
}

// The groups of the golden series, one series after the other, come back from vectors as they went in: the golden
// series hold the store as well as the resampler.
func TestGoldenGroupsThroughVectors(t *testing.T) {
	splits := make(map[string]*carbonara.Groups) // by columns
	for _, v := range goldenVectors(t) {
		batch := &carbonara.Batch{Timestamps: v.Timestamps, Values: v.Values}
		batch.Series = []carbonara.Series{{Plan: planOf(v.Granularities), To: len(v.Values)}}
		result := resample(t, 1, batch)
		for j := range v.Granularities {
			g := result.Groups(0, j)
			all := splits[fmt.Sprint(g.Columns)]
			if all == nil {
				all = new(carbonara.Groups)
				all.Reset(testKey.Granularity, g.Columns)
				splits[fmt.Sprint(g.Columns)] = all
			}
			rows := g.Slice(0, min(g.Len(), carbonara.GroupsPerSplit-all.Len()))
			rows.Starts = make([]carbonara.Timestamp, rows.Len())
			for i := range rows.Starts {
				rows.Starts[i] = testKey.Start +
					carbonara.Timestamp(all.Len()+i)*carbonara.Timestamp(testKey.Granularity)
			}
			all.Append(&rows)
		}
	}
	inVectors := 0
	for _, g := range splits {
		src := carbonara.AppendSplit(nil, testKey, g)
		wantGroups(t, mustDecodeSplit(t, src, testKey, g.Columns), g)
		if src[0] == 2 {
			inVectors += g.Len()
		}
	}
	if inVectors < 400 {
		t.Errorf("only %d golden groups went through vectors", inVectors)
	}
}

// A sum in floats lies some float64 beside the decimal; that is kept.
func TestSumKeepsItsBits(t *testing.T) {
	g := resampledGroups(10, 100, func(i int) float64 { return []float64{0.1, 0.3, 0.7}[i%3] })
	sums := g.Column(carbonara.ColumnSum)
	beside := 0
	for _, sum := range sums {
		if sum != math.Round(sum*10)/10 {
			beside++
		}
	}
	if beside == 0 {
		t.Fatal("all sums are decimals")
	}
	got := mustDecodeSplit(t, carbonara.AppendSplit(nil, testKey, g), testKey, g.Columns)
	wantGroups(t, got, g)
}

// Once their memory has grown, encoding and decoding allocate nothing, for any kinds of columns.
func TestVectorSplitsAllocateNothing(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 13))
	f := func(name string, g *carbonara.Groups) {
		t.Helper()
		var src []byte
		got := new(carbonara.Groups)
		n := testing.AllocsPerRun(50, func() {
			src = carbonara.AppendSplit(src[:0], testKey, g)
			got.Reset(testKey.Granularity, g.Columns)
			fatal.If(t, carbonara.DecodeSplit(src, testKey, g.Columns, 0, carbonara.MaxTimestamp, got))
		})
		// The pool may lose its memory to the collector, rarely.
		if n >= 1 {
			t.Errorf("%s: %v allocations a turn", name, n)
		}
		wantGroups(t, got, g)
	}
	f("gauge", resampledSplit(1, 12, 3600))
	f("tailed", resampledGroups(12, 1500, tailed(rng, 1, 12)))
	f("random", resampledGroups(2, 1500, func(int) float64 { return rng.NormFloat64() }))
}

// ofSixMethods returns g with the columns of mean, min, max, sum, count and std only.
func ofSixMethods(g *carbonara.Groups) *carbonara.Groups {
	six := new(carbonara.Groups)
	six.Reset(g.Granularity, []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnMin,
		carbonara.ColumnMax, carbonara.ColumnM2})
	six.Append(g)
	return six
}

func BenchmarkVectorSplit(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 1))
	level, total := 5000, 0
	for _, c := range []struct {
		pattern  string
		measures int
		value    func(i int) float64
	}{
		{"gauge", 1, func(int) float64 { level += rng.IntN(201) - 100; return float64(level) / 100 }},
		{"gauge", 12, func(int) float64 { level += rng.IntN(201) - 100; return float64(level) / 100 }},
		{"tailed", 1, tailed(rng, 0, 8)},
		{"tailed", 12, tailed(rng, 0, 8)},
		{"counter", 12, func(int) float64 { total += 1000 + rng.IntN(1000); return float64(total) }},
		{"percentage", 12, func(int) float64 { return float64(rng.IntN(1001)) / 10 }},
		{"random", 12, func(int) float64 { return rng.NormFloat64() }},
	} {
		measures := c.measures
		g := ofSixMethods(resampledGroups(measures, carbonara.GroupsPerSplit, c.value))
		b.Run(fmt.Sprintf("pattern=%s/op=encode/measures=%d", c.pattern, measures), func(b *testing.B) {
			var src []byte
			for b.Loop() {
				src = carbonara.AppendSplit(src[:0], testKey, g)
			}
			reportSplit(b, src, g.Len(), len(g.Columns))
		})
		b.Run(fmt.Sprintf("pattern=%s/op=decode/measures=%d", c.pattern, measures), func(b *testing.B) {
			src := carbonara.AppendSplit(nil, testKey, g)
			got := new(carbonara.Groups)
			for b.Loop() {
				got.Reset(testKey.Granularity, g.Columns)
				fatal.If(b, carbonara.DecodeSplit(src, testKey, g.Columns, 0, carbonara.MaxTimestamp, got))
			}
			reportSplit(b, src, g.Len(), len(g.Columns))
			wantGroups(b, got, g)
		})
	}
}

// BenchmarkDecodeTail reads count and sum of the last 60 groups, of a full split and of one that has no more.
func BenchmarkDecodeTail(b *testing.B) {
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}
	all := ofSixMethods(resampledSplit(1, 12, carbonara.GroupsPerSplit))
	for _, groups := range []int{60, 64, 1024, 1084, carbonara.GroupsPerSplit} {
		b.Run(fmt.Sprintf("of=%d", groups), func(b *testing.B) {
			b.ReportAllocs()
			g := all.Slice(0, groups)
			src := carbonara.AppendSplit(nil, testKey, &g)
			rows := g.Slice(groups-60, groups)
			got := new(carbonara.Groups)
			for b.Loop() {
				got.Reset(testKey.Granularity, columns)
				fatal.If(b, carbonara.DecodeSplit(src, testKey, columns, rows.Starts[0],
					carbonara.MaxTimestamp, got))
			}
			want := new(carbonara.Groups)
			want.Reset(testKey.Granularity, columns)
			want.Append(&rows)
			wantGroups(b, got, want)
		})
	}
}

// Earlier groups in the same scratch memory leave no trace in the bytes: else operands would fold into other bytes than
// all groups at once. (The encoder once tried nine digits first on the values after them, and a few values of five
// digits fit.)
func TestBytesDependOnGroupsOnly(t *testing.T) {
	groups := func(digits, tail int) *carbonara.Groups {
		return resampledGroups(7, 300, tailed(rand.New(rand.NewPCG(1, 1)), digits, tail))
	}
	split := func(g *carbonara.Groups) string {
		part := g.Slice(0, 101)
		return string(carbonara.AppendSplit(nil, testKey, &part))
	}
	raw := func(g *carbonara.Groups) string {
		return string(carbonara.AppendRaw(nil, 0, g.Starts, g.Column(carbonara.ColumnSum)))
	}
	for _, encode := range []func(*carbonara.Groups) string{split, raw} {
		runtime.GC() // twice: scratch memory is new then
		runtime.GC()
		g := groups(5, 36)
		want := encode(g)
		for digits := range 17 {
			encode(groups(digits, 10))
			if encode(g) != want {
				t.Errorf("encoded otherwise after groups of %d digits", digits)
			}
		}
	}
}
