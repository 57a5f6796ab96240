package aggregates_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// BenchmarkPercentiles takes percentiles across series that change slowly: memory of 8 bytes a value.
func BenchmarkPercentiles(b *testing.B) {
	for _, size := range [][2]int{{1000, 1440}, {10_000, 10_080}} {
		b.Run(fmt.Sprintf("series=%d/rows=%d", size[0], size[1]), func(b *testing.B) {
			if testing.Short() && size[0] > 1000 {
				b.Skip("takes 0.8 GB")
			}
			starts := make([]carbonara.Timestamp, size[1])
			for i := range starts {
				starts[i] = carbonara.Timestamp(i) * 60e9
			}
			table := &aggregates.Table{Granularity: 60e9, Series: make([]aggregates.Series, size[0])}
			for i := range table.Series {
				random, values, v := rand.New(rand.NewPCG(1, uint64(i))), make([]float64, size[1]), 50.0
				for k := range values {
					v += random.Float64() - 0.5
					values[k] = v
				}
				table.Series[i] = aggregates.Series{Starts: starts, Values: values}
			}
			operation, err := aggregates.Parse("(aggregate 95pct (metric m mean))")
			fatal.If(b, err)
			var values []float64
			for b.Loop() {
				result, err := aggregates.Evaluate(b.Context(), operation, table, new(aggregates.Options))
				fatal.If(b, err)
				values, err = result.Column(0, values[:0])
				fatal.If(b, err)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*size[0]*size[1]), "ns/value")
		})
	}
}
