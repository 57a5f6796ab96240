package carbonara

import (
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara/sketch"
	"github.com/gnocco-db/gnocco/internal/compensated"
)

// Groups are the aggregates of one metric at one granularity, as columns: row i is the group that starts at
// Starts[i]; Starts ascend strictly. Values[c][i] is the value of column Columns[c]. A rate: column of a group in
// which no difference ends is absent: NaN with a rate count of 0. A value that is not known is Absent.
type Groups struct {
	Granularity time.Duration
	Starts      []Timestamp
	Columns     []Column // ascending
	Values      [][]float64

	// Lead says that the first row comes before the range that was asked for: a method of counters takes the step from
	// it to the second row.
	Lead bool

	// Raw says which raw measures are kept, if the groups are raw measures.
	Raw RawSpan

	open     openSums
	means    []hugeMean      // ascending; perhaps also of rows deleted since
	sketches []sketch.Sketch // see sketch_column.go; perhaps also of rows deleted since

	sketchBytes int
}

// RawSpan says which raw measures of a metric are kept.
type RawSpan struct {
	KeptFrom Timestamp // they are complete from here on
	Newest   Timestamp // of those that are not ahead
	Any      bool      // false for a metric without measures
}

// openSums are the sums of the last group that a resampler computed, of measures and of differences: only with them can
// it be continued bit for bit.
type openSums struct {
	known  bool
	scaled [2]bool
	at     Timestamp // start of the group
	sums   [2]compensated.Sum
}

// SetOpenSums makes the sums of the last group known, those of measures and of differences, as far as there are such.
func (g *Groups) SetOpenSums(measures, differences compensated.Sum) {
	if n := g.Len(); n > 0 {
		g.open = openSums{known: true, at: g.Starts[n-1], sums: [2]compensated.Sum{measures, differences}}
	}
}

func (g *Groups) setOpen(l *layout, sum compensated.Sum, scaled bool) {
	g.open.known, g.open.at = true, g.Starts[g.Len()-1]
	family := l.sumColumn() >> 7
	g.open.sums[family], g.open.scaled[family] = sum, scaled
}

// Continues reports whether the last group can be continued from an open row: it was computed by a resampler, not
// stored meanwhile, or has no sums.
func (g *Groups) Continues() bool {
	n := g.Len()
	return n > 0 && (g.open.known && g.open.at == g.Starts[n-1] ||
		g.Column(ColumnSum) == nil && g.Column(ColumnSum.Rate()) == nil)
}

// Len returns the number of groups.
func (g *Groups) Len() int { return len(g.Starts) }

// Bytes returns the memory of the rows.
func (g *Groups) Bytes() int { return 8*(1+len(g.Columns))*len(g.Starts) + g.SketchBytes() }

// Capacity returns the memory that g keeps for rows, in bytes, at least Bytes.
func (g *Groups) Capacity() int {
	rows := cap(g.Starts)
	for _, values := range g.Values[:cap(g.Values)] {
		rows += cap(values)
	}
	return 8*rows + g.SketchBytes()
}

// Column returns the values of c, or nil if g does not have it. The slice is g's own.
func (g *Groups) Column(c Column) []float64 {
	if i, ok := slices.BinarySearch(g.Columns, c); ok {
		return g.Values[i]
	}
	return nil
}

// Reset empties g, keeping its memory, and sets its granularity and columns (ascending; kept, not copied).
func (g *Groups) Reset(granularity time.Duration, columns []Column) {
	g.Granularity = granularity
	g.Columns = columns
	g.open, g.Lead, g.Raw, g.means, g.sketches, g.sketchBytes = openSums{}, false, RawSpan{}, nil, nil, 0
	g.Starts = g.Starts[:0]
	if cap(g.Values) < len(columns) {
		g.Values = append(g.Values[:cap(g.Values)], make([][]float64, len(columns)-cap(g.Values))...)
	}
	g.Values = g.Values[:len(columns)]
	for i := range g.Values {
		g.Values[i] = g.Values[i][:0]
	}
}

// Slice returns rows from to to (exclusive). It shares g's memory.
func (g *Groups) Slice(from, to int) Groups {
	s := Groups{Granularity: g.Granularity, Starts: g.Starts[from:to], Columns: g.Columns,
		Values: make([][]float64, len(g.Values)), open: g.open, means: slices.Clip(g.means),
		sketches: slices.Clip(g.sketches), sketchBytes: g.sketchBytes}
	for i, v := range g.Values {
		s.Values[i] = v[from:to]
	}
	return s
}

