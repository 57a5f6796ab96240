package carbonara

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/internal/decimal"
	"github.com/gnocco-db/gnocco/internal/simd"
)

// withoutAVX512 calls f with the loops in plain Go.
func withoutAVX512(f func()) {
	had := simd.AVX512
	simd.AVX512 = false
	defer func() { simd.AVX512 = had }()
	f()
}

// passFloats are n values of which some are decimals, some are any bits, and some odd.
func passFloats(rng *rand.Rand, n int, power float64) []float64 {
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1 << 53, -(1 << 53), 1<<53 - 1,
		math.MaxFloat64, 5e-324, 1e15 + 0.5}
	out := make([]float64, n)
	kind := rng.IntN(4)
	for i := range out {
		switch k := rng.IntN(20); {
		case k == 0 && kind > 0:
			out[i] = odd[rng.IntN(len(odd))]
		case k <= kind && kind > 1:
			out[i] = math.Float64frombits(rng.Uint64())
		case k < 6:
			out[i] = math.Nextafter(float64(rng.Int64N(1e9)-5e8)/power, 0)
		default:
			out[i] = float64(int64(rng.Uint64())>>(11+rng.IntN(50))) / power
		}
	}
	return out
}

// Loops over eight values at a time answer the bits that those in plain Go answer.
func TestLoopsAgree(t *testing.T) {
	if !simd.AVX512 {
		t.Skip("this processor lacks AVX-512")
	}
	rng := rand.New(rand.NewPCG(14, 15))
	for range 3000 {
		n := 1 + rng.IntN(70)
		if rng.IntN(20) == 0 {
			n = vectorLen
		}
		e := rng.IntN(maxExponent + 1)
		power, square := decimal.FloatPowers[e], squarePowersOf10[e]
		values, sums := passFloats(rng, n, power), passFloats(rng, n, power)
		lows, highs := passFloats(rng, n, power), passFloats(rng, n, power)
		counts, ints, others := make([]float64, n), make([]int64, n), make([]int64, n)
		numbers := make([]uint64, n)
		width := rng.IntN(65)
		alike := rng.IntN(2) == 0 // as the counts of groups are for the most part
		for i := range counts {
			counts[i] = float64(1 + rng.IntN(40))
			if alike && rng.IntN(40) > 0 {
				counts[i] = counts[max(i-1, 0)]
			}
			if rng.IntN(20) == 0 && !alike {
				counts[i] = []float64{0, 0.5, -1, maxMomentCount, maxMomentCount + 1, math.NaN(), 7.5,
					math.Inf(1)}[rng.IntN(8)]
			}
			ints[i], others[i] = int64(rng.Uint64())>>rng.IntN(64), int64(rng.Uint64())>>rng.IntN(64)
			numbers[i] = rng.Uint64() >> (64 - width) >> rng.IntN(4)
		}
		if rng.IntN(2) == 0 { // second moments that are those of such groups
			for i := range values {
				values[i] = float64(rng.Int64N(1e9)) / (counts[i] * square)
			}
		}
		f := func(name string, pass func() (any []float64, all []int64)) {
			t.Helper()
			gotFloats, gotInts := pass()
			var wantFloats []float64
			var wantInts []int64
			withoutAVX512(func() { wantFloats, wantInts = pass() })
			if !slices.Equal(gotInts, wantInts) {
				t.Fatalf("%s, %d numbers, e=%d:\n%v\nwant\n%v", name, n, e, gotInts, wantInts)
			}
			for i, want := range wantFloats {
				if got := gotFloats[i]; math.Float64bits(got) != math.Float64bits(want) &&
					(got == got || want == want) {
					t.Fatalf("%s, %d numbers, e=%d: %v at %d, want %v", name, n, e, got, i, want)
				}
			}
		}
		// An encoder's pass leaves undefined numbers where it refuses a value.
		kept := func(a []int64, bad []uint8) []int64 {
			for i := range a {
				if bad[i>>3]>>(i&7)&1 != 0 {
					a[i] = 0
				}
			}
			return a
		}
		flags := func(bad []uint8) []int64 {
			out := make([]int64, len(bad))
			for i, b := range bad {
				out[i] = int64(b)
			}
			return out
		}
		f("orderedRange", func() ([]float64, []int64) {
			low, high := orderedRange(values)
			return nil, []int64{low, high}
		})
		f("decimals", func() ([]float64, []int64) {
			a, b, bad := make([]int64, n), make([]int64, n), make([]uint8, (n+7)/8)
			all := decimals(a, b, bad, values, power)
			return nil, append(slices.Concat(kept(a, bad), kept(b, bad), flags(bad)), all)
		})
		f("momentInts", func() ([]float64, []int64) {
			a, b, bad := make([]int64, n), make([]int64, n), make([]uint8, (n+7)/8)
			all := momentInts(a, b, bad, values, counts, sums, power, square)
			return nil, append(slices.Concat(kept(a, bad), kept(b, bad), flags(bad)), all)
		})
		f("momentFloats", func() ([]float64, []int64) {
			out := make([]float64, n)
			momentFloats(out, ints, counts, sums, power, square)
			return out, nil
		})
		f("means", func() ([]float64, []int64) { out := make([]float64, n); means(out, sums, counts); return out, nil })
		f("predictions", func() ([]float64, []int64) {
			out := make([]int64, n)
			predictions(out, values, power)
			return nil, out
		})
		f("momentBounds", func() ([]float64, []int64) {
			out, scales := make([]int64, n), make([]uint8, n)
			momentBounds(out, scales, sums, counts, lows, highs, power)
			return nil, append(out, flags(scales)...)
		})
		f("floats", func() ([]float64, []int64) {
			out := make([]float64, n)
			floats(out, ints, power)
			return out, nil
		})
		f("predictedFloats", func() ([]float64, []int64) {
			out := make([]float64, n)
			predictedFloats(out, ints, others, power)
			return out, nil
		})
		f("addULPs", func() ([]float64, []int64) {
			out := slices.Clone(values)
			addULPs(out, others)
			return nil, []int64{int64(math.Float64bits(out[0])), int64(math.Float64bits(out[n-1]))}
		})
	}
}

// WithoutAVX512 lets tests of splits do the same.
var WithoutAVX512 = withoutAVX512
