package promql

import (
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
	if mixed || first.family < 0 || selector.Anchored || selector.Smoothed {
		return plainCalls[name](vectors, n.lasts(it, matrix[0], from), args, enh)
	}
	f := n.families[first.family]
	lead := f.counts[0][first.row : last.row+1]
	grouped := false
	for _, c := range lead {
		grouped = grouped || c.isGroup()
	}
	if !grouped {
		return plainCalls[name](vectors, n.lasts(it, matrix[0], from), args, enh)
	}
	end := enh.Ts - selector.Offset.Milliseconds()
	v, ok := overCounters[name](lead, end-ranged.Range.Milliseconds(), end, ranged.Range)
	if !ok {
		return enh.Out, nil
	}
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
		f := n.families[p.family]
		out.Histograms = append(out.Histograms, upstream.HPoint{T: t,
			H: f.build(nil, func(part int) (float64, bool) {
				c := f.counts[part][p.row]
				return c.last, c.count > 0
			})})
	}
	return upstream.Matrix{out}
}

// increaseOf returns the increase of histograms from the first measure of some groups to the last.
func (f *histograms) increaseOf(from, to int, at posrange.PositionRange) (
	*histogram.FloatHistogram, annotations.Annotations) {
	lead := f.counts[0][from:to]
	resets, _ := resetsOf(lead, 0, 0, 0)
	by, present := make([]float64, len(f.parts)), make([]bool, len(f.parts))
	for i, part := range f.parts {
		groups := f.counts[i][from:to]
		for k := range groups {
			present[i] = present[i] || groups[k].count > 0
		}
		if part.Kind == model.HistogramSum && resets == 0 { // negative observations make it fall
			by[i] = groups[len(groups)-1].last - groups[0].first
		} else {
			by[i] = increaseOfPart(lead, groups)
		}
	}
	// Each layout of buckets makes a histogram.
	var sum *histogram.FloatHistogram
	var notes annotations.Annotations
	for zero, part := range f.parts {
		if !present[zero] || part.Kind != model.HistogramZero && part.Kind != model.HistogramCustom {
			continue
		}
		if part.Kind == model.HistogramCustom && part.Bound <= maxBound {
			continue
		}
		h := f.build(nil, func(i int) (float64, bool) {
			switch of := f.parts[i]; of.Kind {
			case model.HistogramZero:
				return by[i], i == zero
			case model.HistogramCustom:
				return by[i], present[i] && part.Kind == model.HistogramCustom
			case model.HistogramCount, model.HistogramSum:
				return by[i], true
			default:
				return by[i], present[i] && part.Kind == model.HistogramZero && of.Schema == part.Schema
			}
		})
		if sum == nil {
			sum = h
			continue
		}
		count, total := sum.Count, sum.Sum
		if before := f.parts[zero-1]; before.Kind == model.HistogramZero && before.Schema == part.Schema {
			// Only the threshold differs.
			h.PositiveSpans, h.PositiveBuckets, h.NegativeSpans, h.NegativeBuckets = nil, nil, nil, nil
		}
		added, _, _, err := sum.Add(h)
		if err != nil {
			return nil, notes.Add(annotations.NewMixedExponentialCustomHistogramsWarning("", at))
		}
		sum = added
		sum.Count, sum.Sum = count, total
	}
	return sum, notes
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
