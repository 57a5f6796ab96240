package correlations

import (
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/model"
)

// Two counters that only grow correlate, and so do two series that follow the time of day. So counters are read as
// increases, and beside the coefficient of a pair stands another one, of first differences: how much each value moved
// from the one before. Series that only share a trend have differences that do not correlate.

// increases makes a counter's values its increases, and reports whether it is one: by its type, or by values where the
// type is unknown.
func (q *Request) increases(metric *model.Metric, starts []carbonara.Timestamp, values []float64) bool {
	t, _ := q.TypeOf(metric)
	method, grows := metric.ComparedBy(q.Method, t)
	if method == carbonara.Increase && grows {
		return true
	}
	const fewest = 10 // values for a guess
	if t == model.UnknownType && q.Method.IsLevel() && len(values) >= fewest {
		grows = model.GrowsByValues(values, len(values))
	}
	if grows {
		difference(values)
		for i, v := range values {
			if v < 0 || i > 0 && starts[i].Add(-q.Granularity) != starts[i-1] {
				values[i] = math.NaN() // a reset, or more than one group
			}
		}
	}
	return grows
}

// difference makes of each value how much it is above the one before.
func difference(values []float64) {
	for i := len(values) - 1; i > 0; i-- {
		values[i] -= values[i-1]
	}
	if len(values) > 0 {
		values[0] = math.NaN()
	}
}

// coefficientsOfChanges makes differences of columns, and returns the coefficient of those of each pair, at the pair's
// lag; NaN for none.
func coefficientsOfChanges(columns correlate.Values, pairs []correlate.Pair) []float64 {
	changes := make([]changeColumn, len(columns))
	_ = parallel.Each(parallel.Workers(len(columns)), len(columns), func(i int) error {
		changes[i] = changesOf(columns[i])
		return nil
	})
	of := make([]float64, len(pairs))
	const atOnce = 64
	n := (len(pairs) + atOnce - 1) / atOnce
	_ = parallel.Each(parallel.Workers(n), n, func(part int) error {
		for k := part * atOnce; k < min((part+1)*atOnce, len(pairs)); k++ {
			p := &pairs[k]
			of[k] = coefficient(&changes[p.I], &changes[p.J], p.Lag)
		}
		return nil
	})
	return of
}

// changeColumn is the changes of a column, less their mean.
type changeColumn struct {
	values  []float64
	mean    float64
	whole   bool    // each row but the first has a change
	sum     float64 // of values; 0 but for the mean's rounding
	squares float64 // the sum of squared values
}

// changesOf makes differences of a column's values.
func changesOf(values []float64) changeColumn {
	difference(values)
	c, n, sum := changeColumn{values: values}, 0.0, 0.0
	for _, v := range values {
		if v-v == 0 {
			n, sum = n+1, sum+v
		}
	}
	if c.mean = sum / max(1, n); c.mean-c.mean != 0 { // the sum is out of range
		c.mean = 0
	}
	for i, v := range values {
		if v -= c.mean; v-v == 0 {
			values[i] = v
			c.sum, c.squares = c.sum+v, c.squares+v*v
		}
	}
	c.whole = n > 0 && int(n) == len(values)-1
	return c
}

// coefficient returns the correlation coefficient of the rows that both columns have, the second one's lag rows later;
// NaN where one is constant.
func coefficient(a, b *changeColumn, lag int) float64 {
	x, y := a.values[min(max(0, -lag), len(a.values)):], b.values[min(max(0, lag), len(b.values)):]
	x, y = x[:min(len(x), len(y))], y[:min(len(x), len(y))]
	var n, sumX, sumY, xx, yy, xy float64
	if lag == 0 && a.whole && b.whole {
		n, sumX, sumY, xx, yy = float64(len(x)-1), a.sum, b.sum, a.squares, b.squares
		xy = dot(x[1:], y[1:])
	} else {
		for i, v := range x {
			if w := y[i]; v-v == 0 && w-w == 0 {
				n, sumX, sumY, xx, yy, xy = n+1, sumX+v, sumY+w, xx+v*v, yy+w*w, xy+v*w
			}
		}
	}
	xx, yy, xy = xx-sumX*sumX/n, yy-sumY*sumY/n, xy-sumX*sumY/n
	// Steps that differ by roundings only are equal.
	meanX, meanY := a.mean+sumX/n, b.mean+sumY/n
	if rounding := 1e-20 * n; !(xx > rounding*meanX*meanX && yy > rounding*meanY*meanY) {
		return math.NaN()
	}
	return max(-1, min(1, xy/math.Sqrt(xx)/math.Sqrt(yy)))
}

// dot returns the sum of products, by four sums: an addition waits for the one before.
func dot(x, y []float64) float64 {
	var a, b, c, d float64
	for len(x) >= 4 && len(y) >= 4 {
		a, b, c, d = a+x[0]*y[0], b+x[1]*y[1], c+x[2]*y[2], d+x[3]*y[3]
		x, y = x[4:], y[4:]
	}
	for i, v := range x {
		a += v * y[i]
	}
	return a + b + (c + d)
}

// leastOfChanges is the coefficient of changes from which a pair of so many rows says the same. It is four standard
// deviations of independent changes, but half at least, and for few rows at most nine tenths.
func leastOfChanges(rows int64) float64 { return min(0.9, max(0.5, 4/math.Sqrt(float64(rows)))) }

// SharedTrend is a pair that correlates, and whose changes do not.
type SharedTrend struct {
	correlate.Pair
	Changes float64 // the coefficient of changes; NaN for none
}

// saysTheSame reports whether the changes of a pair correlate as it does.
func saysTheSame(p *correlate.Pair, changes float64) bool {
	return math.Abs(changes) >= leastOfChanges(p.Overlap-1) && (changes > 0) == (p.R > 0)
}
