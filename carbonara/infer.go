package carbonara

import "github.com/gnocco-db/gnocco/carbonara/sketch"

// Infer fills in unknown columns that other columns of the same group tell: of one measure all but its time and its
// difference from the one before, of two measures their resets, of any measures on one side of a threshold how many are
// beyond it. It returns how many values it filled in.
func (g *Groups) Infer() (filled int) {
	counts, firsts, lasts := g.Column(ColumnCount), g.Column(ColumnFirst), g.Column(ColumnLast)
	beyond := newBeyond(g.Columns)
	for row, count := range counts {
		if count == 1 {
			filled += g.inferSingle(row, beyond)
		} else if count == 2 && firsts != nil && lasts != nil && firsts[row]-lasts[row] == firsts[row]-lasts[row] {
			var s counterState
			s.add(firsts[row], lasts[row:row+1])
			filled += g.fill(ColumnResets, row, s.resets) + g.fill(ColumnResetSum, row, s.resetSum)
		}
		filled += g.inferBeyond(row, beyond)
	}
	return filled
}

// inferSingle fills in the row of one measure.
func (g *Groups) inferSingle(row int, beyond []beyond) (filled int) {
	value := absent
	for _, c := range [...]Column{ColumnLast, ColumnFirst, ColumnMin, ColumnMax, ColumnSum} {
		if values := g.Column(c); values != nil && isAbsent(value) {
			value = values[row]
		}
	}
	if value-value != 0 {
		return 0 // unknown, or no number
	}
	for _, b := range beyond {
		filled += g.fill(g.Columns[b.column], row, b.count([]float64{value}))
	}
	for _, c := range g.Columns {
		switch {
		case c == ColumnM2 || c == ColumnResets || c == ColumnResetSum:
			filled += g.fill(c, row, 0)
		case c == ColumnSketch && g.Sketch(row) == "":
			g.SetSketch(row, sketch.Sketch(new(sketch.Encoder).Append(nil, []float64{value})))
			filled++
		case !c.IsRate() && !c.IsSketch() && !c.IsCounter() && !c.HasThreshold():
			filled += g.fill(c, row, value)
		}
	}
	return filled
}

// fill sets a value that is unknown, if g has the column.
func (g *Groups) fill(c Column, row int, value float64) int {
	if values := g.Column(c); values != nil && isAbsent(values[row]) {
		values[row] = value
		return 1
	}
	return 0
}

// FillIn takes unknown values from other, whose groups have the same measures where they have the same start and count.
// It returns how many it took.
func (g *Groups) FillIn(other *Groups) (filled int) {
	counts, others := g.Column(ColumnCount), other.Column(ColumnCount)
	if counts == nil || others == nil {
		return 0
	}
	for row, start := range g.Starts {
		i := other.Search(start)
		if i == other.Len() || other.Starts[i] != start || !(counts[row] == others[i]) {
			continue
		}
		for _, c := range g.Columns {
			from := other.Column(c)
			if from == nil || isAbsent(from[i]) || !g.Unknown(row, c) || c.Base() == ColumnSum && from[i]-from[i] != 0 {
				continue // a sum beyond float64 has its mean elsewhere
			}
			filled += g.fill(c, row, g.taken(c, other, from[i]))
		}
	}
	return filled
}

// Unknown reports whether one of these columns is unknown in a row.
func (g *Groups) Unknown(row int, columns ...Column) bool {
	for _, c := range columns {
		if values := g.Column(c); values == nil || isAbsent(values[row]) {
			return true
		}
	}
	return false
}
