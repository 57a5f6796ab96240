package sketch_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara/sketch"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// BenchmarkSketch makes sketches of groups, and merges them.
func BenchmarkSketch(b *testing.B) {
	for _, n := range []int{1, 4, 60, 1440} {
		r := rand.New(rand.NewPCG(1, uint64(n)))
		groups := make([][]float64, 64)
		sketches := make([]sketch.Sketch, len(groups))
		bytes := 0
		for i := range groups {
			groups[i] = make([]float64, n)
			for j := range groups[i] {
				groups[i][j] = sketchValues["latency"](r)
			}
			sketches[i] = sketch.Of(groups[i])
			bytes += len(sketches[i])
		}
		b.Run(fmt.Sprintf("make/measures=%d", n), func(b *testing.B) {
			var s sketch.Encoder
			var dst []byte
			for i := 0; b.Loop(); i++ {
				dst = s.Append(dst[:0], groups[i%len(groups)])
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/measure")
		})
		b.Run(fmt.Sprintf("merge/measures=%d", n), func(b *testing.B) {
			var d sketch.Distribution
			for i := 0; b.Loop(); i++ {
				fatal.If(b, d.Add(sketches[i%len(sketches)]))
			}
			b.ReportMetric(float64(bytes)/float64(len(groups)), "bytes")
		})
	}
}
