package parts

import (
	"math"

	"github.com/prometheus/prometheus/model/histogram"

	"github.com/gnocco-db/gnocco/model"
)

// Each calls use for the parts of a valid histogram, until it fails. An empty bucket is none, unless its bound is one
// of the histogram's own.
func Each(h *histogram.FloatHistogram, use func(model.HistogramPart, float64) error) (err error) {
	part := model.HistogramPart{Gauge: h.CounterResetHint == histogram.GaugeType, Schema: h.Schema}
	give := func(kind model.HistogramPartKind, value float64) {
		if part.Kind = kind; err == nil {
			err = use(part, value)
		}
	}
	give(model.HistogramCount, h.Count)
	give(model.HistogramSum, h.Sum)
	if h.UsesCustomBuckets() {
		counts := make([]float64, len(h.CustomValues)+1)
		for buckets := h.PositiveBucketIterator(); buckets.Next(); {
			counts[buckets.At().Index] = buckets.At().Count
		}
		for i, bound := range append(h.CustomValues[:len(h.CustomValues):len(h.CustomValues)], math.Inf(1)) {
			part.Bound = bound
			give(model.HistogramCustom, counts[i])
		}
		return err
	}
	part.Bound = h.ZeroThreshold
	give(model.HistogramZero, h.ZeroCount)
	populated := func(kind model.HistogramPartKind, buckets histogram.BucketIterator[float64]) {
		for buckets.Next() {
			if bucket := buckets.At(); bucket.Count != 0 {
				part.Index = bucket.Index
				give(kind, bucket.Count)
			}
		}
	}
	populated(model.HistogramNegative, h.NegativeBucketIterator())
	populated(model.HistogramPositive, h.PositiveBucketIterator())
	return err
}
