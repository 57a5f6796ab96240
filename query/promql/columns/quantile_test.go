package columns_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara/ranked"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// A quantile is that of sorted values. NaN sort first.
func TestQuantile(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var ranks ranked.Values
	for n := 1; n < 400; n += 1 + n/5 {
		for _, missing := range []float64{0, 0.1, 1} {
			values := make([]float64, n)
			for i := range values {
				if values[i] = math.Round(random.NormFloat64() * 20); random.Float64() < missing {
					values[i] = math.NaN()
				} else if random.IntN(20) == 0 {
					values[i] = math.Inf(1 - 2*random.IntN(2))
				}
			}
			sorted := slices.Sorted(slices.Values(values))
			for _, q := range []float64{0, 0.25, 0.5, 0.95, 0.999, 1} {
				rank := q * float64(n-1)
				lower, weight := math.Floor(rank), rank-math.Floor(rank)
				want := sorted[int(lower)]
				if weight > 0 {
					want = want*(1-weight) + sorted[int(lower)+1]*weight
				}
				got := columns.Quantile(q, values, &ranks)
				if got != want && (got == got || want == want) {
					t.Fatalf("quantile %v of %v: %v, want %v", q, sorted, got, want)
				}
			}
		}
	}
}
