package carbonara

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/internal/compensated"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// Coarsen combines the groups of src into those of a coarser granularity in dst. For decimals the result is exactly
// that of the measures: sums are the float64 next to the true sum, where a resampler's may be some units in the last
// place off. Percentiles, which do not follow from others, are left out. Columns of counters, sketches and counts
// beyond thresholds follow exactly.
//
// Exact are counts, minima, maxima, first and last in any case; sums of decimals (up to 10 digits after the point)
// below 2^53 units of the last one; second moments of those groups whose float tells its integer for certain, which
// exactSquares decides: n*M2 up to about 2^50 of those units squared. Other values are added as floats, group by group,
// and each addition rounds once. A sum of g groups is off by at most (g-1) * 2^-53 of the sum of their magnitudes, to
// first order. A second moment is off by about g such parts of itself and of the squares of the means' differences.
func Coarsen(dst, src *Groups, granularity time.Duration) error {
	if granularity < src.Granularity || granularity%max(src.Granularity, 1) != 0 {
		return fmt.Errorf("granularity %v is no multiple of %v", granularity, src.Granularity)
	}
	columns := slices.DeleteFunc(slices.Clone(src.Columns), func(c Column) bool {
		return c.Base() >= numMoments && !c.IsCounter() && c != ColumnSketch && !c.HasThreshold()
	})
	dst.Reset(granularity, columns)
	for i, start := range src.Starts {
		if to := start.Floor(granularity); i == 0 || dst.Starts[dst.Len()-1] != to {
			dst.Starts = append(dst.Starts, to)
		}
	}
	sources := []*Groups{src}
	combineMoments(dst, sources)
	if slices.ContainsFunc(columns, Column.IsCounter) {
		coarsenCounters(dst, src)
	}
	combineBeyond(dst, sources)
	return combineSketches(dst, sources)
}

// Merge sets dst to the groups of several metrics at one granularity taken together, as if all measures were one
// metric's: exactly for decimals, as Coarsen. It keeps count, sum, min, max and second moment, of measures and of
// differences, sketches and counts beyond thresholds, as far as all sources have them: which measure is first of all
// their groups do not tell.
func Merge(dst *Groups, sources []*Groups) error {
	if len(sources) == 0 {
		return fmt.Errorf("no groups to merge")
	}
	columns := slices.DeleteFunc(slices.Clone(sources[0].Columns), func(c Column) bool {
		return c.Base() > ColumnM2 && c != ColumnSketch && !c.HasThreshold()
	})
	for _, g := range sources[1:] {
		if g.Granularity != sources[0].Granularity {
			return fmt.Errorf("granularities %v and %v differ", sources[0].Granularity, g.Granularity)
		}
		columns = slices.DeleteFunc(columns, func(c Column) bool { return g.Column(c) == nil })
	}
	dst.Reset(sources[0].Granularity, columns)
	dst.Starts = append(dst.Starts, sources[0].Starts...)
	// Metrics are mostly fed together.
	if slices.ContainsFunc(sources[1:], func(g *Groups) bool { return !slices.Equal(g.Starts, sources[0].Starts) }) {
		for _, g := range sources[1:] {
			dst.Starts = append(dst.Starts, g.Starts...)
		}
		slices.Sort(dst.Starts)
		dst.Starts = slices.Compact(dst.Starts)
	}
	combineMoments(dst, sources)
	combineBeyond(dst, sources)
	return combineSketches(dst, sources)
}

// rowsBelow returns the first row of g, from row on, that is not of the k-th group of dst, which has a group for each.
func (g *Groups) rowsBelow(dst *Groups, k, row int) int {
	if k+1 == dst.Len() {
		return g.Len()
	}
	for next := dst.Starts[k+1]; row < g.Len() && g.Starts[row] < next; row++ {
	}
	return row
}

// combineMoments sets the moments of dst, whose starts are there, from the groups of the sources.
func combineMoments(dst *Groups, sources []*Groups) {
	for rate := range Column(2) {
		out := newLayout(dst.Columns, rate == 1)
		if !out.any {
			continue
		}
		e := combinedExponent(sources, rate<<7)
		layouts, from, to := make([]layout, len(sources)), make([]int, len(sources)), make([]int, len(sources))
		for i, g := range sources {
			layouts[i] = newLayout(g.Columns, rate == 1)
		}
		for k := range dst.Starts {
			var c combination
			for i, g := range sources {
				from[i], to[i] = to[i], g.rowsBelow(dst, k, to[i])
				for row := from[i]; row < to[i]; row++ {
					m := layouts[i].at(g, row)
					c.add(&m, e)
				}
			}
			if c.overflows(sources...) {
				c = combination{}
				for i, g := range sources {
					for row := from[i]; row < to[i]; row++ {
						c.add(new(layouts[i].scaledAt(g, row)), -1)
					}
				}
			}
			dst.appendMoments(&out, c, e)
		}
	}
}

