package promql

import (
	"slices"

	"github.com/prometheus/prometheus/model/histogram"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/parser/posrange"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/model"
)

// overGroupsOfHistograms is rate or increase of a range of groups of native histograms. Each part increases as a
// counter of its own, and all are extrapolated as the count is.
func overGroupsOfHistograms(name string, it *iterator, vectors []upstream.Vector, matrix upstream.Matrix,
	args parser.Expressions, enh *upstream.EvalNodeHelper) (upstream.Vector, annotations.Annotations) {
	if len(matrix) == 0 || len(matrix[0].Floats) == 0 {
		return plainCalls[name](vectors, matrix, args, enh)
	}
	ranged := args[len(args)-1].(*parser.MatrixSelector)
	selector := ranged.VectorSelector.(*parser.VectorSelector)
	n, from := it.native, int(matrix[0].Floats[0].F)
	places := n.at[from : from+len(matrix[0].Floats)]
	first, last := places[0], places[len(places)-1]
	mixed := last.row-first.row != len(places)-1
	for _, p := range places {
		mixed = mixed || p.family != first.family
	}
	if mixed || selector.Anchored || selector.Smoothed {
		return plainCalls[name](vectors, n.lasts(it, matrix[0], from), args, enh)
	}
	lead := n.numbers
	if first.family >= 0 {
		lead = n.families[first.family].counts[0]
	}
	lead = lead[first.row : last.row+1]
	if !slices.ContainsFunc(lead, counter.isGroup) {
		return plainCalls[name](vectors, n.lasts(it, matrix[0], from), args, enh)
	}
	end := enh.Ts - selector.Offset.Milliseconds()
	v, ok := overCounters[name](lead, end-ranged.Range.Milliseconds(), end, ranged.Range)
	if !ok {
		return enh.Out, nil
	}
	if first.family < 0 {
		return append(enh.Out, upstream.Sample{F: v}), nil
	}
	f := n.families[first.family]
	factor := 0.0
	if by := increase(lead, true).By; by != 0 {
		factor = v / by
	}
	h, notes := f.increaseOf(first.row, last.row+1, selector.PosRange)
	if h == nil {
		return enh.Out, notes
	}
	h.Mul(factor)
	h.CounterResetHint = histogram.GaugeType
	return append(enh.Out, upstream.Sample{H: h.Compact(0)}), notes
}

// lasts returns the last measures of groups as plain samples.
func (n *nativeSamples) lasts(it *iterator, of upstream.Series, from int) upstream.Matrix {
	out := upstream.Series{Metric: of.Metric}
	for i := range of.Floats {
		t, p := of.Floats[i].T, n.at[from+i]
		if p.family < 0 {
			out.Floats = append(out.Floats, upstream.FPoint{T: t, F: it.values[p.row]})
			continue
		}
		out.Histograms = append(out.Histograms, upstream.HPoint{T: t, H: n.families[p.family].lastOf(p.row)})
	}
	return upstream.Matrix{out}
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
	resets, _ := resetsOf(lead, 0, 0, 0)
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
