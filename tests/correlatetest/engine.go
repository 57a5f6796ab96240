package correlatetest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
)

// Engine holds an engine to the rules of package correlate.
func Engine(t *testing.T, e correlate.Engine) {
	for _, rule := range []struct {
		name string
		test func(*testing.T, correlate.Engine)
	}{
		{"shapes", shapes},
		{"lags", lags},
		{"exact", exactCoefficients},
		{"scales", scales},
		{"overlap", minOverlap},
		{"symmetry", symmetry},
		{"pieces", pieces},
		{"selections", selections},
		{"context", endsWithItsContext},
	} {
		t.Run(rule.name, func(t *testing.T) { rule.test(t, e) })
	}
}

// Every coefficient is within the bound for any data.
func shapes(t *testing.T, e correlate.Engine) {
	sizes := [][2]int{{30, 260}, {4, 4099}}
	if testing.Short() {
		sizes = sizes[:1]
	}
	for i, shape := range Shapes {
		t.Run(shape.Name, func(t *testing.T) {
			for _, size := range sizes {
				values := shape.Values(uint64(i), size[0], size[1])
				pairs, result := Pairs(t, e, values, correlate.Options{}, correlate.Selection{})
				if want := size[0] * (size[0] - 1) / 2; len(pairs) != want {
					t.Fatalf("%d pairs, want %d", len(pairs), want)
				}
				eligible := int64(0)
				for _, p := range pairs {
					Check(t, values, p)
					if p.Strength() >= 0 {
						eligible++
					}
				}
				if result.Rows != int64(size[1]) || result.Passes != 1 || result.Eligible != eligible ||
					fmt.Sprint(result.Constant) != fmt.Sprint(constant(values)) {
					t.Errorf("got %+v; %d pairs have coefficients, columns %v none", result, eligible, constant(values))
				}
			}
		})
	}
}

// constant returns the columns that hold one value only, or none.
func constant(values correlate.Values) []int {
	var found []int
	for j, column := range values {
		lowest, highest := math.Inf(1), math.Inf(-1)
		for _, v := range column {
			if v-v == 0 {
				lowest, highest = min(lowest, v), max(highest, v)
			}
		}
		if lowest >= highest {
			found = append(found, j)
		}
	}
	return found
}

// The lag of a pair is the one at which it is strongest.
func lags(t *testing.T, e correlate.Engine) {
	names := []string{"gaps", "shared rows far from the rest", "random", "mean of 1e8 deviations", "steps"}
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			values := Shaped(name).Values(2, 3, 1100)
			pairs, _ := Pairs(t, e, values, correlate.Options{MaxLag: 2}, correlate.Selection{})
			for _, p := range pairs {
				Check(t, values, p)
				for lag := -2; lag <= 2; lag++ {
					if r, _ := Reference(values[p.I], values[p.J], lag); math.Abs(r) > p.Strength()+Bound {
						t.Errorf("columns %d and %d: lag %d gives %v, but %d was chosen with %v", p.I, p.J,
							lag, r, p.Lag, p.R)
					}
				}
			}
		})
	}
	for _, lag := range []int{1, 20} {
		Lag(t, e, 150, lag)
	}
}

// Lag holds an engine to finding that a column follows another by some rows, from either side.
func Lag(t *testing.T, e correlate.Engine, rows, lag int) {
	t.Helper()
	random := rand.New(rand.NewPCG(7, 8))
	first := make([]float64, rows)
	for t := range first {
		first[t] = random.NormFloat64()
	}
	later := make([]float64, rows)
	copy(later[lag:], first)
	copy(later, first[rows-lag:])
	options := correlate.Options{MaxLag: lag + 2, MinOverlap: rows / 3}
	pairs, _ := Pairs(t, e, correlate.Values{first, later, first}, options, correlate.Selection{})
	for _, p := range pairs {
		want := correlate.Pair{I: p.I, J: p.J, R: p.R, Lag: lag, Overlap: int64(rows - lag)}
		switch {
		case p.I == 0 && p.J == 2:
			want.Lag, want.Overlap = 0, int64(rows)
		case p.I == 1:
			want.Lag = -lag
		}
		if p != want || math.Abs(p.R-1) > Bound {
			t.Errorf("got %+v, want %+v with a coefficient of 1", p, want)
		}
	}
}

