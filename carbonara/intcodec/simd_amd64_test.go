package intcodec

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/internal/simd"
)

// withoutAVX512 calls f with the loops in plain Go.
func withoutAVX512(f func()) {
	had := simd.AVX512
	simd.AVX512 = false
	defer func() { simd.AVX512 = had }()
	f()
}

// Loops over eight numbers at a time answer what those in plain Go answer.
func TestLoopsAgree(t *testing.T) {
	if !simd.AVX512 {
		t.Skip("this processor lacks AVX-512")
	}
	rng := rand.New(rand.NewPCG(14, 15))
	for range 3000 {
		n := 1 + rng.IntN(70)
		if rng.IntN(20) == 0 {
			n = MaxLen
		}
		shift := rng.IntN(11)
		ints, others, numbers := make([]int64, n), make([]int64, n), make([]uint64, n)
		width := rng.IntN(65)
		for i := range ints {
			ints[i], others[i] = int64(rng.Uint64())>>rng.IntN(64), int64(rng.Uint64())>>rng.IntN(64)
			numbers[i] = rng.Uint64() >> (64 - width) >> rng.IntN(4)
		}
		mini := numbers[:min(n, miniValues)]
		f := func(name string, loop func() []int64) {
			t.Helper()
			got := loop()
			var want []int64
			withoutAVX512(func() { want = loop() })
			if !slices.Equal(got, want) {
				t.Fatalf("%s, %d numbers:\n%v\nwant\n%v", name, n, got, want)
			}
		}
		signed := func(u []uint64) []int64 {
			out := make([]int64, len(u))
			for i, v := range u {
				out[i] = int64(v)
			}
			return out
		}
		f("sortSamples", func() []int64 {
			var samples orderSamples
			count := SampleCount(8 + n)
			for i := range samples {
				samples[i] = [4]int64{ints[i%n], others[i%n], ints[i%n] ^ others[i%n]}
			}
			var costs [4]int64
			sortSamples(&samples, &costs, count)
			out := slices.Clone(costs[:3])
			for _, row := range samples {
				out = append(out, row[:3]...)
			}
			return out
		})
		f("minMax", func() []int64 { low, high := minMax(ints); return []int64{low, high} })
		f("subtractBase", func() []int64 {
			out := make([]uint64, n)
			all := subtractBase(out, ints, others[0])
			return append(signed(out), int64(all))
		})
		f("zigzagAll", func() []int64 {
			out := make([]uint64, n)
			zigzagAll(out, ints, others[0], shift)
			return signed(out)
		})
		f("differences", func() []int64 { out := make([]int64, n); differences(out, ints); return out })
		f("Add", func() []int64 { out := slices.Clone(ints); Add(out, others); return out })
		f("Sub", func() []int64 { out := slices.Clone(ints); Sub(out, others); return out })
		f("countWider", func() []int64 {
			var above [64]uint8
			out := []int64{int64(countWider(&above, mini))}
			for w := int(out[0]) - 1; w >= 0; w-- {
				out = append(out, int64(above[w]))
				if int(above[w]) > len(mini)/4 {
					break
				}
			}
			return out
		})
	}
}

// Streams are the same bytes, and come back, in either way.
func TestStreamsAgree(t *testing.T) {
	rng := rand.New(rand.NewPCG(16, 17))
	encoder := new(Encoder)
	for name, value := range streamKinds {
		for range 60 {
			n := 1 + rng.IntN(MaxLen)
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
				withoutAVX512(func() { want = encode() })
				if !slices.Equal(src, want) {
					t.Fatalf("%s: %d integers are encoded in two ways, of %d and %d bytes", name, n,
						len(src), len(want))
				}
				wantStream(t, src, n, scales)
				got := make([]int64, n)
				if rest, ok := Decode(got, src, scales); !ok || len(rest) > 0 || !slices.Equal(got, ints) {
					t.Fatalf("%s: %d integers do not come back", name, n)
				}
			}
			f(func() []byte { return encoder.AppendStream(nil, ints) }, nil)
			f(func() []byte { return encoder.AppendUndifferenced(nil, ints, 16) }, nil)
			f(func() []byte { return encoder.AppendScaled(nil, ints, scales) }, scales)
		}
	}
}

// wantStream checks that n integers of src decode to the same, or not at all, in either way.
func wantStream(t *testing.T, src []byte, n int, scales []uint8) {
	t.Helper()
	got, want := make([]int64, n), make([]int64, n)
	gotRest, gotOK := Decode(got, src, scales)
	withoutAVX512(func() {
		wantRest, wantOK := Decode(want, src, scales)
		if gotOK != wantOK || gotOK && (len(gotRest) != len(wantRest) || !slices.Equal(got, want)) {
			t.Fatalf("%d integers: %v with %d bytes left and %v; one by one %v with %d left and %v", n, gotOK,
				len(gotRest), got, wantOK, len(wantRest), want)
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
		f.Add(new(Encoder).AppendStream(nil, ints), uint16(200), []byte(nil))
		f.Add(new(Encoder).AppendScaled(nil, ints, scales), uint16(200), []byte(scales))
	}
	f.Fuzz(func(t *testing.T, src []byte, n uint16, scales []byte) {
		count := 1 + int(n)%MaxLen
		if len(scales) < count {
			scales = nil
		}
		for i := range scales {
			scales[i] %= 54
		}
		wantStream(t, src[:len(src):len(src)], count, scales)
		// what lies behind does not matter
		wantStream(t, append(slices.Clone(src), 1, 2, 3, 4, 5, 6, 7, 8)[:len(src)], count, scales)
	})
}
