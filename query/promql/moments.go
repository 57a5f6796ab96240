package promql

import (
	"math"
	"strings"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/storage"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/internal/compensated"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// moments are count, sum and second moment of measures. Averages do without the last: where the sum is infinite, they
// have the mean instead.
type moments struct{ count, sum, m2 float64 }

// overMoments are our functions of a range of groups whose moments are known.
var overMoments = map[string]func([]moments) float64{avgFunction: average, stddevFunction: deviation,
	stdvarFunction: variance}

// callOverMoments returns such a function as the engine calls it. The engine's own function of this name answers if
// each group is one measure, or if a series has plain values.
func callOverMoments(name string, of func([]moments) float64) upstream.FunctionCall {
	plain := upstream.FunctionCalls[name]
	return func(vectors []upstream.Vector, matrix upstream.Matrix, args parser.Expressions,
		enh *upstream.EvalNodeHelper) (
		upstream.Vector, annotations.Annotations) {
		it := iteratorOf(args)
		if it == nil || len(it.moments) == 0 || len(matrix) == 0 || len(matrix[0].Floats) == 0 {
			return plain(vectors, matrix, args, enh)
		}
		// The engine asks for a range of samples, whose values are their places.
		from := int(matrix[0].Floats[0].F)
		groups := it.moments[from : from+len(matrix[0].Floats)]
		if !areSingle(groups) {
			return append(enh.Out, upstream.Sample{F: of(groups)}), nil
		}
		raw := upstream.Series{Metric: matrix[0].Metric, Floats: make([]upstream.FPoint, len(groups))}
		for i, m := range groups {
			raw.Floats[i] = upstream.FPoint{T: matrix[0].Floats[i].T, F: m.sum}
		}
		return plain(vectors, upstream.Matrix{raw}, args, enh)
	}
}

// combining returns the function over ranges of an iterator that has moments, as callOverMoments has it.
func combining(it *iterator, function string) func(columns.Window) float64 {
	of := overMoments[function]
	var values []float64
	return func(w columns.Window) float64 {
		groups := it.moments[w.From:w.To]
		if !areSingle(groups) {
			return of(groups)
		}
		values = values[:0]
		for _, m := range groups {
			values = append(values, m.sum)
		}
		return columns.Over(strings.TrimSuffix(function, ofGroups), values)
	}
}

// areSingle reports whether each group is one measure.
func areSingle(groups []moments) bool {
	for _, m := range groups {
		if m.count != 1 {
			return false
		}
	}
	return true
}

// iteratorOf returns the samples that the engine goes through for a call of a function, nil if they are not ours.
func iteratorOf(args parser.Expressions) *iterator {
	matrix, ok := unwrap(args[len(args)-1]).(*parser.MatrixSelector)
	if !ok {
		return nil
	}
	selector, ok := matrix.VectorSelector.(*parser.VectorSelector)
	if !ok || len(selector.Series) == 0 {
		return nil
	}
	set := selector.UnexpandedSeriesSet
	if wrapper, ok := set.(interface{ Unwrap() storage.SeriesSet }); ok { // another storage in front of ours
		set = wrapper.Unwrap()
	}
	s, ok := set.(interface{ current() *iterator }) // the engine may wrap its series
	if !ok {                                        // of a subquery
		return nil
	}
	return s.current()
}

func (s *seriesSet) current() *iterator {
	if s.selection == nil {
		return nil
	}
	return s.selection.current
}

// average is the sum of all measures over their number. Where a sum overflows and the average does not, sums are taken
// 2^64 times smaller, as many as there may be.
func average(groups []moments) float64 {
	var sum compensated.Sum
	var count float64
	for _, m := range groups {
		sum = sum.Plus(m.sum)
		count += m.count
	}
	if mean := sum.Float() / count; mean-mean == 0 {
		return mean
	}
	sum = compensated.Sum{}
	infinite := 0.0
	for _, m := range groups {
		switch {
		case math.IsInf(m.sum, 0) && math.IsInf(m.m2, 0):
			infinite += m.m2
		case math.IsInf(m.sum, 0):
			sum = sum.PlusProduct(m.count, m.m2*0x1p-64)
		default:
			sum = sum.Plus(m.sum * 0x1p-64)
		}
	}
	if infinite != 0 {
		return infinite
	}
	return sum.Over(count).Float() * 0x1p64
}

// variance combines by Chan's formula: no difference of large sums of squares is taken, and means are two float64 each,
// so that their differences are right where they are far from zero.
func variance(groups []moments) float64 {
	var count, m2 float64
	var mean compensated.Sum
	for _, m := range groups {
		if m.count == 0 {
			continue
		}
		all, own := count+m.count, compensated.Sum{High: m.sum}.Over(m.count)
		m2 += m.m2
		if count == 0 {
			mean = own
		} else {
			delta := own.Less(mean)
			mean = mean.Plus(delta * (m.count / all))
			m2 += float64(delta * delta * (count / all * m.count)) // not fused
		}
		count = all
	}
	if mean.High-mean.High != 0 {
		return math.NaN()
	}
	return m2 / count
}

func deviation(groups []moments) float64 { return math.Sqrt(variance(groups)) }
