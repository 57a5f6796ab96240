package ranked_test

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara/ranked"
)

// byOrder sorts as ranks count: -0 below +0, NaN last.
func byOrder(values []float64) []float64 {
	return slices.SortedStableFunc(slices.Values(values), func(a, b float64) int {
		switch {
		case a != a || b != b:
			return cmp.Compare(b2i(a != a), b2i(b != b))
		case a == 0 && b == 0:
			return cmp.Compare(b2i(math.Signbit(b)), b2i(math.Signbit(a)))
		}
		return cmp.Compare(a, b)
	})
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// sameBits reports whether two values have the same bits, or are both NaN.
func sameBits(a, b float64) bool {
	return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
}

func TestRanked(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 22))
	var ranked ranked.Values
	kinds := map[string]func(i, n int) float64{
		"random":    func(int, int) float64 { return rng.NormFloat64() },
		"few":       func(int, int) float64 { return float64(rng.IntN(4)) },
		"equal":     func(int, int) float64 { return 7 },
		"ascending": func(i, _ int) float64 { return float64(i) },
		"falling":   func(i, _ int) float64 { return float64(-i) },
		"organ":     func(i, n int) float64 { return float64(min(i, n-i)) },
		"saw":       func(i, _ int) float64 { return float64(i % 17) },
		"wild": func(int, int) float64 {
			return []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, math.Copysign(0, -1),
				math.SmallestNonzeroFloat64, -1, math.MaxFloat64}[rng.IntN(8)]
		},
		"nothing": func(int, int) float64 { return math.NaN() },
	}
	for name, kind := range kinds {
		for _, n := range []int{1, 2, 3, 11, 12, 13, 14, 64, 255, 256, 257, 1000, 5000} {
			values := make([]float64, n)
			for i := range values {
				values[i] = kind(i, n)
			}
			want := byOrder(values)
			for _, step := range []int{1, 1 + n/7, n} { // every rank, some, one
				ranked.Set(values)
				if step == 2 {
					ranked.Sort()
				}
				for rank := rng.IntN(step); rank < n; rank += step {
					for range 2 {
						if got := ranked.At(rank); !sameBits(got, want[rank]) {
							t.Fatalf("%s: rank %d of %d is %v, want %v", name, rank, n, got, want[rank])
						}
					}
				}
			}
		}
	}
}

// TestSetNear gives it rows that change slowly, jump, are equal, or hold NaN: a rank and the next one are those of the
// sorted row, after any row before.
func TestSetNear(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var near ranked.Values
	for row := range 4000 {
		n := 1 + rng.IntN(400)
		if row%3 > 0 {
			n = 300
		}
		level, spread := float64(row/7), []float64{0, 1e-3, 1, 1e300}[row/500%4]
		values := make([]float64, n)
		for i := range values {
			values[i] = level + spread*rng.NormFloat64()
			switch rng.IntN(400 + row%2*4000) {
			case 0:
				values[i] = math.NaN()
			case 1:
				values[i] = math.Inf(1 - 2*rng.IntN(2))
			case 2:
				values[i] = math.Copysign(0, -1)
			}
		}
		want := byOrder(values)
		rank := []int{0, n / 2, n * 95 / 100, n - 1}[row/100%4]
		near.SetNear(values, rank)
		for r := rank; r <= min(rank+1, n-1); r++ {
			if got := near.At(r); !sameBits(got, want[r]) {
				t.Fatalf("row %d: rank %d of %d is %v, want %v", row, r, n, got, want[r])
			}
		}
	}
}

// Values of which every pivot is among the greatest that are left: after a number of divisions, they are sorted.
func TestRankedBadPivots(t *testing.T) {
	const n = 1 << 12
	values, places := make([]float64, n), make([]int, n) // places that are left, in their order, which dividing keeps
	for i := range places {
		places[i] = i
	}
	for next := float64(n); len(places) > 12; {
		taken := []int{len(places) / 4, len(places) / 2, len(places) / 4 * 3}
		if len(places) >= 256 {
			taken = taken[:0]
			for eighth := range 9 {
				taken = append(taken, (len(places)-1)/8*eighth)
			}
		}
		for i := len(taken) - 1; i >= 0; i-- {
			values[places[taken[i]]] = next
			next--
			places = slices.Delete(places, taken[i], taken[i]+1)
		}
	}
	want := byOrder(values)
	var ranked ranked.Values
	for _, rank := range []int{1, 100, n / 2, n - 1} {
		ranked.Set(values)
		if got := ranked.At(rank); got != want[rank] {
			t.Errorf("rank %d is %v, want %v", rank, got, want[rank])
		}
	}
}

func BenchmarkMedian(b *testing.B) {
	for _, n := range []int{12, 60, 1000, 100_000} {
		rng := rand.New(rand.NewPCG(1, 2))
		rows := make([][]float64, max(1, 100_000/n))
		for i := range rows {
			for range n {
				rows[i] = append(rows[i], math.Round(rng.NormFloat64()*1e4)/100)
			}
		}
		b.Run(fmt.Sprintf("values=%d/by=rank", n), func(b *testing.B) {
			var ranked ranked.Values
			for b.Loop() {
				for _, row := range rows {
					ranked.Set(row)
					ranked.At(n / 2)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)*n), "ns/value")
		})
		b.Run(fmt.Sprintf("values=%d/by=near", n), func(b *testing.B) {
			var ranked ranked.Values
			for b.Loop() {
				for _, row := range rows {
					ranked.SetNear(row, (n-1)/2)
					ranked.At(n / 2)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)*n), "ns/value")
		})
		b.Run(fmt.Sprintf("values=%d/by=sort", n), func(b *testing.B) {
			var sorted []float64
			for b.Loop() {
				for _, row := range rows {
					sorted = append(sorted[:0], row...)
					slices.Sort(sorted)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(rows)*n), "ns/value")
		})
	}
}
