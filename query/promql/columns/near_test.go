package columns_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara/ranked"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// TestQuantileAfterAnother takes quantiles of rows one after the other: each is what it is alone.
func TestQuantileAfterAnother(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	var ranks ranked.Values
	for row := range 3000 {
		values := make([]float64, 300+rng.IntN(300))
		for i := range values {
			values[i] = math.Round(float64(row/9) + 40*rng.NormFloat64())
			if rng.IntN(200) == 0 {
				values[i] = math.NaN()
			}
		}
		q := []float64{0, 0.5, 0.95, 1}[row/200%4]
		got, want := columns.Quantile(q, values, &ranks), columns.Quantile(q, values, new(ranked.Values))
		if math.Float64bits(got) != math.Float64bits(want) {
			t.Fatalf("row %d: the %v quantile of %d values is %v, want %v", row, q, len(values), got, want)
		}
	}
}
