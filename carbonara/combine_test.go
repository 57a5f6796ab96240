package carbonara_test

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var combineMethods = []string{"mean", "min", "max", "sum", "count", "std", "first", "last", "rate:mean", "rate:std"}

// decimalSeries returns measures, irregular in time, of values integers[i] / 10^e.
func decimalSeries(seed uint64, n, e int, spread int64) (timestamps []carbonara.Timestamp, values []float64,
	integers []int64) {
	rng := rand.New(rand.NewPCG(seed, 3))
	at := carbonara.Timestamp(1_700_000_000 * time.Second)
	for range n {
		at += 1 + carbonara.Timestamp(rng.Int64N(int64(20*time.Second)))
		i := rng.Int64N(2*spread) - spread/2
		timestamps, integers = append(timestamps, at), append(integers, i)
		values = append(values, float64(i)/math.Pow10(e))
	}
	return timestamps, values, integers
}

func resampleSeries(t testing.TB, granularities []time.Duration, timestamps []carbonara.Timestamp,
	values []float64) *carbonara.Result {
	t.Helper()
	methods, err := carbonara.ParseMethods(combineMethods)
	fatal.If(t, err)
	batch := &carbonara.Batch{Timestamps: timestamps, Values: values}
	batch.Series = []carbonara.Series{{Plan: carbonara.NewPlan(granularities, methods), To: len(values)}}
	return resample(t, 1, batch)
}

// exactMoments returns the float64 next to the sum and, in exact arithmetic, to the sum of squared distances.
func exactMoments(integers []int64, e int) (sum, m2 float64) {
	total, squares := new(big.Int), new(big.Int)
	for _, i := range integers {
		total.Add(total, big.NewInt(i))
		squares.Add(squares, new(big.Int).Mul(big.NewInt(i), big.NewInt(i)))
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(e)), nil)
	n := big.NewInt(int64(len(integers)))
	sum, _ = new(big.Rat).SetFrac(total, power).Float64()
	squares.Mul(squares, n)
	squares.Sub(squares, new(big.Int).Mul(total, total))
	m2, _ = new(big.Rat).SetFrac(squares, new(big.Int).Mul(n, new(big.Int).Mul(power, power))).Float64()
	return sum, m2
}

// requireExact compares the groups with exact arithmetic over the integers that fall into each.
func requireExact(t *testing.T, what string, g *carbonara.Groups, timestamps []carbonara.Timestamp,
	integers []int64, e int) {
	t.Helper()
	members := make(map[carbonara.Timestamp][]int64)
	for i, at := range timestamps {
		start := at.Floor(g.Granularity)
		members[start] = append(members[start], integers[i])
	}
	if g.Len() != len(members) {
		t.Fatalf("%s: %d groups, want %d", what, g.Len(), len(members))
	}
	for row, start := range g.Starts {
		sum, m2 := exactMoments(members[start], e)
		if got := g.Column(carbonara.ColumnSum)[row]; got != sum {
			t.Fatalf("%s: sum of group %d is %v, want %v", what, row, got, sum)
		}
		if got := g.Column(carbonara.ColumnM2)[row]; math.Abs(got-m2) > m2*0x1p-51 || (m2 == 0) != (got == 0) {
			t.Fatalf("%s: second moment of group %d is %v, want %v", what, row, got, m2)
		}
		if got := g.Column(carbonara.ColumnCount)[row]; got != float64(len(members[start])) {
			t.Fatalf("%s: %v measures in group %d, want %d", what, got, row, len(members[start]))
		}
	}
}

// Coarser groups of decimals are exact, equal a resampler's where that is, and come out the same bit for bit in one
// step or two, from memory or from splits.
func TestCoarsenIsExactForDecimals(t *testing.T) {
	fine, middle, coarse := time.Minute, 10*time.Minute, time.Hour
	for _, e := range []int{0, 1, 2, 4} {
		for _, spread := range []int64{1, 50, 2_000, 20_000} {
			what := fmt.Sprintf("e=%d/spread=%d", e, spread)
			timestamps, values, integers := decimalSeries(uint64(e)*100+uint64(spread), 4000, e, spread)
			result := resampleSeries(t, []time.Duration{fine, middle, coarse}, timestamps, values)
			var direct, tenMinutes, inSteps, fromSplits carbonara.Groups
			mustCoarsen(t, &direct, result.Groups(0, 0), coarse)
			requireExact(t, what, &direct, timestamps, integers, e)
			mustCoarsen(t, &tenMinutes, result.Groups(0, 0), middle)
			requireExact(t, what, &tenMinutes, timestamps, integers, e)
			mustCoarsen(t, &inSteps, &tenMinutes, coarse)
			requireSameMeasureColumns(t, &inSteps, &direct)
			mustCoarsen(t, &fromSplits, throughSplits(t, result.Groups(0, 0)), coarse)
			wantGroups(t, &fromSplits, &direct)

			want := result.Groups(0, 2)
			for _, c := range []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnMin, carbonara.ColumnMax,
				carbonara.ColumnFirst, carbonara.ColumnLast, carbonara.ColumnCount.Rate()} {
				for row, v := range want.Column(c) {
					if got := direct.Column(c)[row]; got != v {
						t.Fatalf("%s: %v of group %d is %v, want %v", what, c, row, got, v)
					}
				}
			}
			requireClose(t, what, &direct, want)
		}
	}
}

