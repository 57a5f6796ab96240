package series

import (
	"math"

	"github.com/prometheus/prometheus/model/histogram"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// AddHistogram adds a valid native histogram, each part of it as a row. An empty bucket is no row, unless its bound is
// one of the histogram's own. The labels are as before in the end.
func (b *Batch) AddHistogram(labels *Labels, at carbonara.Timestamp, h *histogram.FloatHistogram) (err error) {
	part := model.HistogramPart{Gauge: h.CounterResetHint == histogram.GaugeType, Schema: h.Schema}
	add := func(kind model.HistogramPartKind, value float64) {
		if err != nil {
			return
		}
		part.Kind = kind
		labels.Set(model.LabelHistogram, string(part.Append(nil)))
		err = b.Add(*labels, at, value)
		b.rows[len(b.rows)-1].histogram = b.histograms
		b.parts++
	}
	b.histograms++
	add(model.HistogramCount, h.Count)
	add(model.HistogramSum, h.Sum)
	switch {
	case h.UsesCustomBuckets():
		b.addCustom(h, func(bound, count float64) {
			part.Bound = bound
			add(model.HistogramCustom, count)
		})
	default:
		part.Bound = h.ZeroThreshold
		add(model.HistogramZero, h.ZeroCount)
		populated := func(kind model.HistogramPartKind, buckets histogram.BucketIterator[float64]) {
			for buckets.Next() {
				if bucket := buckets.At(); bucket.Count != 0 {
					part.Index = bucket.Index
					add(kind, bucket.Count)
				}
			}
		}
		populated(model.HistogramNegative, h.NegativeBucketIterator())
		populated(model.HistogramPositive, h.PositiveBucketIterator())
	}
	labels.Set(model.LabelHistogram, "")
	return err
}

// addCustom calls add for all buckets of custom bounds.
func (b *Batch) addCustom(h *histogram.FloatHistogram, add func(bound, count float64)) {
	counts := make([]float64, len(h.CustomValues)+1)
	for buckets := h.PositiveBucketIterator(); buckets.Next(); {
		bucket := buckets.At()
		counts[bucket.Index] = bucket.Count
	}
	for i, bound := range h.CustomValues {
		add(bound, counts[i])
	}
	add(math.Inf(1), counts[len(h.CustomValues)])
}

// Written is how many numbers and native histograms of a batch are stored.
type Written struct {
	Numbers, Histograms int

	batch   *Batch
	refused map[int]bool // histograms of which a part is refused
}

// Written returns what is stored if no row is dropped.
func (b *Batch) Written() *Written {
	return &Written{Numbers: len(b.values) - b.parts, Histograms: b.histograms, batch: b, refused: map[int]bool{}}
}

// Drop takes refused measures of a row out.
func (w *Written) Drop(row, measures int, _ error) {
	r := &w.batch.rows[row]
	switch {
	case r.histogram == 0:
		w.Numbers -= measures
	case !w.refused[r.histogram]:
		w.refused[r.histogram] = true
		w.Histograms--
	}
}
