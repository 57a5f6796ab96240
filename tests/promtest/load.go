package promtest

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/tsdb/chunks"
	"github.com/prometheus/prometheus/util/convertnhcb"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// loaded are the samples of series by their labels and their times.
type loaded map[string]*loadedSeries

type loadedSeries struct {
	labels  labels.Labels
	samples map[int64]Sample
	buckets map[int64]*convertnhcb.TempHistogram // of the classic histogram that becomes this series
}

// Series returns the series that a script loads. Their times begin in 1970. Start timestamps are left out.
func (s *Script) Series(t testing.TB) []Series {
	t.Helper()
	all := loaded{}
	var step time.Duration
	var native bool // classic histograms also become native ones
	for line := range strings.Lines(s.Load) {
		line = strings.TrimSpace(line)
		first, rest, _ := strings.Cut(line, " ")
		switch {
		case line == "" || strings.HasPrefix(line, "#") || strings.HasSuffix(first, "@st"):
		case strings.HasPrefix(first, "load"):
			d, err := common.ParseDuration(strings.TrimSpace(rest))
			fatal.If(t, err)
			step, native = time.Duration(d), first == "load_with_nhcb"
		default:
			l, values, err := parser.NewParser(Syntax).ParseSeriesDesc(line)
			fatal.If(t, err)
			for i, v := range values {
				ms := int64(i) * step.Milliseconds()
				if v.Omitted {
					continue
				}
				all.series(l).samples[ms] = Sample{ms, v.Value, v.Histogram}
				if native && v.Histogram == nil {
					all.collect(l, ms, v.Value)
				}
			}
		}
	}
	return all.sorted(t)
}

func (all loaded) series(l labels.Labels) *loadedSeries {
	key := l.String()
	if all[key] == nil {
		all[key] = &loadedSeries{l, map[int64]Sample{}, map[int64]*convertnhcb.TempHistogram{}}
	}
	return all[key]
}

// collect adds a sample of a classic histogram to the native one.
func (all loaded) collect(l labels.Labels, ms int64, v float64) {
	kind, name := convertnhcb.GetHistogramMetricBaseName(l.Get(common.MetricNameLabel))
	bound, err := strconv.ParseFloat(l.Get(labels.BucketLabel), 64)
	if kind == convertnhcb.SuffixNone || kind == convertnhcb.SuffixBucket && err != nil {
		return
	}
	buckets := all.series(convertnhcb.GetHistogramMetricBase(l, name)).buckets
	if buckets[ms] == nil {
		h := convertnhcb.NewTempHistogram()
		buckets[ms] = &h
	}
	switch kind { // what fails comes back from Convert
	case convertnhcb.SuffixBucket:
		_ = buckets[ms].SetBucketCount(bound, v)
	case convertnhcb.SuffixCount:
		_ = buckets[ms].SetCount(v)
	case convertnhcb.SuffixSum:
		_ = buckets[ms].SetSum(v)
	}
}

func (all loaded) sorted(t testing.TB) (series []Series) {
	t.Helper()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		s := all[key]
		for ms, collected := range s.buckets {
			whole, h, err := collected.Convert()
			fatal.If(t, err)
			if h == nil {
				h = whole.ToFloat(nil)
			}
			s.samples[ms] = Sample{ms, 0, h}
		}
		one := Series{Labels: s.labels}
		for _, sample := range slices.SortedFunc(maps.Values(s.samples), byTime) {
			one.Samples = append(one.Samples, chunks.Sample(sample))
		}
		series = append(series, one)
	}
	return series
}

func byTime(a, b Sample) int { return cmp.Compare(a.MS, b.MS) }
