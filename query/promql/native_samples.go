package promql

import (
	"maps"
	"math"
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	"github.com/prometheus/prometheus/model/value"

	"github.com/gnocco-db/gnocco/model"
)

// nativeSamples are the histograms of an iterator.
type nativeSamples struct {
	grouped  bool          // histograms are groups of counters
	at       []nativePlace // beside the iterator's times
	families []*histograms
	numbers  []counter // beside the iterator's values, if grouped
}

// nativePlace is where a sample's histogram is, or a number in the iterator's values if family is -1.
type nativePlace struct{ family, row int }

var (
	staleValue = math.Float64frombits(value.StaleNaN)
	maxBound   = math.MaxFloat64 // that CustomValues has: the last bucket has none
)

// histograms are the values of parts at the times at which the count has one.
type histograms struct {
	gauge  bool
	times  []int64
	parts  []model.HistogramPart
	values [][]float64 // by part and row; a stale marker where it has none
	counts [][]counter // instead of values
	within [][]float64 // beside counts: the increase within the group
	steps  [][]float64 // likewise: to its first histogram from the last of the group before
	unsure []bool      // by row: within is an estimate
	bounds []float64   // custom ones of the last histogram
	sums   bool        // of groups, in which there may be several layouts of buckets
}

func (n *nativeSamples) bytes() int64 {
	if n == nil {
		return 0
	}
	bytes := 16*cap(n.at) + counterBytes*cap(n.numbers)
	for _, f := range n.families {
		bytes += 8 * cap(f.times) * (1 + len(f.values))
		bytes += (counterBytes + 16) * cap(f.times) * len(f.counts)
	}
	return int64(bytes)
}

// joinParts makes samples of the samples of parts.
func (it *iterator) joinParts(s *series, its map[*series]*iterator) {
	if s.selection.function == countFunction { // histograms are counted, and not added up
		it.joinCounts(s, its)
		return
	}
	n := &nativeSamples{}
	it.native = n
	type sample struct {
		t, begin int64
		nativePlace
	}
	var all []sample
	floats := s.native.floats
	function := s.selection.function
	ends := s.selection.extended || function == "" || function == "first_over_time" || function == "last_over_time"
	n.grouped = !ends && floats != nil && haveGroups(its[floats].counts, its[floats].times)
	for _, family := range s.native.families {
		lead := its[family.parts[0].series]
		n.grouped = n.grouped || !ends && haveGroups(lead.counts, lead.times)
	}
	for _, family := range s.native.families {
		h := &histograms{gauge: family.gauge, sums: function == "sum_over_time"}
		lead := its[family.parts[0].series]
		h.times = slices.Clone(lead.times)
		for _, part := range family.parts {
			h.parts = append(h.parts, part.HistogramPart)
			if of := its[part.series]; n.grouped || ends && len(lead.counts) > 0 {
				h.counts = append(h.counts, of.countersAt(h.times))
			} else {
				h.values = append(h.values, of.valuesAt(h.times))
			}
		}
		switch {
		case n.grouped && (function == "rate" || function == "increase"):
			h.setIncreases()
		case ends && h.counts != nil:
			h.setEnds(s)
		}
		for row, t := range h.times {
			all = append(all, sample{t, lead.beginOf(row), nativePlace{len(n.families), row}})
		}
		n.families = append(n.families, h)
	}
	if floats != nil {
		of := its[floats]
		it.values = append(it.values, of.valuesAt(of.times)...)
		if n.grouped {
			n.numbers = of.countersAt(of.times)
		}
		for row, t := range of.times {
			all = append(all, sample{t, of.beginOf(row), nativePlace{-1, row}})
		}
	}
	slices.SortStableFunc(all, func(a, b sample) int { return int(min(max(a.t-b.t, -1), 1)) })
	for i, one := range all {
		if i > 0 && one.t == all[i-1].t {
			// A histogram stands before a number of the same time, and anything before the end of a series.
			if n.isEnd(it, n.at[len(n.at)-1]) {
				n.at[len(n.at)-1] = one.nativePlace
			}
			continue
		}
		it.addGroup(one.t, one.begin)
		it.times, n.at = append(it.times, one.t), append(n.at, one.nativePlace)
	}
}

