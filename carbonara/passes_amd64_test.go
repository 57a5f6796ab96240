package carbonara

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// withoutLanes calls f with the plain passes.
func withoutLanes(f func()) {
	had := hasLanes
	hasLanes = false
	defer func() { hasLanes = had }()
	f()
}

// passFloats are n values of which some are decimals, some are any bits, and some odd.
func passFloats(rng *rand.Rand, n int, power float64) []float64 {
	odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1 << 53, -(1 << 53), 1<<53 - 1, math.MaxFloat64, 5e-324, 1e15 + 0.5}
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

// Eight numbers at a time, passes answer the bits that they answer one by one.
func TestPassesAgree(t *testing.T) {
	if !hasLanes {
		t.Skip("this processor has plain passes only")
	}
	rng := rand.New(rand.NewPCG(14, 15))
	for range 3000 {
		n := 1 + rng.IntN(70)
		if rng.IntN(20) == 0 {
			n = vectorLen
		}
		e := rng.IntN(maxExponent + 1)
		power, square := powersOf10[e], squarePowersOf10[e]
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
				counts[i] = []float64{0, 0.5, -1, maxMomentCount, maxMomentCount + 1, math.NaN(), 7.5, math.Inf(1)}[rng.IntN(8)]
			}
			ints[i], others[i] = int64(rng.Uint64())>>rng.IntN(64), int64(rng.Uint64())>>rng.IntN(64)
			numbers[i] = rng.Uint64() >> (64 - width) >> rng.IntN(4)
		}
		if rng.IntN(2) == 0 { // second moments that are those of such groups
			for i := range values {
				values[i] = float64(rng.Int64N(1e9)) / (counts[i] * square)
			}
		}
		mini := numbers[:min(n, miniValues)]
		f := func(name string, pass func() (any []float64, all []int64)) {
			t.Helper()
			gotFloats, gotInts := pass()
			var wantFloats []float64
			var wantInts []int64
			withoutLanes(func() { wantFloats, wantInts = pass() })
			if !slices.Equal(gotInts, wantInts) {
				t.Fatalf("%s, %d numbers, e=%d:\n%v\nwant\n%v", name, n, e, gotInts, wantInts)
			}
			for i, want := range wantFloats {
				if got := gotFloats[i]; math.Float64bits(got) != math.Float64bits(want) && (got == got || want == want) {
					t.Fatalf("%s, %d numbers, e=%d: %v at %d, want %v", name, n, e, got, i, want)
				}
			}
		}
		// What an encoder's pass leaves where it refuses a value means nothing.
		kept := func(a []int64, bad []uint8) []int64 {
			for i := range a {
				if bad[i>>3]>>(i&7)&1 != 0 {
					a[i] = 0
				}
			}
			return a
		}
		signed := func(u []uint64) []int64 {
			out := make([]int64, len(u))
			for i, v := range u {
				out[i] = int64(v)
			}
			return out
		}
		flags := func(bad []uint8) []int64 {
			out := make([]int64, len(bad))
			for i, b := range bad {
				out[i] = int64(b)
			}
			return out
		}
		f("sortOrders", func() ([]float64, []int64) {
			var samples orderSamples
			count := samplesOf(8 + n)
			for i := range samples {
				samples[i] = [4]int64{ints[i%n], others[i%n], ints[i%n] ^ others[i%n]}
			}
			var costs [4]int64
			sortOrders(&samples, &costs, count)
			out := slices.Clone(costs[:3])
			for _, row := range samples {
				out = append(out, row[:3]...)
			}
			return nil, out
		})
		f("lowHigh", func() ([]float64, []int64) { low, high := lowHigh(ints); return nil, []int64{low, high} })
		f("rankRange", func() ([]float64, []int64) { low, high := rankRange(values); return nil, []int64{low, high} })
		f("subtract", func() ([]float64, []int64) {
			out := make([]uint64, n)
			all := subtract(out, ints, others[0])
			return nil, append(signed(out), int64(all))
		})
		f("zigzags", func() ([]float64, []int64) {
			out := make([]uint64, n)
			zigzags(out, ints, others[0], e)
			return nil, signed(out)
		})
		f("steps", func() ([]float64, []int64) { out := make([]int64, n); steps(out, ints); return nil, out })
		f("add", func() ([]float64, []int64) { out := slices.Clone(ints); add(out, others); return nil, out })
		f("less", func() ([]float64, []int64) { out := slices.Clone(ints); less(out, others); return nil, out })
		f("longer", func() ([]float64, []int64) {
			var above [64]uint8
			out := []int64{int64(longer(&above, mini))}
			for w := int(out[0]) - 1; w >= 0; w-- {
				out = append(out, int64(above[w]))
				if int(above[w]) > len(mini)/4 {
					break
				}
			}
			return nil, out
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
		f("spreads", func() ([]float64, []int64) {
			out, scales := make([]int64, n), make([]uint8, n)
			spreads(out, scales, sums, counts, lows, highs, power)
			return nil, append(out, flags(scales)...)
		})
		f("floats", func() ([]float64, []int64) { out := make([]float64, n); floats(out, ints, power); return out, nil })
		f("predictedFloats", func() ([]float64, []int64) {
			out := make([]float64, n)
			predictedFloats(out, ints, others, power)
			return out, nil
		})
		f("beside", func() ([]float64, []int64) {
			out := slices.Clone(values)
			beside(out, others)
			return nil, []int64{int64(math.Float64bits(out[0])), int64(math.Float64bits(out[n-1]))}
		})
	}
}

