package correlate_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gnocco/correlate"
)

const bound = 1e-12

// table makes columns that are in part copies of one another, with noise, by f.
func table(random *rand.Rand, columns, rows int, f func(column int, signal, noise float64) float64) correlate.Values {
	common := make([]float64, rows)
	for t := range common {
		common[t] = random.NormFloat64()
	}
	values := make(correlate.Values, columns)
	for j := range values {
		values[j] = make([]float64, rows)
		share := random.Float64()
		for t := range values[j] {
			values[j][t] = f(j, share*common[t], random.NormFloat64())
		}
	}
	return values
}

// shapes are the data that have to come out within the bound.
var shapes = []struct {
	name string
	f    func(random *rand.Rand, t int, column int, signal, noise float64) float64
}{
	{"random", func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return signal + noise }},
	{"mean of 1e8 deviations", func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e8 + signal + noise }},
	{"mean of 3e11, deviation of 3000", func(_ *rand.Rand, _, j int, signal, noise float64) float64 {
		return -3e11 + 3000*(signal+noise)*float64(j+1)
	}},
	{"heavy tails", func(_ *rand.Rand, _, _ int, signal, noise float64) float64 {
		return signal + noise*noise*noise*math.Exp(2*noise*noise)
	}},
	{"nearly constant", func(random *rand.Rand, _, _ int, signal, noise float64) float64 {
		if random.IntN(200) == 0 {
			return 7 + 1e-9*(signal+noise)
		}
		return 7
	}},
	{"steps between chunks", func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		return float64(t/1000*(j%3))*1e6 + signal + noise
	}},
	{"constant for long", func(_ *rand.Rand, t, _ int, signal, noise float64) float64 {
		if t < 2100 {
			return 0.1
		}
		return 0.1 + signal + noise
	}},
	{"tiny", func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e-290 * (signal + noise) }},
	{"huge", func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e300 * (signal + noise) }},
	{"tiny, then huge", func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		if t > 1500 && j%2 == 0 {
			return 1e250 * (signal + noise)
		}
		return 1e-250 * (signal + noise)
	}},
	{"gaps", func(random *rand.Rand, _, j int, signal, noise float64) float64 {
		if j%3 != 0 && random.IntN(5) == 0 {
			return math.NaN()
		}
		return 1e8 + signal + noise
	}},
	{"late gaps", func(random *rand.Rand, t, j int, signal, noise float64) float64 {
		if j == 2 && t > 2500 && random.IntN(2) == 0 {
			return math.Inf(1)
		}
		return 50 + signal + noise
	}},
	{"shared rows far from the rest", func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		switch {
		case j%2 == 0 && t%4 < 2:
			return 3e8 + signal + noise
		case j%2 == 0:
			return 0.1
		case t%4 < 2 || t%4 == 2 && j == 3:
			return signal + noise
		}
		return math.NaN()
	}},
	{"constant where shared", func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		switch {
		case j == 0 && t%2 == 0:
			return 0.1
		case j == 0:
			return signal
		case t%2 == 0:
			return signal + noise
		}
		return math.NaN()
	}},
	{"few rows", func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		if t > 40+j {
			return math.NaN()
		}
		return signal + noise
	}},
	{"early gaps", func(random *rand.Rand, t, j int, signal, noise float64) float64 {
		if j == 1 && t < 100 && random.IntN(2) == 0 {
			return math.NaN()
		}
		return 50 + signal + noise
	}},
}

func shape(seed uint64, k, columns, rows int) correlate.Values {
	random := rand.New(rand.NewPCG(seed, uint64(k)))
	t := -1
	return table(random, columns, rows, func(column int, signal, noise float64) float64 {
		t++
		return shapes[k].f(random, t%rows, column, signal, noise)
	})
}

