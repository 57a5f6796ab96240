package carbonara

import (
	"cmp"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/internal/compensated"
)

// The sum of finite measures may be greater than any float64: of six times 1.7e308. It is infinite then, but the
// mean is not. Rows of groups have no column for such a mean: a list beside the columns has an entry for each, so
// that other groups pay nothing. A split has ColumnMean if one of its groups has such a mean. Sums are added up 2^64
// times smaller where they may overflow: scaling by a power of two rounds nothing.

// scaled is the factor of scaled sums. Second moments are scaled by its square.
const scaled, scaledSquare = 0x1p-64, 0x1p-128

// scaledFrom is the magnitude of a sum from which moments are computed anew, scaled. It leaves room for a measure times
// the number of measures, which the second moment takes.
const scaledFrom = 0x1p1023

// isHuge reports whether a sum may have overflowed. A NaN has not: it comes from measures that are not finite.
func isHuge(sum float64) bool { return math.Abs(sum) >= scaledFrom }

// hugeMean is the mean of the group that starts at start, whose sum no float64 holds.
type hugeMean struct {
	start Timestamp
	sum   Column // ColumnSum, or its rate
	mean  float64
}

func (a hugeMean) compare(b hugeMean) int {
	return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.sum, b.sum))
}

// SetHugeMean sets the mean of the group that starts at start, whose finite measures have an infinite sum. Column is
// ColumnSum or its rate.
func (g *Groups) SetHugeMean(start Timestamp, column Column, mean float64) {
	if mean-mean != 0 {
		return
	}
	m := hugeMean{start, column, mean}
	if i, ok := slices.BinarySearchFunc(g.means, m, hugeMean.compare); ok {
		g.means = slices.Clone(g.means) // a slice of g may share it
		g.means[i] = m
	} else {
		g.means = slices.Insert(g.means, i, m)
	}
}

// setScaled sets the mean of a group from its scaled moments, if its sum needs that.
func (g *Groups) setScaled(start Timestamp, column Column, m *moments) {
	if math.IsInf(m.sum.Float()/scaled, 0) {
		g.SetHugeMean(start, column, m.sum.Over(m.count).Float()/scaled)
	}
}

// HugeMeans calls f with the mean of each group whose finite measures have an infinite sum.
func (g *Groups) HugeMeans(f func(start Timestamp, column Column, mean float64)) {
	for _, m := range g.means {
		if row := g.Search(m.start); row < g.Len() && g.Starts[row] == m.start {
			f(m.start, m.sum, m.mean)
		}
	}
}

// addMeans adds the means of other's groups that start at or after from and before to.
func (g *Groups) addMeans(other *Groups, from, to Timestamp) {
	for _, m := range other.means {
		if m.start >= from && m.start < to {
			g.SetHugeMean(m.start, m.sum, m.mean)
		}
	}
}

// forgetMeans forgets the means of those of g's groups that other also has, with their sums.
func (g *Groups) forgetMeans(other *Groups) {
	if len(g.means) > 0 {
		g.means = slices.DeleteFunc(slices.Clone(g.means), func(m hugeMean) bool {
			_, has := slices.BinarySearch(other.Starts, m.start)
			return has && other.Column(m.sum) != nil
		})
	}
}

// mean returns the mean of a row's n measures with the stored sum sum.
func (g *Groups) mean(column Column, row int, sum, n float64) float64 {
	if math.IsInf(sum, 0) && len(g.means) > 0 {
		m := hugeMean{start: g.Starts[row], sum: column}
		if i, ok := slices.BinarySearchFunc(g.means, m, hugeMean.compare); ok {
			return g.means[i].mean
		}
	}
	return sum / n
}

// Mean returns the mean of a row's measures.
func (g *Groups) Mean(row int) float64 {
	return g.mean(ColumnSum, row, g.Column(ColumnSum)[row], g.Column(ColumnCount)[row])
}

