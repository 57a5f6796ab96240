package promql

import (
	"github.com/prometheus/prometheus/model/histogram"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// overHistograms is a function of a range (start, end] of native histograms. Of groups of counters each part increases
// as a counter of its own, and all are extrapolated as the count is.
func (sel *selection) overHistograms(name string, start, end int64, plain upstream.FunctionCall,
	vectors []upstream.Vector, matrix upstream.Matrix, args parser.Expressions, enh *upstream.EvalNodeHelper) (
	upstream.Vector, annotations.Annotations) {
	it := sel.current
	n, samples := it.native, &columns.Samples{Times: it.times, Begins: it.begins}
	w, ok := new(columns.Cursor).Window(samples, start, end, enh.Ts)
	if !ok {
		return enh.Out, nil
	}
	sel.noteCut(samples)
	if n.grouped {
		places := n.at[w.From:w.To]
		mixed := places[len(places)-1].row-places[0].row != len(places)-1
		for _, p := range places {
			mixed = mixed || p.family != places[0].family
		}
		if !mixed && (!w.IsWhole() || haveGroups(n.leads(places), it.times[w.From:w.To])) {
			return n.rate(name, samples, w, args, enh)
		}
	}
	w = samples.Chosen(name, w)
	out, mark := upstream.Series{Metric: matrix[0].Metric}, matrix[0].Floats[0]
	shift := int64(mark.F) - mark.T
	for i := w.From; i < w.To; i++ {
		t, p, share := it.times[i]-shift, n.at[i], 1.0
		if name == "sum_over_time" {
			share = w.Share(i)
		}
		if p.family < 0 {
			out.Floats = append(out.Floats, upstream.FPoint{T: t, F: it.values[p.row] * share})
			continue
		}
		f := n.families[p.family]
		h := f.lastOf
		if !n.grouped {
			h = func(int) *histogram.FloatHistogram { return n.histogramAt(p, nil) }
		}
		of := h(p.row)
		if share < 1 {
			of.Mul(share)
		}
		out.Histograms = append(out.Histograms, upstream.HPoint{T: t, H: of})
	}
	return plain(vectors, upstream.Matrix{out}, args, enh)
}

// leads returns the counts of histograms, or the numbers, at some places of one family.
func (n *nativeSamples) leads(places []nativePlace) []counter {
	first := places[0]
	lead := n.numbers
	if first.family >= 0 {
		lead = n.families[first.family].counts[0]
	}
	return lead[first.row : first.row+len(places)]
}

// rate is rate or increase of a window of groups of one family.
func (n *nativeSamples) rate(name string, samples *columns.Samples, w columns.Window, args parser.Expressions,
	enh *upstream.EvalNodeHelper) (upstream.Vector, annotations.Annotations) {
	family := n.at[w.From].family
	seconds := float64(w.End-w.Start) / 1000
	of, scale := overCounters[name], 1.0
	if !w.IsWhole() && name == "rate" {
		of, scale = overCounters["increase"], 1/seconds
	}
	ranges, _ := unwrap(args[len(args)-1]).(*parser.MatrixSelector)
	var sum *histogram.FloatHistogram
	var notes annotations.Annotations
	number, failed := 0.0, false
	ok := samples.Interpolate(w, func(w columns.Window, weight float64) bool {
		if w.From == w.To {
			return false
		}
		places := n.at[w.From:w.To]
		lead := n.leads(places)
		v := of(lead, w.Start, w.End, seconds)
		if columns.IsAbsent(v) {
			return false
		}
		if number += v * weight * scale; family < 0 {
			return true
		}
		factor := 0.0
		if by := increase(lead, true).By; by != 0 {
			factor = v / by
		}
		first := places[0].row
		h, more := n.families[family].increaseOf(first, first+len(places), ranges.PositionRange())
		if notes.Merge(more); h == nil {
			failed = true
			return true
		}
		h.Mul(factor * weight * scale)
		if sum == nil {
			sum = h
			return true
		}
		var err error
		sum, _, _, err = sum.Add(h)
		notes.Merge(mixedLayouts(err, ranges.PositionRange()))
		failed = failed || err != nil
		return true
	})
	switch {
	case !ok || failed:
		return enh.Out, notes
	case family < 0:
		return append(enh.Out, upstream.Sample{F: number}), notes
	}
	sum.CounterResetHint = histogram.GaugeType
	return append(enh.Out, upstream.Sample{H: sum.Compact(0)}), notes
}

// lastOf returns the last histogram of a group.
func (f *histograms) lastOf(row int) *histogram.FloatHistogram {
	return f.build(nil, func(part int) (float64, bool) {
		c := &f.counts[part][row]
		return c.last, c.count > 0 && c.lastTime == f.counts[0][row].lastTime
	})
}

// firstOf returns the first histogram of a group.
func (f *histograms) firstOf(row int) *histogram.FloatHistogram {
	return f.build(nil, func(part int) (float64, bool) {
		c := &f.counts[part][row]
		return c.first, c.count > 0 && c.firstTime == f.counts[0][row].firstTime
	})
}

// increaseOf returns the increase of histograms from the first measure of some groups to the last.
func (f *histograms) increaseOf(from, to int, at posrange.PositionRange) (
	*histogram.FloatHistogram, annotations.Annotations) {
	lead := f.counts[0][from:to]
	resets := resetsOf(lead, 0, 0, 0)
	by, present := make([]float64, len(f.parts)), make([]bool, len(f.parts))
	layouts, carried := 0, 0.0
	for i, part := range f.parts {
		groups := f.counts[i][from:to]
		missing := 0.0
		for k := range groups {
			present[i] = present[i] || groups[k].count > 0
			missing += lead[k].count - groups[k].count
		}
		if part.Kind == model.HistogramSum && resets == 0 { // negative observations make it fall
			by[i] = groups[len(groups)-1].last - groups[0].first
		} else {
			by[i] = increaseOfPart(lead, groups)
		}
		switch {
		case part.Kind == model.HistogramZero && present[i]:
			layouts++
		case part.Kind == model.HistogramCustom && missing > 0 && part.Bound <= maxBound:
			// Bounds that only some histograms have are left out: the next bucket takes theirs.
			layouts, carried, present[i] = 2, carried+by[i], false
		case part.Kind == model.HistogramCustom:
			by[i], carried = by[i]+carried, 0
		}
	}
	if layouts > 1 && resets == 0 { // observations change their buckets when the layout changes
		h, _, _, err := f.lastOf(to - 1).Sub(f.firstOf(from))
		return h, mixedLayouts(err, at)
	}
	h, err := f.merged(func(i int) (float64, bool) { return by[i], present[i] })
	return h, mixedLayouts(err, at)
}

// mixedLayouts is the warning for an error of adding histograms up.
func mixedLayouts(err error, at posrange.PositionRange) (notes annotations.Annotations) {
	if err == nil {
		return nil
	}
	return notes.Add(annotations.NewMixedExponentialCustomHistogramsWarning("", at))
}

// increaseOfPart is the increase of a part, which is 0 where it has no measure and the count has one.
func increaseOfPart(lead, groups []counter) (by float64) {
	before := 0.0
	for k := range groups {
		g := &groups[k]
		if g.count == 0 {
			before = 0
			continue
		}
		switch begins := g.firstTime > lead[k].firstTime; {
		case begins:
			by += g.first
		case k == 0:
		case g.first < before:
			by += g.first
		default:
			by += g.first - before
		}
		by += g.last - g.first + g.resetSum
		if before = g.last; g.lastTime < lead[k].lastTime {
			before = 0
		}
	}
	return by
}
