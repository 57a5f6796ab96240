package promql

import (
	"math"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"
)

// computedSet is what a pipeline gave, as series of the times of the query. A series ends where it has no value.
type computedSet struct {
	*computed
	at int
}

// Next implements storage.SeriesSet, as the following do.
func (s *computedSet) Next() bool {
	s.at++
	return s.at < len(s.matrix)
}

// At is of storage.SeriesSet.
func (s *computedSet) At() storage.Series { return &computedSeries{s.computed, s.at} }

// Err is of storage.SeriesSet.
func (s *computedSet) Err() error { return nil }

// Warnings is of storage.SeriesSet.
func (s *computedSet) Warnings() annotations.Annotations { return s.notes }

// computedSeries is one of them.
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