// Equal, negated and scaled columns have exactly 1 or -1, and constant ones none.
func exactCoefficients(t *testing.T, e correlate.Engine) {
	random := rand.New(rand.NewPCG(11, 12))
	x := make([]float64, 3000)
	same, negative := make([]float64, len(x)), make([]float64, len(x))
	twice, constant := make([]float64, len(x)), make([]float64, len(x))
	for t := range x {
		x[t] = 0.1 + random.NormFloat64()
		same[t], negative[t], twice[t], constant[t] = x[t], -x[t], 2*x[t], 0.1
	}
	values := correlate.Values{x, same, negative, twice, constant}
	pairs, result := Pairs(t, e, values, correlate.Options{}, correlate.Selection{})
	var got []float64
	for _, p := range pairs {
		got = append(got, p.R)
	}
	nan := math.NaN()
	if want := []float64{1, -1, 1, nan, -1, 1, nan, -1, nan, nan}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if fmt.Sprint(result.Constant) != "[4]" || result.Eligible != 6 {
		t.Errorf("got %+v", result)
	}
}

// How large the values of a column are makes no difference: powers of two none at all, others as little as rounding
// does.
func scales(t *testing.T, e correlate.Engine) {
	const columns, rows = 5, 300
	values := Shaped("random").Values(9, columns, rows)
	copy(values[4], values[0])
	want, _ := Pairs(t, e, values, correlate.Options{}, correlate.Selection{})
	f := func(bound float64, factors ...float64) {
		t.Helper()
		scaled := make(correlate.Values, columns)
		for j := range scaled {
			for _, v := range values[j] {
				scaled[j] = append(scaled[j], v*factors[j%len(factors)])
			}
		}
		pairs, _ := Pairs(t, e, scaled, correlate.Options{}, correlate.Selection{})
		onCPU, _ := Pairs(t, correlate.CPU{}, scaled, correlate.Options{}, correlate.Selection{})
		for k, p := range pairs {
			if !(math.Abs(p.R-want[k].R) <= bound) || !(math.Abs(p.R-onCPU[k].R) <= 1e-15) {
				t.Errorf("columns %d and %d, times %v: %v, want %v; on the CPU %v", p.I, p.J, factors, p.R,
					want[k].R, onCPU[k].R)
			}
			if p.I == 0 && p.J == 4 && len(factors) == 1 && p.R != 1 {
				t.Errorf("equal columns, times %v: %v", factors, p.R)
			}
		}
	}
	f(0, 1)
	f(0, 0x1p266)
	f(0, 0x1p-299)
	f(0, 0x1p266, 0x1p-299, 1, 0x1p-150)
	f(0, 0x1p400, 0x1p-400)
	f(1e-15, 1e80)
	f(1e-15, 1e-90)
	f(1e-15, 1e80, 1e-90, 1)
	f(1e-15, 1e140, 1e-130)
	f(1e-3, 0x1p-1055) // denormal: digits are gone before anybody computes
}

// Fewer rows in common than are asked for give no coefficient.
func minOverlap(t *testing.T, e correlate.Engine) {
	nan := math.NaN()
	values := correlate.Values{{1, 2, 3, 4}, {1, 2, 4, nan}, {nan, nan, 3, 5}}
	pairs, _ := Pairs(t, e, values, correlate.Options{MinOverlap: 3}, correlate.Selection{})
	if math.IsNaN(pairs[0].R) || !math.IsNaN(pairs[1].R) || pairs[1].Overlap != 2 || pairs[2].Overlap != 1 {
		t.Errorf("got %+v", pairs)
	}
}

