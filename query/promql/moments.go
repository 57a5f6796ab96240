package promql

import (
	"math"

	"github.com/prometheus/prometheus/model/histogram"
)

// moments are count, mean and second moment of measures.
type moments struct{ count, mean, m2 float64 }

// add adds those of other measures, by Chan's formula: no difference of large sums of squares is taken.
func (m *moments) add(other moments) {
	if other.count == 0 {
		return
	}
	count := m.count + other.count
	delta := other.mean - m.mean
	m.mean += delta * other.count / count
	m.m2 += other.m2 + delta*delta*m.count*other.count/count
	m.count = count
	if math.IsNaN(m.mean) {
		m.m2 = math.NaN()
	}
}

// histogramOf puts moments into the one kind of sample of the engine that holds several numbers.
func (m moments) histogramOf() *histogram.FloatHistogram {
	return &histogram.FloatHistogram{Count: m.count, Sum: m.mean, ZeroCount: m.m2}
}

// momentsOf is the inverse of histogramOf.
func momentsOf(h *histogram.FloatHistogram) moments { return moments{h.Count, h.Sum, h.ZeroCount} }