// withMeans returns g with the means of its infinite sums as columns, which a split stores. Without any it is g.
func (g *Groups) withMeans() *Groups {
	if len(g.means) == 0 {
		return g
	}
	out := *g
	out.Columns, out.Values, out.means = slices.Clone(g.Columns), slices.Clone(g.Values), nil
	for _, sum := range []Column{ColumnSum, ColumnSum.Rate()} {
		column := ColumnMean | sum&rateBit
		at, has := slices.BinarySearch(out.Columns, column)
		if has || g.Column(sum) == nil {
			continue
		}
		var values []float64
		g.HugeMeans(func(start Timestamp, of Column, mean float64) {
			if of != sum {
				return
			}
			if values == nil {
				values = make([]float64, g.Len())
				fill(values, absent)
			}
			values[g.Search(start)] = mean
		})
		if values != nil {
			out.Columns = slices.Insert(out.Columns, at, column)
			out.Values = slices.Insert(out.Values, at, values)
		}
	}
	return &out
}

// decodeMeans adds the means of rows lo to hi (exclusive) of the parsed split, if dst has sums.
func (s *scratch) decodeMeans(key SplitKey, lo, hi int, dst *Groups) error {
	for _, sum := range []Column{ColumnSum, ColumnSum.Rate()} {
		column := ColumnMean | sum&rateBit
		if _, ok := s.stored(column); !ok || lo >= hi || dst.Column(sum) == nil {
			continue
		}
		var rows Groups
		rows.Reset(key.Granularity, []Column{column})
		if err := s.decodeRows(key, lo, hi, &rows); err != nil {
			return err
		}
		for i, v := range rows.Values[0] {
			dst.SetHugeMean(rows.Starts[i], sum, v)
		}
	}
	return nil
}

// In an open row a count below 0 says that the sum of its family is a scaled one, in both parts, and so is the second
// moment.

// scaleOpen makes the moments of a family in an open row scaled. A row has these columns, then the low parts of sums.
func scaleOpen(row []float64, columns []Column, rate Column, sum compensated.Sum) {
	low := len(columns)
	for i, c := range columns {
		switch {
		case c == ColumnCount|rate:
			row[i] = -row[i]
		case c == ColumnM2|rate:
			row[i] *= scaledSquare
		case c == ColumnSum|rate:
			row[i], row[low] = sum.High, sum.Low
		case c.Base() == ColumnSum:
			low++
		}
	}
}

// ScaleOpen makes those moments of the open row of a plan scaled whose sums are infinite in the only row of g.
func (p *Plan) ScaleOpen(row []float64, g *Groups) {
	g.HugeMeans(func(_ Timestamp, sum Column, mean float64) {
		if n := g.Column(ColumnCount | sum&rateBit); n != nil {
			scaleOpen(row, p.Columns, sum&rateBit, compensated.Sum{}.PlusProduct(n[0], mean*scaled))
		}
	})
}

// isScaled reports whether the moments of a family in an open row are scaled.
func (l *layout) isScaled(open []float64) bool { return l.low > 0 && open[l.moment[ColumnCount]] < 0 }

// scale makes m, which has a sum that float64 holds, scaled.
func (m *moments) scale() {
	m.sum = compensated.Sum{High: m.sum.High * scaled, Low: m.sum.Low * scaled}
	m.m2 *= scaledSquare
	m.scaled = true
}

// again computes the sum and second moment of m anew, scaled: of these values on top of the open row, or of none.
func (a *arena) again(l *layout, m *moments, open, values []float64) {
	var s moments
	if open != nil {
		l.load(open, &s)
	}
	if !s.scaled {
		s.scale()
	}
	a.scaledValues = a.scaledValues[:0]
	for _, v := range values {
		a.scaledValues = append(a.scaledValues, v*scaled)
	}
	s.add(a.scaledValues)
	m.sum, m.m2, m.scaled = s.sum, s.m2, true
}

// Overflows reports whether a resampler that knows no scaled sums cannot tell the groups of series i, which it has
// filled in: Resample does.
func (w *ResultWriter) Overflows(i int) bool {
	s := &w.batch.Series[i]
	for j := range s.Plan.Granularities {
		g := w.result.Groups(i, j)
		for _, l := range []*layout{&s.Plan.measures, &s.Plan.rate} {
			if l.low == 0 {
				continue
			}
			if s.Open != nil && l.isScaled(s.Open[j*s.Plan.open:]) ||
				slices.ContainsFunc(g.Values[l.moment[ColumnSum]], isHuge) {
				return true
			}
		}
	}
	return false
}
