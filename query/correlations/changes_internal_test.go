package correlations

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
)

// The coefficient of changes is that of two passes over the rows that both columns have: of columns with trends, gaps,
// infinities and constant steps, at any lag.
func TestCoefficientsOfChanges(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const rows = 203
	kinds := []func(row int) float64{
		func(int) float64 { return random.NormFloat64() },
		func(row int) float64 { return 1e6*float64(row) + random.NormFloat64() },
		func(row int) float64 { return 0.1 * float64(row) }, // its steps differ by roundings
		func(int) float64 { return 7 },
		func(row int) float64 { return math.Sin(float64(row) / 9) },
		func(row int) float64 { return 1e-9 * math.Sin(float64(row)/9) },
		func(row int) float64 { return math.Sin(float64(row+3)/9) + random.NormFloat64()/9 },
	}
	var columns correlate.Values
	for _, gaps := range []float64{0, 0.2, 0.98} {
		for _, kind := range kinds {
			column := make([]float64, rows)
			for row := range column {
				switch column[row] = kind(row); {
				case random.Float64() < gaps:
					column[row] = math.NaN()
				case gaps > 0 && random.IntN(40) == 0:
					column[row] = math.Inf(1)
				}
			}
			columns = append(columns, column)
		}
	}
	var pairs []correlate.Pair
	for i := range columns {
		for j := range i {
			for _, lag := range []int{0, 3, -3, rows - 1, -rows, 2 * rows} {
				pairs = append(pairs, correlate.Pair{I: i, J: j, Lag: lag})
			}
		}
	}
	kept := make(correlate.Values, len(columns))
	for i, column := range columns {
		kept[i] = slices.Clone(column)
	}
	constant := 0
	for k, got := range coefficientsOfChanges(columns, pairs) {
		p := pairs[k]
		want := byTwoPasses(kept[p.I], kept[p.J], p.Lag)
		if math.IsNaN(want) {
			constant++
		}
		if math.IsNaN(want) != math.IsNaN(got) || math.Abs(got-want) > 1e-7 {
			t.Errorf("columns %d and %d at lag %d: %v, not %v", p.I, p.J, p.Lag, got, want)
		}
	}
	if constant == 0 || constant == len(pairs) {
		t.Errorf("%d of %d pairs are constant", constant, len(pairs))
	}
}

func byTwoPasses(x, y []float64, lag int) float64 {
	var a, b []float64
	for i := range x {
		j := i + lag
		if i == 0 || j <= 0 || j >= len(y) {
			continue
		}
		if v, w := x[i]-x[i-1], y[j]-y[j-1]; v-v == 0 && w-w == 0 {
			a, b = append(a, v), append(b, w)
		}
	}
	mean := func(values []float64) (sum float64) {
		for _, v := range values {
			sum += v
		}
		return sum / float64(len(values))
	}
	meanA, meanB := mean(a), mean(b)
	var aa, bb, ab float64
	for i := range a {
		v, w := a[i]-meanA, b[i]-meanB
		aa, bb, ab = aa+v*v, bb+w*w, ab+v*w
	}
	if least := 1e-20 * float64(len(a)); !(aa > least*meanA*meanA && bb > least*meanB*meanB) {
		return math.NaN()
	}
	return ab / math.Sqrt(aa) / math.Sqrt(bb)
}

func BenchmarkCoefficientsOfChanges(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 2))
	columns := make(correlate.Values, 100)
	for i := range columns {
		columns[i] = make([]float64, 10_080)
		for row := range columns[i] {
			columns[i][row] = random.NormFloat64()
		}
	}
	var pairs []correlate.Pair
	for i := range columns {
		for j := range i {
			pairs = append(pairs, correlate.Pair{I: i, J: j})
		}
	}
	for b.Loop() {
		coefficientsOfChanges(columns, pairs)
	}
}
