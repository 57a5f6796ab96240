package promql

import (
	"context"
	"math"
	"runtime"
	"strconv"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// buckets are the series of a classic histogram, each with the bound that its label le says.
type buckets struct {
	metric labels.Labels
	bounds []float64
	series [][]upstream.FPoint
	points []upstream.FPoint // quantiles
	notes  annotations.Annotations
}

// histogramQuantile is nil if the quantile is not constant.
func histogramQuantile(call *parser.Call) resultFunction {
	q, ok := columns.Constant(call.Args[0])
	if !ok {
		return nil
	}
	return func(ctx context.Context, s *source, in *computed) (*computed, error) {
		out := &computed{at: in.at, notes: in.notes, series: in.series, used: in.used}
		position := call.Args[1].PositionRange()
		if in.at.N > 0 && (math.IsNaN(q) || q < 0 || q > 1) {
			out.notes.Add(annotations.NewInvalidQuantileWarning(q, call.Args[0].PositionRange()))
		}
		var all []*buckets
		bySignature, buffer := map[string]*buckets{}, []byte(nil)
		builder := labels.NewBuilder(labels.EmptyLabels())
		for _, series := range in.matrix {
			le := series.Metric.Get(common.BucketLabel)
			bound, err := strconv.ParseFloat(le, 64)
			if err != nil || math.IsNaN(bound) {
				out.notes.Add(annotations.NewBadBucketLabelWarning("", le, position))
				continue
			}
			buffer = series.Metric.BytesWithoutLabels(buffer, common.BucketLabel)
			h := bySignature[string(buffer)]
			if h == nil {
				builder.Reset(columns.WithoutName(series.Metric))
				h = &buckets{metric: builder.Del(common.BucketLabel).Labels()}
				bySignature[string(buffer)], all = h, append(all, h)
			}
			h.bounds, h.series = append(h.bounds, bound), append(h.series, series.Floats)
		}
		if err := s.chargePoints(ctx, &out.points, int(min(in.points, int64(len(all)*in.at.N)))); err != nil {
			return nil, err
		}
		const perWorker = 16 // histograms
		workers := min(runtime.GOMAXPROCS(0), 1+len(all)/perWorker)
		if err := parallel.Each(workers, len(all), func(i int) error {
			all[i].quantiles(q, in.at, func(t int64, least, most, difference float64) error {
				return annotations.NewHistogramQuantileForcedMonotonicityInfo("", position, t, least, most, difference)
			})
			return ctx.Err()
		}); err != nil {
			return nil, err
		}
		known := make(map[uint64]bool, len(all))
		for _, h := range all {
			hash := h.metric.Hash()
			if known[hash] {
				return nil, errSameLabels
			}
			known[hash] = true
			out.notes.Merge(h.notes)
			if len(h.points) > 0 {
				out.matrix = append(out.matrix, upstream.Series{Metric: h.metric, Floats: h.points})
			}
		}
		return out, nil
	}
}

// quantiles computes the quantile at each time at which the histogram has a bucket.
func (h *buckets) quantiles(q float64, at columns.Times,
	note func(t int64, least, most, difference float64) error) {
	var now []upstream.Bucket
	for i := range at.N {
		t := at.At(i)
		now = now[:0]
		for j, points := range h.series {
			if len(points) > 0 && points[0].T == t {
				now = append(now, upstream.Bucket{UpperBound: h.bounds[j], Count: points[0].F})
				h.series[j] = points[1:]
			}
		}
		if len(now) == 0 {
			continue
		}
		v, forced, _, least, most, difference := upstream.BucketQuantile(q, now)
		if forced {
			h.notes.Add(note(t, least, most, difference))
		}
		h.points = append(h.points, upstream.FPoint{T: t, F: v})
	}
}
