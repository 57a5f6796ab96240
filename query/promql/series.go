package promql

import (
	"context"

	"github.com/prometheus/prometheus/model/labels"
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

// At implements storage.SeriesSet.
func (s *seriesSet) At() storage.Series { return s.series[s.at] }

// Err implements storage.SeriesSet.
func (s *seriesSet) Err() error { return nil }

// Warnings implements storage.SeriesSet.
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
}

// Labels implements storage.Series.
func (s *series) Labels() labels.Labels { return s.labels }

// Iterator implements storage.Series.
func (s *series) Iterator(reuse chunkenc.Iterator) chunkenc.Iterator {
	ahead := s.selection.ahead
	if done, ok := reuse.(*iterator); ok {
		ahead.free = append(ahead.free, done)
	}
	it := ahead.pop(s.ctx, s.place)
	s.selection.current = it
	return it
}
