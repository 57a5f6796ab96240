package correlation_test

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
)

// BenchmarkGonum is BenchmarkGram of correlate/tile by gonum's BLAS: flops per second of one core.
func BenchmarkGonum(b *testing.B) {
	const rows, columns = 1024, 256
	random := rand.New(rand.NewPCG(3, 4))
	values := make([]float64, rows*columns)
	for i := range values {
		values[i] = random.NormFloat64()
	}
	run := func(name string, flops float64, f func()) {
		b.Run("engine="+name, func(b *testing.B) {
			for b.Loop() {
				f()
			}
			b.ReportMetric(flops*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gflop/s")
		})
	}
	x := blas64.General{Rows: rows, Cols: columns, Stride: columns, Data: values}
	product := blas64.General{Rows: columns, Cols: columns, Stride: columns, Data: make([]float64, columns*columns)}
	run("gonum-dgemm", 2*rows*columns*columns, func() { blas64.Gemm(blas.Trans, blas.NoTrans, 1, x, x, 0, product) })
	symmetric := blas64.Symmetric{N: columns, Stride: columns, Data: product.Data, Uplo: blas.Upper}
	run("gonum-dsyrk", rows*columns*columns, func() { blas64.Syrk(blas.Trans, 1, x, 0, symmetric) })
}