func run(t *testing.T, source correlate.Source, options correlate.Options) []correlate.Pair {
	t.Helper()
	var pairs []correlate.Pair
	if _, err := correlate.Run(t.Context(), source, options, func(p correlate.Pair) error {
		pairs = append(pairs, p)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return pairs
}

// check compares a pair with the reference.
func check(t *testing.T, values correlate.Values, p correlate.Pair) {
	t.Helper()
	want, overlap := reference(values[p.I], values[p.J], p.Lag)
	if p.Overlap != overlap || math.IsNaN(p.R) != math.IsNaN(want) || math.Abs(p.R-want) > bound || math.Abs(p.R) > 1 {
		t.Errorf("columns %d and %d, lag %d: %v of %d rows, want %v of %d (%g off)",
			p.I, p.J, p.Lag, p.R, p.Overlap, want, overlap, p.R-want)
	}
}

func TestPairsAreWithinTheBound(t *testing.T) {
	for k := range shapes {
		t.Run(shapes[k].name, func(t *testing.T) {
			for _, size := range [][2]int{{4, 3333}, {30, 260}} {
				values := shape(1, k, size[0], size[1])
				pairs := run(t, values, correlate.Options{})
				if want := size[0] * (size[0] - 1) / 2; len(pairs) != want {
					t.Fatalf("%d pairs, want %d", len(pairs), want)
				}
				for _, p := range pairs {
					check(t, values, p)
				}
			}
		})
	}
}

// A million rows with a mean of 1e8 deviations, one column with gaps.
func TestAMillionRowsAreWithinTheBound(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	random := rand.New(rand.NewPCG(5, 6))
	values := table(random, 3, 1_000_000, func(j int, signal, noise float64) float64 {
		if j == 2 && random.IntN(100) == 0 {
			return math.NaN()
		}
		return 1e8 + signal + noise
	})
	for _, p := range run(t, values, correlate.Options{}) {
		check(t, values, p)
	}
}

func TestEveryLagIsWithinTheBound(t *testing.T) {
	for _, k := range []int{0, 1, 5, 10, 12} {
		values := shape(2, k, 3, 2500)
		for _, p := range run(t, values, correlate.Options{MaxLag: 3}) {
			check(t, values, p)
			for lag := -3; lag <= 3; lag++ {
				if r, _ := reference(values[p.I], values[p.J], lag); math.Abs(r) > p.Strength()+bound {
					t.Errorf("%s: columns %d and %d: lag %d gives %v, but %d was chosen with %v",
						shapes[k].name, p.I, p.J, lag, r, p.Lag, p.R)
				}
			}
		}
	}
}

// A column that follows another by some rows is found at that lag, from either side, also beyond a chunk.
func TestLagIsFound(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, lag := range []int{1, 40, 1500} {
		first := make([]float64, 5000)
		for t := range first {
			first[t] = random.NormFloat64()
		}
		later := make([]float64, len(first))
		copy(later[lag:], first)
		copy(later, first[len(first)-lag:])
		for _, p := range run(t, correlate.Values{first, later, first}, correlate.Options{MaxLag: lag + 2}) {
			want := correlate.Pair{I: p.I, J: p.J, R: 1, Lag: lag, Overlap: int64(len(first) - lag)}
			switch {
			case p.I == 0 && p.J == 2:
				want.Lag, want.Overlap = 0, int64(len(first))
			case p.I == 1:
				want.Lag = -lag
			}
			if p != want {
				t.Errorf("got %+v, want %+v", p, want)
			}
		}
	}
}

// pieces hands out values in pieces of all sizes.
type pieces struct {
	correlate.Values
	random *rand.Rand
}

func (p pieces) Read(_ context.Context, add func([][]float64) error) error {
	columns := make([][]float64, len(p.Values))
	for from := 0; from < len(p.Values[0]); {
		to := min(len(p.Values[0]), from+1+p.random.IntN(3000))
		for j := range columns {
			columns[j] = p.Values[j][from:to]
		}
		if err := add(columns); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// The same bits come out whatever the workers, the pieces and the bound on memory.
func TestBitsDependOnTheValuesOnly(t *testing.T) {
	for _, k := range []int{0, 5, 10, 11} {
		values := shape(3, k, 100, 5000)
		want := fmt.Sprint(run(t, values, correlate.Options{Workers: 1}))
		for i, options := range []correlate.Options{{Workers: 3}, {MemoryBytes: 3_600_000}, {Workers: 2, MemoryBytes: 3_650_000}} {
			got := run(t, pieces{values, rand.New(rand.NewPCG(9, uint64(i)))}, options)
			if fmt.Sprint(got) != want {
				t.Errorf("%s: %+v gives other pairs", shapes[k].name, options)
			}
		}
	}
}

func TestBandsReadTheSourceAgain(t *testing.T) {
	values := shape(3, 10, 100, 5000)
	result, err := correlate.Run(t.Context(), values, correlate.Options{MemoryBytes: 3_600_000}, func(correlate.Pair) error { return nil })
	if err != nil || result.Passes < 2 || result.Rows != 5000 {
		t.Fatalf("got %+v, %v", result, err)
	}
	if _, err := correlate.Run(t.Context(), values, correlate.Options{MemoryBytes: 1000}, nil); err == nil {
		t.Fatal("1000 bytes suffice")
	}
}

// Equal, negated and scaled columns have exactly 1 or -1, and constant ones none.
func TestExactCoefficients(t *testing.T) {
	random := rand.New(rand.NewPCG(11, 12))
	x := make([]float64, 3000)
	same, negative, twice, constant := make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x)), make([]float64, len(x))
	for t := range x {
		x[t] = 0.1 + random.NormFloat64()
		same[t], negative[t], twice[t], constant[t] = x[t], -x[t], 2*x[t], 0.1
	}
	var got []float64
	result, err := correlate.Run(t.Context(), correlate.Values{x, same, negative, twice, constant}, correlate.Options{}, func(p correlate.Pair) error {
		got = append(got, p.R)
		return nil
	})
	nan := math.NaN()
	if want := []float64{1, -1, 1, nan, -1, 1, nan, -1, nan, nan}; err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("got %v, want %v (%v)", got, want, err)
	}
	if fmt.Sprint(result.Constant) != "[4]" {
		t.Fatalf("constant columns are %v", result.Constant)
	}
}

// The order of columns does not change a coefficient, and neither does shifting or scaling a column by what is exact.
func TestSymmetry(t *testing.T) {
	for k := range shapes {
		values := shape(4, k, 29, 1300)
		reversed := make(correlate.Values, len(values))
		for j := range values {
			reversed[len(values)-1-j] = values[j]
		}
		want := map[[2]int]correlate.Pair{}
		for _, p := range run(t, values, correlate.Options{}) {
			want[[2]int{p.I, p.J}] = p
		}
		for _, p := range run(t, reversed, correlate.Options{}) {
			q := want[[2]int{len(values) - 1 - p.J, len(values) - 1 - p.I}]
			if math.Float64bits(p.R) != math.Float64bits(q.R) || p.Overlap != q.Overlap {
				t.Fatalf("%s: %+v, but from the other side %+v", shapes[k].name, p, q)
			}
		}
	}
}

func TestRunEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	values := shape(1, 0, 4, 5000)
	source := pieces{values, rand.New(rand.NewPCG(1, 1))}
	cancel()
	if _, err := correlate.Run(ctx, source, correlate.Options{}, func(correlate.Pair) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

func TestMinOverlap(t *testing.T) {
	nan := math.NaN()
	values := correlate.Values{{1, 2, 3, 4}, {1, 2, 4, nan}, {nan, nan, 3, 5}}
	pairs := run(t, values, correlate.Options{MinOverlap: 3})
	if math.IsNaN(pairs[0].R) || !math.IsNaN(pairs[1].R) || pairs[1].Overlap != 2 || pairs[2].Overlap != 1 {
		t.Fatalf("got %+v", pairs)
	}
}

func BenchmarkRun(b *testing.B) {
	for _, columns := range []int{16, 256} {
		for _, gaps := range []bool{false, true} {
			random := rand.New(rand.NewPCG(1, 1))
			values := table(random, columns, 1<<14, func(_ int, signal, noise float64) float64 {
				if gaps && random.IntN(50) == 0 {
					return math.NaN()
				}
				return 100 + signal + noise
			})
			b.Run(fmt.Sprintf("columns=%d/gaps=%v", columns, gaps), func(b *testing.B) {
				b.SetBytes(int64(columns * len(values[0]) * 8))
				for b.Loop() {
					if _, err := correlate.Run(b.Context(), values, correlate.Options{}, func(correlate.Pair) error { return nil }); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
