package tile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// panels returns three panels and one more of so many rows, with values of all sizes.
func panels(random *rand.Rand, rows int) (a [3][]float64, b []float64) {
	panel := func() []float64 {
		values := make([]float64, rows*Panel)
		for i := range values {
			values[i] = random.NormFloat64() * math.Exp2(float64(random.IntN(40)))
		}
		return values
	}
	return [3][]float64{panel(), panel(), panel()}, panel()
}

// Every engine that this machine has gives the bits of plain Go, also where there is a NaN or an infinity.
func TestEnginesGiveTheSameBits(t *testing.T) {
	if !hasAVX2 && !hasAVX512 {
		t.Skip("this machine has neither AVX2 nor AVX-512")
	}
	defer func(avx512 bool) { hasAVX512 = avx512 }(hasAVX512)
	random := rand.New(rand.NewPCG(1, 2))
	for _, rows := range []int{1, 2, 3, 7, 8, 100, 1024} {
		a, b := panels(random, rows)
		if rows == 7 {
			a[1][3], b[5] = math.Inf(1), math.NaN()
		}
		var want [Size]float64
		gramGo(&want, a, b, rows)
		for _, avx512 := range []bool{false, hasAVX512} {
			if hasAVX512 = avx512; !avx512 && !hasAVX2 {
				continue
			}
			var got [Size]float64
			Gram(&got, a, b)
			for i := range want {
				if math.Float64bits(got[i]) != math.Float64bits(want[i]) &&
					!(math.IsNaN(got[i]) && math.IsNaN(want[i])) {
					t.Fatalf("%s, %d rows: sum %d is %v, want %v", Engine(), rows, i, got[i], want[i])
				}
			}
		}
	}
}

func TestGramIsTheSumOfProducts(t *testing.T) {
	a := [3][]float64{{1, 0, 0, 0, 0, 0, 0, 0, 10}, make([]float64, 16), make([]float64, 16)}
	a[0] = append(a[0], make([]float64, 7)...)
	b := make([]float64, 16)
	b[2], b[Panel+2] = 3, 4
	a[2][1] = 5
	got := [Size]float64{1: 99}
	Gram(&got, a, b)
	want := [Size]float64{2: 1*3 + 10*4, 17*Panel + 2: 5 * 3}
	if got != want {
		t.Fatalf("got %v, want %v", got, want)
	}
	if Gram(&got, [3][]float64{}, nil); got != [Size]float64{} {
		t.Fatalf("no rows give %v", got)
	}
}

// BenchmarkGram compares the engines with each other: flops per second of one core on panels that fit the caches as
// they do in package correlate. BenchmarkGonum of bench/correlation has gonum's BLAS beside them.
func BenchmarkGram(b *testing.B) {
	const rows = 1024
	random := rand.New(rand.NewPCG(3, 4))
	wide, narrow := panels(random, rows)
	run := func(name string, flops float64, f func()) {
		b.Run(fmt.Sprintf("engine=%s", name), func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
		})
	}
	var dst [Size]float64
	flops := 2. * rows * Size
	run("go", flops, func() { gramGo(&dst, wide, narrow, rows) })
	was := hasAVX512
	if hasAVX512 = false; hasAVX2 {
		run("avx2", flops, func() { Gram(&dst, wide, narrow) })
	}
	if hasAVX512 = was; hasAVX512 {
		run("avx512", flops, func() { Gram(&dst, wide, narrow) })
	}
}
