package correlate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

// ranksOf gives every value the mean rank of its equals, by comparing all with all.
func ranksOf(values []float64) []float64 {
	ranks := make([]float64, len(values))
	for i, v := range values {
		below, equal := 0, 0
		for _, w := range values {
			if w < v {
				below++
			} else if w == v {
				equal++
			}
		}
		ranks[i] = float64(below) + float64(equal+1)/2
	}
	return ranks
}

func TestSpearman(t *testing.T) {
	for _, gaps := range []bool{false, true} {
		values := correlatetest.Table(1, 5, 150, func(random *rand.Rand, _, j int, signal, noise float64) float64 {
			if gaps && j > 1 && random.IntN(6) == 0 {
				return math.NaN()
			}
			if j%2 == 0 {
				return math.Round(3 * (signal + noise)) // with ties
			}
			return math.Exp(signal + noise)
		})
		for _, maxLag := range []int{0, 2} {
			pairs := 0
			_, err := correlate.RunSpearman(t.Context(), values, correlate.Options{MaxLag: maxLag},
				func(p correlate.Pair) error {
					pairs++
					strongest := -1.
					for lag := -maxLag; lag <= maxLag; lag++ {
						var x, y []float64
						for row := range values[p.I] {
							if u := row + lag; u >= 0 && u < len(values[p.J]) && !math.IsNaN(values[p.I][row]) &&
								!math.IsNaN(values[p.J][u]) {
								x, y = append(x, values[p.I][row]), append(y, values[p.J][u])
							}
						}
						r, n := correlatetest.Reference(ranksOf(x), ranksOf(y), 0)
						strongest = max(strongest, math.Abs(r))
						if lag == p.Lag && (math.Abs(r-p.R) > correlatetest.Bound || n != p.Overlap) {
							t.Errorf("%+v, want %v of %d", p, r, n)
						}
					}
					if math.Abs(strongest-p.Strength()) > correlatetest.Bound {
						t.Errorf("%+v, but there is %v", p, strongest)
					}
					return nil
				})
			if err != nil || pairs != 10 {
				t.Fatalf("%d pairs, %v", pairs, err)
			}
		}
	}
	if _, err := correlate.RunSpearman(t.Context(), correlatetest.Shaped("random").Values(1, 10, 1000),
		correlate.Options{MemoryBytes: 1000}, nil); err == nil {
		t.Fatal("1000 bytes suffice for ranks")
	}
}
