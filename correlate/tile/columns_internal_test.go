package tile

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// eachEngine runs f with and without AVX-512.
func eachEngine(t testing.TB, f func(name string)) {
	t.Helper()
	defer setAVX512(true)
	setAVX512(false)
	f("go")
	if setAVX512(true) {
		f("avx512")
	}
}

func TestMeasure(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	for _, rows := range []int{0, 1, 7, 8, 9, 16, 31, 1024, 1027} {
		for _, gaps := range []float64{0, 0.2, 1} {
			x := make([]float64, rows)
			n, sum, lowest, highest := 0, 0., math.Inf(1), math.Inf(-1)
			for i := range x {
				x[i] = random.NormFloat64() * math.Exp2(float64(random.IntN(40)))
				if random.Float64() < gaps {
					x[i] = []float64{math.NaN(), math.Inf(1), math.Inf(-1)}[random.IntN(3)]
					continue
				}
				n++
				sum += x[i]
				lowest, highest = min(lowest, x[i]), max(highest, x[i])
			}
			var first *Measured
			eachEngine(t, func(name string) {
				got := Measure(x)
				if got.N != n || got.Lowest != lowest || got.Highest != highest ||
					math.Abs(got.Sum-sum) > 1e-12*float64(n)*max(highest, -lowest, 0) {
					t.Errorf("%s, %d rows: got %+v, want %d values from %v to %v with a sum of %v", name, rows, got, n,
						lowest, highest, sum)
				}
				if first == nil {
					first = &got
				} else if math.Float64bits(first.Sum) != math.Float64bits(got.Sum) {
					t.Errorf("%s, %d rows: a sum of %v, and of %v in Go", name, rows, got.Sum, first.Sum)
				}
			})
		}
	}
}

func TestPack(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, rows := range []int{0, 1, 7, 8, 9, 16, 31, 1024, 1027} {
		var columns [Panel][]float64
		var packing Packing
		for c := range columns {
			columns[c] = make([]float64, rows)
			packing.Centres[c], packing.Scales[c] = random.NormFloat64(), math.Exp2(float64(random.IntN(9)-4))
			for k := range columns[c] {
				columns[c][k] = random.NormFloat64() * math.Exp2(float64(random.IntN(40)))
			}
		}
		eachEngine(t, func(name string) {
			got := packing
			got.Sums[3] = 99 // of another panel
			out := make([]float64, rows*Panel)
			Pack(out, &columns, &got)
			var square [Size]float64
			Gram(&square, [3][]float64{out, out, out}, out)
			for c, column := range columns {
				sum := 0.
				for k, v := range column {
					d := float64((v - packing.Centres[c]) * packing.Scales[c])
					sum += d
					if math.Float64bits(out[k*Panel+c]) != math.Float64bits(d) {
						t.Fatalf("%s, %d rows: row %d of column %d is %v, want %v", name, rows, k, c, out[k*Panel+c], d)
					}
				}
				if got.Sums[c] != sum || got.Squares[c] != square[c*Panel+c] {
					t.Errorf("%s, %d rows: column %d sums to %v and %v, want %v and %v", name, rows, c, got.Sums[c],
						got.Squares[c], sum, square[c*Panel+c])
				}
			}
		})
	}
}

// BenchmarkColumns is what a column costs before it is multiplied.
func BenchmarkColumns(b *testing.B) {
	const rows = 1024
	random := rand.New(rand.NewPCG(9, 10))
	var columns [Panel][]float64
	for c := range columns {
		columns[c] = make([]float64, rows)
		for k := range columns[c] {
			columns[c][k] = random.NormFloat64()
		}
	}
	out := make([]float64, rows*Panel)
	eachEngine(b, func(name string) {
		for what, f := range map[string]func(){
			"measure": func() {
				for _, column := range columns {
					if m := Measure(column); m.N != rows {
						b.Fatal(m)
					}
				}
			},
			"pack": func() {
				packing := Packing{Scales: [Panel]float64{1, 1, 1, 1, 1, 1, 1, 1}}
				if Pack(out, &columns, &packing); packing.Squares[0] <= 0 {
					b.Fatal(packing)
				}
			},
		} {
			b.Run(fmt.Sprintf("%s/engine=%s", what, name), func(b *testing.B) {
				b.SetBytes(rows * Panel * 8)
				for b.Loop() {
					f()
				}
			})
		}
	})
}