// Append adds all rows of other after those of g; they must be later. Columns that other lacks are absent.
func (g *Groups) Append(other *Groups) {
	if other.Len() > 0 {
		g.open = other.open
	}
	g.AppendRows(other, 0, other.Len())
}

// AppendRows is Append of rows from to to (exclusive), which does not make known how the last group continues.
func (g *Groups) AppendRows(other *Groups, from, to int) {
	if from >= to {
		return
	}
	g.Starts = append(g.Starts, other.Starts[from:to]...)
	for i, c := range g.Columns {
		if v := other.Column(c); v != nil && c != ColumnSketch {
			g.Values[i] = append(g.Values[i], v[from:to]...)
			continue
		} else if v != nil {
			for _, place := range v[from:to] {
				g.Values[i] = append(g.Values[i], g.taken(c, other, place))
			}
			continue
		}
		for range to - from {
			g.Values[i] = append(g.Values[i], absent)
		}
	}
	g.addMeans(other, other.Starts[from], other.Starts[to-1]+1)
}

// At returns groups of the same rows that start elsewhere; starts ascend.
func (g *Groups) At(granularity time.Duration, starts []Timestamp) Groups {
	out := Groups{Granularity: granularity, Starts: starts, Columns: g.Columns, Values: g.Values,
		sketches: slices.Clip(g.sketches), sketchBytes: g.sketchBytes}
	g.HugeMeans(func(start Timestamp, sum Column, mean float64) {
		out.SetHugeMean(starts[g.Search(start)], sum, mean)
	})
	return out
}

// Delete removes rows from to to (exclusive).
func (g *Groups) Delete(from, to int) {
	if len(g.means) > 0 {
		g.forgetMeans(new(g.Slice(from, to)))
	}
	g.Starts = slices.Delete(g.Starts, from, to)
	for i := range g.Values {
		g.Values[i] = slices.Delete(g.Values[i], from, to)
	}
	g.dropSketches()
}

// AppendGone adds a row for a group whose measures no longer count. In splits it replaces the group. DropGone
// removes it after a read.
func (g *Groups) AppendGone(start Timestamp) {
	g.Starts = append(g.Starts, start)
	for i, c := range g.Columns {
		value := gone
		if c == ColumnSketch {
			value = absent
		}
		g.Values[i] = append(g.Values[i], value)
	}
}

// DropGone removes the rows of AppendGone, from a row on.
func (g *Groups) DropGone(from int) {
	i := slices.IndexFunc(g.Columns, func(c Column) bool { return c != ColumnSketch })
	if i < 0 {
		return
	}
	values := g.Values[i]
	for row := len(values) - 1; row >= from; row-- {
		if v := values[row]; v != v && math.Float64bits(v) == goneBits {
			g.Delete(row, row+1)
		}
	}
}

// Search returns the index of the first group that starts at or after t.
func (g *Groups) Search(t Timestamp) int {
	i, _ := slices.BinarySearch(g.Starts, t)
	return i
}

// Aggregate derives method m and appends (start, value) to the two slices. Groups where m is absent (std of one
// measure, a rate without a difference, what is not known) are left out.
func (g *Groups) Aggregate(m Method, starts []Timestamp, values []float64) ([]Timestamp, []float64) {
	if m.IsCounter() {
		return g.aggregateCounter(m, starts, values)
	}
	if m.IsFold() {
		return g.aggregateFold(m, starts, values)
	}
	if m == SketchMethod {
		return starts, values // it is no number
	}
	cols := m.Columns()
	first := g.Column(cols[0])
	if first == nil {
		if p := m.OfSketch(); p > 0 {
			return g.aggregateSketches(p, starts, values)
		}
		return starts, values
	}
	switch m.Base() {
	case Mean:
		sum, row := g.Column(cols[1]), len(values)
		if whole(sum, first) {
			starts, values = append(starts, g.Starts...), append(values, sum...)
			for i, n := range first {
				if n != 1 { // dividing takes longest, and finest groups often have one measure
					values[row+i] /= n
				}
			}
		} else {
			for i, n := range first {
				if n > 0 && !isAbsent(sum[i]) {
					starts = append(starts, g.Starts[i])
					values = append(values, sum[i]/n)
				}
			}
		}
		for _, m := range g.means {
			i, ok := slices.BinarySearch(starts[row:], m.start)
			if ok && m.sum == cols[1] && math.IsInf(values[row+i], 0) {
				values[row+i] = m.mean
			}
		}
		return starts, values
	case Std:
		m2 := g.Column(cols[1])
		for i, n := range first {
			if n > 1 && !isAbsent(m2[i]) {
				starts = append(starts, g.Starts[i])
				values = append(values, math.Sqrt(m2[i]/(n-1)))
			}
		}
		return starts, values
	}
	var rateCount []float64
	if m.IsRate() {
		rateCount = g.Column(ColumnCount.Rate())
	}
	if rateCount == nil && !slices.ContainsFunc(first, isAbsent) {
		return append(starts, g.Starts...), append(values, first...)
	}
	for i, v := range first {
		if rateCount != nil && rateCount[i] == 0 || isAbsent(v) {
			continue
		}
		starts = append(starts, g.Starts[i])
		values = append(values, v)
	}
	return starts, values
}

