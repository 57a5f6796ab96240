package columns

import (
	"math"
	"slices"

	"github.com/prometheus/prometheus/promql/parser"
)

// quantileOf returns the quantile that an aggregation is, negative for another aggregation, and for a number that is
// not constant or of which the engine warns.
func quantileOf(e *parser.AggregateExpr) float64 {
	if e.Op == parser.QUANTILE {
		if q, ok := Constant(e.Param); ok && q >= 0 && q <= 1 {
			return math.Abs(q) // 0 may be negative
		}
	}
	return -1
}

// quantileBytes returns the memory of all values, which grow by doubling.
func (f *Fold) quantileBytes() int64 {
	const header = 24 + 8
	bytes := int64(0)
	for _, n := range f.members {
		bytes += header + 16*int64(n)
	}
	return bytes * int64(f.steps)
}

func (f *Fold) addValues(group int32, row []float64, from int) {
	lists := f.lists[int(group)*f.steps+from:]
	for i, v := range row {
		if !isAbsent(v) {
			lists[i] = append(lists[i], v)
		}
	}
}

// quantile sorts values, which are some, and returns their quantile.
func quantile(q float64, values []float64) float64 {
	slices.Sort(values)
	last := float64(len(values) - 1)
	rank := q * last
	lower := math.Max(0, math.Floor(rank))
	upper, weight := math.Min(last, lower+1), rank-math.Floor(rank)
	if weight == 0 {
		return values[int(lower)]
	}
	return values[int(lower)]*(1-weight) + values[int(upper)]*weight
}
