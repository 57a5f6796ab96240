package correlate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

func TestCPU(t *testing.T) { correlatetest.Engine(t, correlate.CPU{}) }

// A million rows with a mean of 1e8 deviations, one column with gaps.
func TestAMillionRowsAreWithinTheBound(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	values := correlatetest.Table(5, 3, 1_000_000, func(random *rand.Rand, _, j int, signal, noise float64) float64 {
		if j == 2 && random.IntN(100) == 0 {
			return math.NaN()
		}
		return 1e8 + signal + noise
	})
	pairs, _ := correlatetest.Pairs(t, correlate.CPU{}, values, correlate.Options{}, correlate.Selection{})
	for _, p := range pairs {
		correlatetest.Check(t, values, p)
	}
}

// Lags may be longer than a chunk.
func TestLongLagIsFound(t *testing.T) {
	correlatetest.Lag(t, correlate.CPU{}, 5000, 1500)
}

// The same bits come out for any number of workers, pieces and bound on memory.
func TestBitsDependOnTheValuesOnly(t *testing.T) {
	for _, shape := range correlatetest.Shapes {
		values := shape.Values(3, 100, 5000)
		want, _ := correlatetest.Pairs(t, correlate.CPU{}, values, correlate.Options{Workers: 1}, correlate.Selection{})
		for i, options := range []correlate.Options{{Workers: 9}, {MemoryBytes: 3_600_000},
			{Workers: 2, MemoryBytes: 3_650_000}} {
			source := correlatetest.Pieces{Values: values, Seed: uint64(i), Most: 3000}
			got, _ := correlatetest.Pairs(t, correlate.CPU{}, source, options, correlate.Selection{})
			if !correlatetest.Same(got, want) {
				t.Errorf("%s: %+v gives other pairs", shape.Name, options)
			}
		}
	}
}

func TestBandsReadTheSourceAgain(t *testing.T) {
	values := correlatetest.Shaped("gaps").Values(3, 100, 5000)
	result, err := correlate.Run(t.Context(), values, correlate.Options{MemoryBytes: 3_600_000},
		func(correlate.Pair) error { return nil })
	if err != nil || result.Passes < 2 || result.Rows != 5000 {
		t.Fatalf("got %+v, %v", result, err)
	}
	for _, s := range []correlate.Selection{{TopPerColumn: 3}, {TopPerColumn: 5, MinAbs: 0.3, Top: 20}} {
		want, whole := correlatetest.Pairs(t, correlate.CPU{}, values, correlate.Options{}, s)
		got, result := correlatetest.Pairs(t, correlate.CPU{}, values, correlate.Options{MemoryBytes: 3_600_000}, s)
		if !correlatetest.Same(got, want) || result.Passes < 2 || result.Eligible != whole.Eligible {
			t.Errorf("%+v: %d pairs, %+v; in one pass %d, %+v", s, len(got), result, len(want), whole)
		}
	}
	if _, err := correlate.Run(t.Context(), values, correlate.Options{MemoryBytes: 1000}, nil); err == nil {
		t.Fatal("1000 bytes suffice")
	}
}

func BenchmarkRun(b *testing.B) {
	for _, columns := range []int{16, 256} {
		for _, gaps := range []bool{false, true} {
			values := correlatetest.Table(1, columns, 1<<14,
				func(random *rand.Rand, _, _ int, signal, noise float64) float64 {
					if gaps && random.IntN(50) == 0 {
						return math.NaN()
					}
					return 100 + signal + noise
				})
			b.Run(fmt.Sprintf("columns=%d/gaps=%v", columns, gaps), func(b *testing.B) {
				b.SetBytes(int64(columns * len(values[0]) * 8))
				for b.Loop() {
					if _, err := correlate.Run(b.Context(), values, correlate.Options{}, func(correlate.Pair) error {
						return nil
					}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
