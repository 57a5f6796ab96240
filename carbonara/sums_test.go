package carbonara_test

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// groupOf returns the only group of values a second apart, computed in batches that end at the cuts.
func groupOf(t *testing.T, values []float64, cuts ...int) *carbonara.Groups {
	t.Helper()
	const start = carbonara.Timestamp(1_700_006_400e9) // of a day
	batch := &carbonara.Batch{Values: values}
	for i := range values {
		batch.Timestamps = append(batch.Timestamps, start+carbonara.Timestamp(i)*1e9)
	}
	plan := carbonara.NewPlan([]time.Duration{24 * time.Hour},
		[]carbonara.Method{carbonara.Sum, carbonara.Mean, carbonara.Std, carbonara.Sum.Rate(), carbonara.Std.Rate()})
	series := carbonara.Series{Plan: plan}
	var groups *carbonara.Groups
	for _, cut := range append(cuts, len(values)) {
		series.From, series.To = series.To, cut
		batch.Series = []carbonara.Series{series}
		groups = resample(t, 1, batch).Groups(0, 0)
		series.Open = groups.AppendOpen(nil)
		series.Previous = carbonara.Measure{Timestamp: batch.Timestamps[cut-1], Value: values[cut-1]}
		series.HasPrevious = true
	}
	if groups.Len() != 1 {
		t.Fatalf("%d groups", groups.Len())
	}
	return groups
}

func aggregateOf(t *testing.T, g *carbonara.Groups, m carbonara.Method) float64 {
	t.Helper()
	_, values := g.Aggregate(m, nil, nil)
	if len(values) != 1 {
		t.Fatalf("%v: %v", m, values)
	}
	return values[0]
}

func repeated(values []float64, n int) (all []float64) {
	for range n {
		all = append(all, values...)
	}
	return all
}

// Sums that float64 loses while it adds, and second moments far from zero; in one batch or in two, wherever it ends.
func TestSumsAreCompensated(t *testing.T) {
	f := func(values []float64, sum, std float64) {
		t.Helper()
		whole := groupOf(t, values)
		if got := aggregateOf(t, whole, carbonara.Sum); got != sum {
			t.Errorf("sum of %d values: got %v, want %v", len(values), got, sum)
		}
		if got := aggregateOf(t, whole, carbonara.Mean); got != sum/float64(len(values)) {
			t.Errorf("mean of %d values: got %v, want %v", len(values), got, sum/float64(len(values)))
		}
		if got := aggregateOf(t, whole, carbonara.Std); math.Abs(got-std) > 1e-12*std {
			t.Errorf("std of %d values: got %v, want %v", len(values), got, std)
		}
		for cut := 1; cut < len(values); cut++ {
			parts := groupOf(t, values, cut)
			for c, column := range whole.Columns {
				if !sameBits(parts.Values[c], whole.Values[c]) {
					t.Errorf("%v of %d values, cut at %d: got %v, want %v", column, len(values), cut, parts.Values[c],
						whole.Values[c])
				}
			}
		}
	}
	f([]float64{1e16, 1, -1e16, 1}, 2, math.Sqrt(2.0/3)*1e16)
	f([]float64{1e16, 1, -1e16, 1, 0, 0}, 2, math.Sqrt(2.0/5)*1e16)
	f([]float64{0.1, 0.2, 0.3}, 0.6, 0.1)
	f(repeated([]float64{0.1}, 60), 6, 0)
	f(repeated([]float64{1e15, 1e15 + 0.5}, 3), 6e15+2, 0.5*math.Sqrt(0.3)) // 6e15 + 1.5, halfway, to even
	f(repeated([]float64{1e15, 1e15 + 0.5}, 50), 1e17+32, 0.25*math.Sqrt(100.0/99))
	f(repeated([]float64{-1e15, -1e15 - 0.5}, 50), -1e17-32, 0.25*math.Sqrt(100.0/99))
	f(repeated([]float64{1e8, 1e8 + 1.0/(1<<26)}, 50), 1e10, 0x1p-27*math.Sqrt(100.0/99))
}

// exactMomentsOf returns the sum, and the float64 next to the second moment, in exact arithmetic.
func exactMomentsOf(values []float64) (sum *big.Rat, m2 float64) {
	sum, squares, n := new(big.Rat), new(big.Rat), new(big.Rat).SetInt64(int64(len(values)))
	for _, v := range values {
		x := new(big.Rat).SetFloat64(v)
		sum.Add(sum, x)
		squares.Add(squares, new(big.Rat).Mul(x, x))
	}
	mean := new(big.Rat).Quo(sum, n)
	m2, _ = squares.Sub(squares, mean.Mul(mean, sum)).Float64()
	return sum, m2
}

// Rules 7 and 8: how far sums and second moments may lie from exact arithmetic.
func TestSumsAreBounded(t *testing.T) {
	rng := rand.New(rand.NewPCG(31, 6))
	for range 500 {
		values := make([]float64, 2+rng.IntN(300))
		offset, width, magnitudes := math.Ldexp(rng.NormFloat64(), rng.IntN(100)-50), rng.IntN(60)-50, 0.0
		for i := range values {
			values[i] = offset + math.Ldexp(rng.NormFloat64(), width)
			magnitudes += math.Abs(values[i])
		}
		sum, m2 := exactMomentsOf(values)
		g, n := groupOf(t, values), float64(len(values))
		got := g.Column(carbonara.ColumnSum)[0]
		unit := math.Nextafter(math.Abs(got), math.Inf(1)) - math.Abs(got)
		off, _ := new(big.Rat).Sub(new(big.Rat).SetFloat64(got), sum).Float64()
		if math.Abs(off) > unit/2+n*n*0x1p-106*magnitudes {
			t.Errorf("sum of %v values about %v: %v, off by %v units", n, offset, got, off/unit)
		}
		if got := g.Column(carbonara.ColumnM2)[0]; math.Abs(got-m2) > (n+8)*0x1p-53*m2 {
			t.Errorf("second moment of %v values about %v: got %v, want %v: off by %v", n, offset, got, m2, got/m2-1)
		}
	}
}

// Sums that are not finite, or do not stay so, follow rule 10.
func TestSumsThatAreNotFinite(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	f := func(want float64, values ...float64) {
		t.Helper()
		g := groupOf(t, values)
		if got := aggregateOf(t, g, carbonara.Sum); !sameBits([]float64{got}, []float64{want}) {
			t.Errorf("sum of %v: got %v, want %v", values, got, want)
		}
		if got := g.Column(carbonara.ColumnM2)[0]; got-got == 0 {
			t.Errorf("second moment of %v: got %v", values, got)
		}
	}
	f(inf, 1, inf, 2)
	f(-inf, 1, -inf, -inf, 3)
	f(nan, inf, 1, -inf)
	f(nan, 1, nan, 2)
	f(inf, 1.7e308, 1.7e308, 0)
	f(-inf, -1.7e308, -1.7e308, 5)
}