// combinedExponent returns the exponent at which the sums, minima and maxima of all sources are decimals, as far as
// they are; -1 if a source does not tell counts and sums.
func combinedExponent(sources []*Groups, rate Column) int {
	e := 0
	for _, g := range sources {
		counts, sums := g.Column(rate+ColumnCount), g.Column(rate+ColumnSum)
		lows, highs := g.Column(rate+ColumnMin), g.Column(rate+ColumnMax)
		if sums == nil || counts == nil {
			return -1
		}
		for row, sum := range sums {
			m := moments{count: counts[row], sum: compensated.Sum{High: sum}, min: nan, max: nan}
			if lows != nil {
				m.min = lows[row]
			}
			if highs != nil {
				m.max = highs[row]
			}
			if least, ok := leastExponentFrom(m.min, e); ok {
				e = least
			} else if m.min == m.min {
				continue // no decimal, so the sum is none either
			}
			if m.max != m.min {
				if least, ok := leastExponentFrom(m.max, e); ok {
					e = least
				} else if m.max == m.max {
					continue
				}
			}
			for more := e; more <= maxExponent; more++ {
				if _, ok := exactSum(&m, more); ok {
					e = more
					break
				}
			}
		}
	}
	return e
}

// leastExponentFrom is leastExponent, but for exponents below e, at which it is e.
func leastExponentFrom(v float64, e int) (int, bool) {
	if i, ok := nearest(v, decimal.FloatPowers[e]); ok && decimalOf(i, decimal.FloatPowers[e]) == v {
		return e, true
	}
	least, ok := leastExponent(v)
	return max(least, e), ok
}

// at returns the moments of a row. A moment without a column is NaN, a count without one 1.
func (l *layout) at(g *Groups, row int) moments {
	value := func(c Column) float64 {
		if i := l.moment[c]; i >= 0 {
			return g.Values[i][row]
		}
		return math.NaN()
	}
	m := moments{value(ColumnCount), compensated.Sum{High: value(ColumnSum)}, value(ColumnMin), value(ColumnMax),
		value(ColumnM2), value(ColumnFirst), value(ColumnLast), false}
	if m.count != m.count && !isAbsent(m.count) {
		m.count = 1
	}
	return m
}

// scaledAt is at with scaled moments.
func (l *layout) scaledAt(g *Groups, row int) moments {
	m := l.at(g, row)
	switch mean := g.mean(l.sumColumn(), row, m.sum.High, m.count); {
	case math.IsInf(m.sum.High, 0) && mean-mean == 0:
		m.sum = compensated.Sum{}.PlusProduct(m.count, mean*scaled)
	case !isAbsent(m.sum.High):
		m.sum.High *= scaled
	}
	if !isAbsent(m.m2) {
		m.m2 *= scaledSquare
	}
	m.scaled = true
	return m
}

// overflows reports whether the sum of groups of these sources is to be computed anew, scaled.
func (c *combination) overflows(sources ...*Groups) bool {
	sum := c.sum.High
	return isHuge(sum) || sum != sum && slices.ContainsFunc(sources, func(g *Groups) bool { return len(g.means) > 0 })
}

// appendMoments appends a combination's moments as the next row of the columns that l tells.
func (g *Groups) appendMoments(l *layout, c combination, e int) {
	m := c.result(e)
	state := [numMoments]float64{m.count, m.sum.Float(), m.min, m.max, m.m2, m.first, m.last}
	if i := l.moment[ColumnSum]; m.scaled && i >= 0 {
		g.setScaled(g.Starts[len(g.Values[i])], l.sumColumn(), &m)
		state[ColumnSum] /= scaled
		state[ColumnM2] /= scaledSquare
	}
	for column, i := range l.moment {
		if i < 0 {
			continue
		}
		v := state[column]
		switch {
		case c.absent&(1<<column|1<<ColumnCount) != 0:
			v = absent
		case !c.any && Column(column) != ColumnCount:
			v = nan
		}
		g.Values[i] = append(g.Values[i], v)
	}
}
