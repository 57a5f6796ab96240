package promql

import (
	"math"
	"slices"
	"strings"

	"github.com/gnocco-db/gnocco/internal/compensated"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// moments are count, sum and second moment of measures. Averages do without the last: where the sum is infinite, they
// have the mean instead.
type moments struct{ count, sum, m2 float64 }

// overMoments are our functions of a range of groups whose moments are known.
var overMoments = map[string]func([]moments) float64{avgFunction: average, stddevFunction: deviation,
	stdvarFunction: variance}

// combining returns the function over ranges of an iterator that has moments. Groups count by their shares in the
// range. If each is one measure, the function is the engine's.
func combining(it *iterator, function string) func(columns.Window) float64 {
	of := overMoments[function]
	var values []float64
	var shares []moments
	return func(w columns.Window) float64 {
		groups := it.moments[w.From:w.To]
		if !w.IsWhole() {
			shares = append(shares[:0], groups...)
			shares[0] = groups[0].times(w.First)
			if last := len(groups) - 1; last > 0 {
				shares[last] = groups[last].times(w.Last)
			}
			return of(shares)
		}
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

// times returns the moments of a share of the measures.
func (m moments) times(share float64) moments {
	if !math.IsInf(m.sum, 0) { // else m2 may be a mean
		m.m2 *= share
	}
	return moments{m.count * share, m.sum * share, m.m2}
}

// areSingle reports whether each group is one measure.
func areSingle(groups []moments) bool {
	return !slices.ContainsFunc(groups, func(m moments) bool { return m.count != 1 })
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
		case math.IsInf(m.sum, 0) && (m.count == 1 || math.IsInf(m.m2, 0)): // a measure has no mean
			infinite += m.sum
		case math.IsInf(m.sum, 0):
			sum = sum.PlusProduct(m.count, m.m2*0x1p-64)
		default:
			sum = sum.Plus(m.sum * 0x1p-64)
		}
	}
	if infinite != 0 {
		return infinite + sum.Float() // NaN is more
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
