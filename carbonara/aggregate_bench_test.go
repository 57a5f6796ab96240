package carbonara_test

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// BenchmarkAggregate derives means of a week of minutes: nanoseconds of a value are ns/op by 10,080.
func BenchmarkAggregate(b *testing.B) {
	var g carbonara.Groups
	g.Reset(time.Minute, []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum})
	for i := range 10080 {
		g.Starts = append(g.Starts, carbonara.Timestamp(i)*carbonara.Timestamp(time.Minute))
		g.Values[0], g.Values[1] = append(g.Values[0], 1), append(g.Values[1], float64(i))
	}
	var starts []carbonara.Timestamp
	var values []float64
	for b.Loop() {
		g.DropGone(0)
		starts, values = g.Aggregate(carbonara.Mean, starts[:0], values[:0])
	}
}