// setEnds makes values of the first or last histogram of each group.
func (f *histograms) setEnds(s *series) {
	for part, counts := range f.counts {
		f.values = append(f.values, make([]float64, len(counts)))
		for row := range counts {
			v, ok := f.endValue(part, row, s.selection.function != "first_over_time")
			if f.values[part][row] = v; !ok {
				f.values[part][row] = staleValue
			}
		}
	}
	for row := range f.times {
		if s.selection.extended {
			if reset, unsure := f.beganAnew(row); reset || unsure {
				s.note(warning("native histograms began anew within groups: %s with a modifier takes the last of each group",
					s.selection.function))
			}
		}
	}
	f.counts = nil
}

// beginOf returns since when a sample covers time.
func (it *iterator) beginOf(i int) int64 {
	if it.begins == nil {
		return it.times[i] - 1
	}
	return it.begins[i]
}

// joinCounts makes samples of the numbers of histograms.
func (it *iterator) joinCounts(s *series, its map[*series]*iterator) {
	type sample struct {
		begin int64
		v     float64
	}
	at := map[int64]sample{}
	s.each(func(one *series) {
		if of := its[one]; one == s.native.floats || s.isCount(one) {
			for i, t := range of.times {
				at[t] = sample{of.beginOf(i), of.values[i]}
			}
		}
	})
	for _, t := range slices.Sorted(maps.Keys(at)) {
		it.addGroup(t, at[t].begin)
		it.add(t, at[t].v)
	}
}

// isEnd reports whether a sample says that the series ends.
func (n *nativeSamples) isEnd(it *iterator, p nativePlace) bool {
	if p.family < 0 {
		return value.IsStaleNaN(it.values[p.row])
	}
	f := n.families[p.family]
	return !n.grouped && value.IsStaleNaN(f.values[0][p.row])
}

// isHistogram reports whether a sample is a histogram, and not a number.
func (n *nativeSamples) isHistogram(i int) bool {
	p := n.at[i]
	return p.family >= 0 && !n.grouped && !value.IsStaleNaN(n.families[p.family].values[0][p.row])
}

// numberAt returns the current number.
func (n *nativeSamples) numberAt(it *iterator) float64 {
	if p := n.at[it.at]; p.family < 0 {
		return it.values[p.row]
	}
	return staleValue
}

// valuesAt returns the values at ascending times, stale markers where there are none.
func (it *iterator) valuesAt(times []int64) []float64 {
	values := make([]float64, len(times))
	i := 0
	for row, t := range times {
		for i < len(it.times) && it.times[i] < t {
			i++
		}
		switch {
		case i == len(it.times) || it.times[i] > t:
			values[row] = staleValue
		case len(it.counts) > 0:
			values[row] = it.counts[i].last
		default:
			values[row] = it.values[i]
		}
	}
	return values
}

// countersAt is valuesAt for groups of counters; their count is 0 where there are none.
func (it *iterator) countersAt(times []int64) []counter {
	counts := make([]counter, len(times))
	i := 0
	for row, t := range times {
		for i < len(it.times) && it.times[i] < t {
			i++
		}
		switch {
		case i == len(it.times) || it.times[i] > t:
		case len(it.counts) > 0:
			counts[row] = it.counts[i]
		default: // its archive policy has no such groups
			counts[row] = single(t, it.values[i])
		}
	}
	return counts
}

// histogramAt returns the histogram at a place, in the memory of dst if that is not nil.
func (n *nativeSamples) histogramAt(p nativePlace, dst *histogram.FloatHistogram) *histogram.FloatHistogram {
	f := n.families[p.family]
	valueOf := func(part int) (float64, bool) {
		v := f.values[part][p.row]
		return v, !value.IsStaleNaN(v)
	}
	if f.sums {
		if sum, err := f.merged(valueOf); err == nil && sum != nil {
			return sum
		}
	}
	return f.build(dst, valueOf)
}

