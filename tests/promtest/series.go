package promtest

import (
	"slices"
	"testing"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/tsdb/chunkenc"
	"github.com/prometheus/prometheus/tsdb/chunks"

	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Syntax is the one that Prometheus' scripts are written in.
var Syntax = parser.Options{EnableExperimentalFunctions: true, EnableBinopFillModifiers: true,
	EnableUnquotedUTF8Names: true}

// NewEngine returns Prometheus' engine as its own tests configure it.
func NewEngine(t testing.TB) *promql.Engine {
	engine := promql.NewEngine(promql.EngineOpts{MaxSamples: 10_000_000, Timeout: 100e9, EnableAtModifier: true,
		NoStepSubqueryIntervalFn: func(int64) int64 { return 60_000 }, EnableNegativeOffset: true,
		EnableDelayedNameRemoval: true, UseStartTimestamps: true, Parser: parser.NewParser(Syntax)})
	t.Cleanup(func() { fatal.If(t, engine.Close()) })
	return engine
}

// Series are samples in the order of their times.
type Series struct {
	Labels  labels.Labels
	Samples []chunks.Sample
}

// Sample is a number, or a native histogram if it has one.
type Sample struct {
	MS        int64
	Value     float64
	Histogram *histogram.FloatHistogram
}

// T implements chunks.Sample, as all of these do.
func (s Sample) T() int64                { return s.MS }
func (s Sample) ST() int64               { return 0 }
func (s Sample) F() float64              { return s.Value }
func (s Sample) H() *histogram.Histogram { return nil }
func (s Sample) Copy() chunks.Sample     { return s }

// FH returns a copy: the engine computes in place.
func (s Sample) FH() *histogram.FloatHistogram { return s.Histogram.Copy() }

func (s Sample) Type() chunkenc.ValueType {
	if s.Histogram != nil {
		return chunkenc.ValFloatHistogram
	}
	return chunkenc.ValFloat
}

// Queryable returns what Prometheus' engine reads series from.
func Queryable(all ...Series) storage.Queryable {
	find := func(_ bool, _ *storage.SelectHints, matchers ...*labels.Matcher) storage.SeriesSet {
		found := &seriesSet{SeriesSet: storage.EmptySeriesSet()}
		for _, s := range all {
			differs := func(m *labels.Matcher) bool { return !m.Matches(s.Labels.Get(m.Name)) }
			if !slices.ContainsFunc(matchers, differs) {
				found.series = append(found.series, storage.NewListSeries(s.Labels, s.Samples))
			}
		}
		return found
	}
	return &storage.MockQueryable{MockQuerier: &storage.MockQuerier{SelectMockFunction: find}}
}

// seriesSet is a set without errors and warnings.
type seriesSet struct {
	storage.SeriesSet
	series []storage.Series
	next   int
}

func (s *seriesSet) Next() bool         { s.next++; return s.next <= len(s.series) }
func (s *seriesSet) At() storage.Series { return s.series[s.next-1] }

// Parts returns the values of the parts that a native histogram is stored as.
func Parts(t testing.TB, h *histogram.FloatHistogram) map[string]float64 {
	t.Helper()
	var batch series.Batch
	fatal.If(t, batch.AddHistogram(new(series.Labels), 0, h))
	_, values := batch.Columns()
	parts := make(map[string]float64, batch.Len())
	for i := range batch.Len() {
		parts[model.Labels(batch.AppendKey(nil, i)).Get(model.LabelHistogram)] = values[i]
	}
	return parts
}