// Streams are the same bytes, and come back, in either way.
func TestStreamsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 17))
	encoder := new(intEncoder)
	for name, value := range streamKinds {
		for range 60 {
			n := 1 + rng.IntN(vectorLen)
			ints, scales := make([]int64, n), make([]uint8, n)
			for i := range ints {
				ints[i] = value(rng, i)
				if rng.IntN(3) == 0 {
					ints[i] >>= rng.IntN(64)
				}
				scales[i] = uint8(rng.IntN(54))
			}
			if rng.IntN(2) == 0 {
				for i := range ints {
					ints[i] = int64(rng.Uint64()) >> (63 - scales[i])
				}
			}
			f := func(encode func() []byte, scales []uint8) {
				t.Helper()
				src := encode()
				var want []byte
				withoutLanes(func() { want = encode() })
				if !slices.Equal(src, want) {
					t.Fatalf("%s: %d integers are encoded in two ways, of %d and %d bytes", name, n, len(src), len(want))
				}
				wantStream(t, src, n, scales)
				got := make([]int64, n)
				if rest, ok := decodeStream(got, src, scales); !ok || len(rest) > 0 || !slices.Equal(got, ints) {
					t.Fatalf("%s: %d integers do not come back", name, n)
				}
			}
			f(func() []byte { return encoder.appendStream(nil, ints) }, nil)
			f(func() []byte { return encoder.appendPlainStream(nil, ints, 16) }, nil)
			f(func() []byte { return encoder.appendScaledStream(nil, ints, scales) }, scales)
		}
	}
}

// wantStream checks that n integers of src decode to the same, or not at all, in either way.
func wantStream(t *testing.T, src []byte, n int, scales []uint8) {
	t.Helper()
	got, want := make([]int64, n), make([]int64, n)
	gotRest, gotOK := decodeStream(got, src, scales)
	withoutLanes(func() {
		wantRest, wantOK := decodeStream(want, src, scales)
		if gotOK != wantOK || gotOK && (len(gotRest) != len(wantRest) || !slices.Equal(got, want)) {
			t.Fatalf("%d integers: %v with %d bytes left and %v; one by one %v with %d left and %v", n, gotOK, len(gotRest), got, wantOK, len(wantRest), want)
		}
	})
}

func FuzzDecodeStream(f *testing.F) {
	rng := rand.New(rand.NewPCG(18, 19))
	for _, value := range streamKinds {
		ints, scales := make([]int64, 200), make([]uint8, 200)
		for i := range ints {
			ints[i], scales[i] = value(rng, i), uint8(rng.IntN(54))
		}
		f.Add(new(intEncoder).appendStream(nil, ints), uint16(200), []byte(nil))
		f.Add(new(intEncoder).appendScaledStream(nil, ints, scales), uint16(200), []byte(scales))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16, scales []byte) {
		count := 1 + int(n)%vectorLen
		if len(scales) < count {
			scales = nil
		}
		for i := range scales {
			scales[i] %= 54
		}
		wantStream(t, src[:len(src):len(src)], count, scales)
		wantStream(t, append(slices.Clone(src), 1, 2, 3, 4, 5, 6, 7, 8)[:len(src)], count, scales) // what lies behind does not matter
	})
}

// WithoutLanes lets tests of splits do the same.
var WithoutLanes = withoutLanes
