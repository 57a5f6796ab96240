package promql

import (
	"context"
	"math"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/value"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// seriesSet is the series of a selector.
type seriesSet struct {
	series    []storage.Series
	at        int
	notes     annotations.Annotations
	selection *selection // nil for results of a pipeline
}

// Next implements storage.SeriesSet.
func (s *seriesSet) Next() bool {
	s.at++
	return s.at < len(s.series)
}

func (s *seriesSet) At() storage.Series                { return s.series[s.at] }
func (s *seriesSet) Err() error                        { return nil }
func (s *seriesSet) Warnings() annotations.Annotations { return s.notes }

// series is one metric, read by one method. Its samples are read when the engine asks for them, or a little earlier: a
// query holds the samples of a few series at a time.
type series struct {
	ctx       context.Context // of the query, which ends before the series does
	selection *selection
	metric    model.Metric // its ID and its archive policy
	pushed    bool         // with labels
	name      string
	labels    labels.Labels // in a stream the name alone
	reading   *reading
	parts     []part
	archives  query.GroupReader
	sack      int
	place     int   // among the selector's series
	group     int32 // of an aggregation
	native    *native
	joined    bool // into native histograms
	gauge     bool // part of one
}

// Labels implements storage.Series.
func (s *series) Labels() labels.Labels { return s.labels }

func (s *series) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	ahead := s.selection.ahead
	if done, ok := reuse.(*iterator); ok {
		ahead.free = append(ahead.free, done)
	}
	it := ahead.pop(s.ctx, s.place)
	s.selection.current = it
	return it
}

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
