package query

import (
	"context"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// comparedQuantile is the quantile by which histograms are compared.
const comparedQuantile = 0.95

// bucket is a metric that counts the measures of a histogram between two bounds; all up to the upper one, if the
// histogram is classic.
type bucket struct {
	metric       *model.Metric
	lower, upper float64
}

// labelLE is the label by which the buckets of a classic histogram differ.
const labelLE = "le"

// bucketOf returns the bucket that a metric counts, and what the buckets of its histogram have in common; "" if the
// metric is none.
func bucketOf(m *model.Metric) (b bucket, of string) {
	b.metric = m
	label := model.LabelHistogram
	if text := m.Labels.Get(label); text == "" {
		label = labelLE
		bound, err := strconv.ParseFloat(m.Labels.Get(label), 64)
		if err != nil || !strings.HasSuffix(m.SeriesName(), "_bucket") {
			return b, ""
		}
		b.lower, b.upper = math.NaN(), bound
	} else if part, ok := model.ParseHistogramPart(text); !ok || part.Gauge || !b.bound(part) {
		return b, ""
	}
	common := append([]byte(m.ArchivePolicy.Name+"\x00"+m.Creator), label...)
	for name, value := range m.Labels.All() {
		if name != label {
			common = model.AppendLabel(common, name, value)
		}
	}
	return b, string(common)
}

// bound sets the bounds of a part of a native histogram, and reports whether it is a bucket. A bucket without a lower
// bound begins where the one below ends.
func (b *bucket) bound(part model.HistogramPart) bool {
	power := func(index int32) float64 { return math.Exp2(math.Ldexp(float64(index), -int(part.Schema))) }
	switch part.Kind {
	case model.HistogramZero:
		b.lower, b.upper = -part.Bound, part.Bound
	case model.HistogramPositive:
		b.lower, b.upper = power(part.Index-1), power(part.Index)
	case model.HistogramNegative:
		b.lower, b.upper = -power(part.Index), -power(part.Index-1)
	case model.HistogramCustom:
		b.lower, b.upper = math.NaN(), part.Bound
	default:
		return false
	}
	return true
}

// compareHistograms compares quantiles of histograms, which runs name by number. It calls add from several goroutines.
func (r *Reader) compareHistograms(ctx context.Context, windows []*ChangesRead, all [][]bucket, runs [][]int32,
	add addChange) error {
	var reads []model.Read
	for _, run := range runs {
		for _, b := range all[run[0]] {
			for _, of := range windows {
				reads = append(reads, of.readOf(b.metric))
			}
		}
	}
	archives, err := r.Archives.Prefetch(ctx, reads, windows[0].Staleness)
	if err != nil {
		return err
	}
	return readAtOnce(ctx, len(runs), 1, 1, func(ctx context.Context, s *seriesReader, i, _ int) error {
		for _, of := range windows {
			change, ok, err := of.compareHistogram(ctx, s, archives, all[runs[i][0]])
			if err != nil {
				return err
			}
			if ok {
				add(runs[i][0], of, change)
			}
		}
		return nil
	})
}

// readOf asks for the groups of both windows of a bucket.
func (r *ChangesRead) readOf(metric *model.Metric) model.Read {
	return ReadOf(metric, r.granularity(metric.ArchivePolicy), r.wayOf(metric).method, r.Before(), r.To)
}

// compareHistogram scores a histogram by its quantiles in the groups of both windows.
func (r *ChangesRead) compareHistogram(ctx context.Context, s *seriesReader, archives GroupReader, buckets []bucket) (
	change *Change, ok bool, err error) {
	counts := make(map[carbonara.Timestamp][]float64) // by group, of each bucket
	for i, b := range buckets {
		method := r.wayOf(b.metric).method
		if err := archives.Groups(ctx, r.readOf(b.metric), r.Staleness, &s.groups); err != nil {
			return nil, false, err
		}
		budget.Of(ctx).Release(budget.Answers, int64(s.groups.Bytes()))
		s.starts, s.values = s.groups.Aggregate(method, s.starts[:0], s.values[:0])
		for j, start := range s.starts {
			v := s.values[j]
			if method != carbonara.Increase && j > 0 {
				v -= s.values[j-1]
			}
			if start < r.Before() || method != carbonara.Increase && j == 0 || !(v > 0) || math.IsInf(v, 0) {
				continue // in the first group, and after a reset, nothing is known
			}
			if counts[start] == nil {
				counts[start] = make([]float64, len(buckets))
			}
			counts[start][i] = v
		}
	}
	s.starts, s.values = s.starts[:0], s.values[:0]
	first := 0 // groups of the window before
	for _, start := range slices.Sorted(maps.Keys(counts)) {
		if v := quantileOfBuckets(comparedQuantile, buckets, counts[start]); v == v {
			if s.starts, s.values = append(s.starts, start), append(s.values, v); start < r.From {
				first = len(s.values)
			}
		}
	}
	last := buckets[len(buckets)-1].metric
	change = &Change{Metric: last, Granularity: r.granularity(last.ArchivePolicy), Quantile: comparedQuantile}
	return change, r.score(s, change, s.starts, s.values, first), nil
}

// quantileOfBuckets returns a quantile of the measures that buckets have counted, linear within a bucket; NaN without
// measures. It makes counts of single buckets of a classic histogram's.
func quantileOfBuckets(q float64, buckets []bucket, counts []float64) float64 {
	if buckets[0].metric.Labels.Get(labelLE) != "" && buckets[0].metric.Labels.Get(model.LabelHistogram) == "" {
		for i := len(counts) - 1; i > 0; i-- {
			counts[i] = max(0, counts[i]-slices.Max(counts[:i]))
		}
	}
	total := 0.0
	for _, n := range counts {
		total += n
	}
	if rank := q * total; total > 0 {
		for i, b := range buckets {
			if rank -= counts[i]; rank > 0 && i+1 < len(buckets) {
				continue
			}
			lower := b.lower
			switch {
			case lower != lower && i > 0:
				lower = buckets[i-1].upper
			case lower != lower:
				lower = min(0, b.upper)
			}
			if math.IsInf(b.upper, 1) {
				return lower
			}
			return b.upper + float64((b.upper-lower)*max(-1, min(0, rank/counts[i])))
		}
	}
	return math.NaN()
}