// whole reports whether there are a sum and a count in each row.
func whole(sums, counts []float64) bool {
	for i, sum := range sums {
		if sum != sum || !(counts[i] > 0) {
			return false
		}
	}
	return true
}

// nan is the value of a rate: column of a group in which no difference ends.
var nan = math.NaN()

// AppendOpen appends to dst the state of the last group, from which later measures continue it, as in Series.Open.
// Without groups it appends nothing. If the group does not continue, the sum's low part is 0.
func (g *Groups) AppendOpen(dst []float64) []float64 {
	n := g.Len()
	if n == 0 {
		return dst
	}
	var lows [2]float64
	low, from := lows[:0], len(dst)
	known := g.open.known && g.open.at == g.Starts[n-1]
	for i, c := range g.Columns {
		v := g.Values[i][n-1]
		if c.Base() == ColumnSum {
			sum := compensated.Sum{High: v}
			if known {
				sum = g.open.sums[c>>7]
			}
			v, low = sum.High, append(low, sum.Low)
		}
		dst = append(dst, v)
	}
	dst = append(dst, low...)
	for family, scaled := range g.open.scaled {
		if known && scaled {
			scaleOpen(dst[from:], g.Columns, Column(family)<<7, g.open.sums[family])
		}
	}
	return dst
}

// Overlay puts newer groups over those of g from row on: where both have a group of the same start, newer's row
// counts; a column that newer lacks is kept from g. Both ascend; the columns of g stay. Scratch is reused memory.
func (g *Groups) Overlay(row int, newer, scratch *Groups) {
	if newer.Len() == 0 {
		return
	}
	// The common case: newer reaches back over the last few rows of g at most.
	keep := row + (&Groups{Starts: g.Starts[row:]}).Search(newer.Starts[0])
	if keep == g.Len() {
		g.Append(newer)
		return
	}
	if newer.Starts[newer.Len()-1] >= g.Starts[g.Len()-1] {
		g.open = newer.open
	}
	g.forgetMeans(newer)
	g.addMeans(newer, 0, MaxTimestamp)
	scratch.Reset(g.Granularity, g.Columns)
	scratch.Starts = append(scratch.Starts, g.Starts[keep:]...) // a Slice of g would be made anew each time
	for i, v := range g.Values {
		scratch.Values[i] = append(scratch.Values[i], v[keep:]...)
	}
	g.truncate(keep)
	i, j := 0, 0
	for i < scratch.Len() || j < newer.Len() {
		takeNewer := j < newer.Len() && (i == scratch.Len() || newer.Starts[j] <= scratch.Starts[i])
		both := takeNewer && i < scratch.Len() && newer.Starts[j] == scratch.Starts[i]
		if takeNewer {
			g.Starts = append(g.Starts, newer.Starts[j])
		} else {
			g.Starts = append(g.Starts, scratch.Starts[i])
		}
		for c, column := range g.Columns {
			source := newer.Column(column)
			switch {
			case takeNewer && source != nil:
				g.Values[c] = append(g.Values[c], g.taken(column, newer, source[j]))
			case takeNewer && !both:
				g.Values[c] = append(g.Values[c], absent)
			default:
				g.Values[c] = append(g.Values[c], scratch.Values[c][i])
			}
		}
		if takeNewer {
			j++
		}
		if !takeNewer || both {
			i++
		}
	}
	g.dropSketches()
}

// truncate keeps the first n rows.
func (g *Groups) truncate(n int) {
	g.Starts = g.Starts[:n]
	for c := range g.Values {
		g.Values[c] = g.Values[c][:n]
	}
}