// The order of columns does not change a coefficient's bits.
func symmetry(t *testing.T, e correlate.Engine) {
	shapes := Shapes
	if testing.Short() {
		shapes = []Shape{Shaped("random"), Shaped("gaps"), Shaped("late gaps")}
	}
	for _, shape := range shapes {
		values := shape.Values(4, 29, 300)
		reversed := make(correlate.Values, len(values))
		for j := range values {
			reversed[len(values)-1-j] = values[j]
		}
		want := map[[2]int]correlate.Pair{}
		pairs, _ := Pairs(t, e, values, correlate.Options{}, correlate.Selection{})
		for _, p := range pairs {
			want[[2]int{p.I, p.J}] = p
		}
		pairs, _ = Pairs(t, e, reversed, correlate.Options{}, correlate.Selection{})
		for _, p := range pairs {
			q := want[[2]int{len(values) - 1 - p.J, len(values) - 1 - p.I}]
			if math.Float64bits(p.R) != math.Float64bits(q.R) || p.Overlap != q.Overlap {
				t.Errorf("%s: %+v, but from the other side %+v", shape.Name, p, q)
				break
			}
		}
	}
}

// The same bits come out for any pieces in which rows arrive.
func pieces(t *testing.T, e correlate.Engine) {
	for _, name := range []string{"random", "late gaps"} {
		values := Shaped(name).Values(3, 7, 4500)
		want, _ := Pairs(t, e, values, correlate.Options{}, correlate.Selection{})
		sizes := []int{1500, 4000}
		if testing.Short() {
			sizes = sizes[:1]
		}
		for seed, most := range sizes {
			got, _ := Pairs(t, e, Pieces{values, uint64(seed), most}, correlate.Options{}, correlate.Selection{})
			if !Same(got, want) {
				t.Errorf("%s in pieces of up to %d rows gives other pairs", name, most)
			}
		}
	}
}

// A selection leaves the same of the engine's pairs as a Selector, to the bit.
func selections(t *testing.T, e correlate.Engine) {
	const columns = 150
	names := []string{"gaps", "equal columns", "random", "constants among"}
	if testing.Short() {
		names = names[:2]
	}
	for _, name := range names {
		values := Shaped(name).Values(5, columns, 60)
		all, whole := Pairs(t, e, values, correlate.Options{}, correlate.Selection{})
		for _, s := range []correlate.Selection{
			{MinAbs: 0.3}, {MinAbs: 1},
			{Top: 1}, {Top: 100}, {Top: 1 << 20},
			{TopPerColumn: 1}, {TopPerColumn: 7}, {TopPerColumn: 500},
			{MinAbs: 0.2, Top: 50}, {MinAbs: 0.2, TopPerColumn: 3}, {Top: 20, TopPerColumn: 3},
		} {
			var want []correlate.Pair
			selector := correlate.NewSelector(s, columns, func(p correlate.Pair) error {
				want = append(want, p)
				return nil
			})
			eligible := int64(0)
			for _, p := range all {
				if p.Strength() >= s.MinAbs {
					eligible++
				}
				_ = selector.Add(p) // nothing to fail
			}
			_ = selector.Finish()
			got, result := Pairs(t, e, values, correlate.Options{}, s)
			if !Same(got, want) || result.Eligible != eligible || result.Rows != whole.Rows {
				t.Errorf("%s, %+v: %d pairs, %+v; want %d of %d", name, s, len(got), result, len(want), eligible)
			}
		}
	}
}

// The engine hands out no pair once the context has ended.
func endsWithItsContext(t *testing.T, e correlate.Engine) {
	values := Shaped("random").Values(1, 4, 5000)
	ctx, cancel := context.WithCancel(t.Context())
	handed := 0
	_, err := e.Correlate(ctx, values, correlate.Options{}, correlate.Selection{}, func(correlate.Pair) error {
		handed++
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) || handed != 1 {
		t.Errorf("got %v after %d pairs", err, handed)
	}
	hand := func(correlate.Pair) error {
		handed++
		return nil
	}
	_, err = e.Correlate(ctx, Pieces{values, 1, 2000}, correlate.Options{}, correlate.Selection{}, hand)
	if !errors.Is(err, context.Canceled) || handed != 1 {
		t.Errorf("begun after the end: got %v and %d pairs", err, handed-1)
	}
}
