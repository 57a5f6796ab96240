package intcodec

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestBitPacking(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for w := 0; w <= 64; w++ {
		for _, n := range []int{1, 2, 7, 63, 64, 127, 128} {
			numbers := make([]uint64, n)
			for i := range numbers {
				if w > 0 {
					numbers[i] = rng.Uint64() >> (64 - w)
				}
			}
			packed := appendMini([]byte("x"), numbers, w)[1:]
			if len(packed) != packedLen(n, w) {
				t.Fatalf("%d numbers of %d bits take %d bytes, not %d", n, w, len(packed), packedLen(n, w))
			}
			got, want := make([]int64, n), make([]int64, n)
			unpackMini(got, packed, w, -7)
			for i, v := range numbers {
				want[i] = int64(v) - 7
			}
			if !slices.Equal(got, want) {
				t.Fatalf("%d numbers of %d bits: got %v, want %v", n, w, got, want)
			}
		}
	}
}

// streamKinds are integers of many shapes.
var streamKinds = map[string]func(rng *rand.Rand, i int) int64{
	"constant":  func(*rand.Rand, int) int64 { return -7 },
	"small":     func(rng *rand.Rand, _ int) int64 { return rng.Int64N(20) - 10 },
	"counter":   func(_ *rand.Rand, i int) int64 { return 1e15 + int64(i)*1500 },
	"quadratic": func(_ *rand.Rand, i int) int64 { return int64(i) * int64(i) * 64 },
	"walk":      func(rng *rand.Rand, i int) int64 { return int64(i)*100 + rng.Int64N(9) },
	"outliers": func(rng *rand.Rand, _ int) int64 {
		if rng.IntN(50) == 0 {
			return int64(rng.Uint64())
		}
		return rng.Int64N(100)
	},
	"low outliers": func(rng *rand.Rand, _ int) int64 {
		if rng.IntN(100) == 0 {
			return math.MinInt64 + rng.Int64N(5)
		}
		return 1e9 + rng.Int64N(100)
	},
	"multiples": func(rng *rand.Rand, _ int) int64 { return rng.Int64N(1000) << 20 },
	"extremes":  func(_ *rand.Rand, i int) int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1}[i%4] },
	"anything":  func(rng *rand.Rand, _ int) int64 { return int64(rng.Uint64()) },
}

func TestStreamRoundTrip(t *testing.T) {
	var encoder Encoder
	rng := rand.New(rand.NewPCG(3, 4))
	for name, value := range streamKinds {
		for _, n := range []int{1, 2, 3, 4, 64, 127, 128, 129, 500, 1023, 1024} {
			ints := make([]int64, n)
			for i := range ints {
				ints[i] = value(rng, i)
			}
			for order := range min(3, n) {
				values := slices.Clone(ints)
				for o := range order {
					next := make([]int64, n)
					differences(next[o+1:], values[o:])
					values = next
				}
				sample := sortedSample(nil, values[order:])
				src := encoder.appendStream(nil, ints, order, sample, 16)
				got := make([]int64, n)
				rest, ok := Decode(got, append(src, 1, 2), nil)
				if !ok || !bytes.Equal(rest, []byte{1, 2}) || !slices.Equal(got, ints) {
					t.Fatalf("%s: %d integers at order %d do not come back", name, n, order)
				}
				if first, rest, ok := Skip(append(src, 1, 2), n); !ok ||
					!bytes.Equal(rest, []byte{1, 2}) || first != ints[0] {
					t.Fatalf("%s: of %d integers at order %d the first is %d, want %d; %d bytes are left", name, n,
						order, first, ints[0], len(rest))
				}
				for end := range src {
					if rest, ok := Decode(got, src[:end], nil); ok {
						t.Fatalf("%s: %d of %d bytes decode, %d are left", name, end, len(src), len(rest))
					}
				}
			}
		}
	}
}

// Any bytes that decode as a stream are skipped the same way.
func TestSkipStream(t *testing.T) {
	var encoder Encoder
	rng := rand.New(rand.NewPCG(5, 6))
	decoded := 0
	for _, value := range streamKinds {
		for range 1500 {
			ints := make([]int64, 1+rng.IntN(300))
			for i := range ints {
				ints[i] = value(rng, i)
			}
			src := encoder.AppendStream(nil, ints)
			for range rng.IntN(3) {
				src[rng.IntN(min(len(src), 12))] ^= 1 << rng.IntN(8)
			}
			rest, ok := Decode(ints, src, nil)
			if !ok {
				continue
			}
			decoded++
			if first, skipped, ok := Skip(src, len(ints)); !ok || first != ints[0] || len(skipped) != len(rest) {
				t.Fatalf("%d integers: first %d, want %d; %d bytes left, want %d", len(ints), first, ints[0],
					len(skipped), len(rest))
			}
		}
	}
	if decoded < 5000 {
		t.Errorf("only %d decode", decoded)
	}
}

func TestStreamIsSmall(t *testing.T) {
	f := func(name string, most int) {
		t.Helper()
		rng := rand.New(rand.NewPCG(3, 4))
		ints := make([]int64, MaxLen)
		for i := range ints {
			ints[i] = streamKinds[name](rng, i)
		}
		if got := len(new(Encoder).AppendStream(nil, ints)); got > most {
			t.Errorf("%s: %d bytes, want %d at most", name, got, most)
		}
	}
	f("constant", 2)
	f("counter", 12)
	f("quadratic", 12)
	f("small", MaxLen*5/8+8)
	f("walk", MaxLen*6/8)
	f("outliers", MaxLen*7/8+12*MaxLen/40)
	f("low outliers", MaxLen*7/8+12*MaxLen/80)
	f("multiples", MaxLen*10/8+16)
	f("anything", MaxLen*8+32)
}