// merged puts a histogram together from the values of parts of several layouts of buckets.
func (f *histograms) merged(valueOf func(part int) (v float64, ok bool)) (sum *histogram.FloatHistogram, err error) {
	schema := int32(0) // of the layout before
	for of, layout := range f.parts {
		_, ok := valueOf(of)
		exponential := layout.Kind == model.HistogramZero
		if custom := layout.Kind == model.HistogramCustom && layout.Bound > maxBound; !ok || !exponential && !custom {
			continue
		}
		h := f.build(nil, func(i int) (float64, bool) {
			v, ok := valueOf(i)
			switch f.parts[i].Kind {
			case model.HistogramZero:
				ok = i == of
			case model.HistogramCustom:
				ok = ok && !exponential
			}
			return v, ok // build takes the buckets of one schema
		})
		if sum == nil {
			sum, schema = h, layout.Schema
			continue
		}
		count, total := sum.Count, sum.Sum
		if exponential && layout.Schema == schema { // only the threshold differs
			h.PositiveSpans, h.PositiveBuckets, h.NegativeSpans, h.NegativeBuckets = nil, nil, nil, nil
		}
		schema = layout.Schema
		if sum, _, _, err = sum.Add(h); err != nil {
			return nil, err
		}
		sum.Count, sum.Sum = count, total
	}
	return sum, nil
}

// build puts a histogram together from the values of its parts.
func (f *histograms) build(dst *histogram.FloatHistogram, valueOf func(part int) (v float64, ok bool)) (
	out *histogram.FloatHistogram) {
	if dst == nil {
		dst = new(histogram.FloatHistogram)
	}
	*dst = histogram.FloatHistogram{
		PositiveSpans: dst.PositiveSpans[:0], PositiveBuckets: dst.PositiveBuckets[:0],
		NegativeSpans: dst.NegativeSpans[:0], NegativeBuckets: dst.NegativeBuckets[:0],
	}
	if f.gauge {
		dst.CounterResetHint = histogram.GaugeType
	}
	known := false // the schema
	custom, bounds := int32(0), 0
	lastNegative, lastPositive := int32(0), int32(0)
	for i, part := range f.parts {
		v, ok := valueOf(i)
		if !ok {
			continue
		}
		switch part.Kind {
		case model.HistogramCount:
			dst.Count = v
		case model.HistogramSum:
			dst.Sum = v
		case model.HistogramZero:
			dst.Schema, dst.ZeroThreshold, dst.ZeroCount, known = part.Schema, part.Bound, v, true
		case model.HistogramNegative:
			if v != 0 && part.Schema == dst.Schema && known {
				dst.NegativeSpans = appendBucket(dst.NegativeSpans, &lastNegative, part.Index)
				dst.NegativeBuckets = append(dst.NegativeBuckets, v)
			}
		case model.HistogramPositive:
			if v != 0 && part.Schema == dst.Schema && known {
				dst.PositiveSpans = appendBucket(dst.PositiveSpans, &lastPositive, part.Index)
				dst.PositiveBuckets = append(dst.PositiveBuckets, v)
			}
		case model.HistogramCustom:
			if known {
				continue
			}
			if dst.Schema = histogram.CustomBucketsSchema; v != 0 {
				dst.PositiveSpans = appendBucket(dst.PositiveSpans, &lastPositive, custom)
				dst.PositiveBuckets = append(dst.PositiveBuckets, v)
			}
			if custom++; part.Bound <= maxBound {
				bounds = f.addBound(bounds, part.Bound)
			}
		}
	}
	if dst.Schema == histogram.CustomBucketsSchema {
		dst.CustomValues = f.bounds[:bounds:bounds]
	}
	return dst
}

// addBound makes a bound the i-th of the last ones. Histograms share bounds, so that others take other memory.
func (f *histograms) addBound(i int, bound float64) int {
	switch {
	case i < len(f.bounds) && f.bounds[i] == bound:
	default:
		f.bounds = append(slices.Clone(f.bounds[:i]), bound)
	}
	return i + 1
}

// appendBucket appends a bucket to spans; last is the index of the one before.
func appendBucket(spans []histogram.Span, last *int32, index int32) []histogram.Span {
	switch n := len(spans); {
	case n == 0:
		spans = append(spans, histogram.Span{Offset: index, Length: 1})
	case index == *last+1:
		spans[n-1].Length++
	default:
		spans = append(spans, histogram.Span{Offset: index - *last - 1, Length: 1})
	}
	*last = index
	return spans
}