// requireSameMeasureColumns compares bit for bit, but for rate: columns: differences of decimals are floats beside
// decimals, how far depends on the measures, which groups do not tell.
func requireSameMeasureColumns(t *testing.T, got, want *carbonara.Groups) {
	t.Helper()
	for c, column := range want.Columns {
		for row, v := range want.Values[c] {
			if g := got.Values[c][row]; !column.IsRate() && math.Float64bits(g) != math.Float64bits(v) {
				t.Fatalf("%v of group %d: got %v, want %v", column, row, g, v)
			}
		}
	}
}

func mustCoarsen(t *testing.T, dst, src *carbonara.Groups, granularity time.Duration) {
	t.Helper()
	fatal.If(t, carbonara.Coarsen(dst, src, granularity))
}

// throughSplits returns groups as they come back from splits.
func throughSplits(t *testing.T, g *carbonara.Groups) *carbonara.Groups {
	t.Helper()
	all := new(carbonara.Groups)
	for from := 0; from < g.Len(); {
		key := carbonara.SplitKeyOf(g.Starts[from], g.Granularity)
		to := max(g.Search(key.Next().Start), from+1)
		rows := g.Slice(from, to)
		fatal.If(t, carbonara.DecodeSplit(carbonara.AppendSplit(nil, key, &rows), key, g.Columns, 0,
			carbonara.MaxTimestamp, all))
		from = to
	}
	return all
}

// requireClose compares sums within the precision of floats, and second moments within that of their group's values.
func requireClose(t *testing.T, what string, got, want *carbonara.Groups) {
	t.Helper()
	for _, rate := range []bool{false, true} {
		of := func(c carbonara.Column, g *carbonara.Groups) []float64 {
			if rate {
				c = c.Rate()
			}
			return g.Column(c)
		}
		for row, n := range of(carbonara.ColumnCount, want) {
			if n == 0 {
				continue
			}
			m2 := of(carbonara.ColumnM2, want)[row]
			scale := math.Abs(of(carbonara.ColumnSum, want)[row]) + n*math.Sqrt(m2)
			if d := math.Abs(of(carbonara.ColumnSum, got)[row] - of(carbonara.ColumnSum, want)[row]); d > 1e-12*scale {
				t.Fatalf("%s: sum of group %d is off by %v", what, row, d)
			}
			if d := math.Abs(of(carbonara.ColumnM2, got)[row] - m2); d > 1e-12*(m2+scale*math.Sqrt(m2)) {
				t.Fatalf("%s: second moment of group %d is off by %v", what, row, d)
			}
		}
	}
}

// Floats that are no decimals combine as floats do.
func TestCoarsenFloats(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 5))
	timestamps, values, _ := decimalSeries(9, 3000, 0, 100)
	for i := range values {
		values[i] = rng.NormFloat64()
	}
	result := resampleSeries(t, []time.Duration{time.Minute, time.Hour}, timestamps, values)
	var got carbonara.Groups
	mustCoarsen(t, &got, result.Groups(0, 0), time.Hour)
	requireClose(t, "floats", &got, result.Groups(0, 1))
}

func TestCoarsenRefusesOtherGranularities(t *testing.T) {
	g := resampledSplit(1, 2, 10)
	for _, granularity := range []time.Duration{0, time.Second, 90 * time.Second, -time.Minute} {
		if err := carbonara.Coarsen(new(carbonara.Groups), g, granularity); err == nil {
			t.Errorf("groups of a minute make groups of %v", granularity)
		}
	}
}

// Merged groups of several metrics' decimals are exact over all measures, in any order of the metrics.
func TestMergeIsExactForDecimals(t *testing.T) {
	var sources []*carbonara.Groups
	var timestamps []carbonara.Timestamp
	var integers []int64
	for i := range 7 {
		at, values, ints := decimalSeries(uint64(i), 500+100*i, 2, 5000)
		sources = append(sources, resampleSeries(t, []time.Duration{time.Minute}, at, values).Groups(0, 0))
		timestamps, integers = append(timestamps, at...), append(integers, ints...)
	}
	var merged, reversed carbonara.Groups
	fatal.If(t, carbonara.Merge(&merged, sources))
	requireExact(t, "merged", &merged, timestamps, integers, 2)
	for i := range len(sources) / 2 {
		sources[i], sources[len(sources)-1-i] = sources[len(sources)-1-i], sources[i]
	}
	fatal.If(t, carbonara.Merge(&reversed, sources))
	requireSameMeasureColumns(t, &reversed, &merged)
	if merged.Column(carbonara.ColumnFirst) != nil {
		t.Error("the first measure of several metrics is told")
	}
	if carbonara.Merge(&merged, nil) == nil ||
		carbonara.Merge(&merged, []*carbonara.Groups{sources[0], {Granularity: time.Hour}}) == nil {
		t.Error("no groups, or groups of two granularities, are merged")
	}
}
