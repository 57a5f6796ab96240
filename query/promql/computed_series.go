package promql

import (
	"math"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
)

// seriesSet returns what a pipeline gave, as series of the times of the query. A series ends where it has no value.
func (c *computed) seriesSet() *seriesSet {
	set := &seriesSet{at: -1, notes: c.notes}
	for place := range c.matrix {
		set.series = append(set.series, &computedSeries{c, place})
	}
	return set
}

// computedSeries is one of these series.
type computedSeries struct {
	of    *computed
	place int
}

// Labels implements storage.Series.
func (s *computedSeries) Labels() labels.Labels { return s.of.matrix[s.place].Metric }

// Iterator implements storage.Series.
func (s *computedSeries) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	it, ok := reuse.(*iterator)
	if !ok {
		it = new(iterator)
	}
	it.reset()
	points := s.of.matrix[s.place].Floats
	for i := range s.of.at.N {
		t := s.of.at.At(i)
		v := math.Float64frombits(value.StaleNaN)
		if len(points) > 0 && points[0].T == t {
			v, points = points[0].F, points[1:]
		}
		it.add(t, v)
	}
	return it
}
