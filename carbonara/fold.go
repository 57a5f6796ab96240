package carbonara

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A fold is a method that a user chooses for a question, such as the share of measures above a threshold. Folds merge:
// counts of groups add up exactly, and a share is a count over all measures, so that minutes give a year.
//
// A threshold is a part of the Method and of the Column (threshold.go). So a count above 90 is never taken for one
// above 95, in any schema that an archive had, and splits need no table beside them. Folds without a threshold are
// answered from columns that other methods have.

// IsFold reports whether m is a fold. Aggregates of wider groups follow from its columns, not from its aggregates.
func (m Method) IsFold() bool { return m.kind() >= sumOfSquares && m.kind() <= shareBelow }

// HasThreshold reports whether m has one. Methods does not list these.
func (m Method) HasThreshold() bool { return m.kind() >= countAbove && m.kind() <= shareBelow }

// HasThreshold reports whether c counts measures beyond one.
func (c Column) HasThreshold() bool { return c.kind() != c }

// kind returns m without its threshold.
func (m Method) kind() Method { return m & (1<<thresholdShift - 1) }

// kind returns c without its threshold.
func (c Column) kind() Column { return c & (1<<thresholdShift - 1) }

func parseThresholdMethod(s string) (Method, error) {
	name, rest, _ := strings.Cut(s, "(")
	for m := countAbove; m <= shareBelow; m++ {
		if methodNames[m] != name {
			continue
		}
		text, closed := strings.CutSuffix(rest, ")")
		if !closed {
			return 0, fmt.Errorf("aggregation method %q needs a threshold, as in %s(90)", s, name)
		}
		t, err := parseThreshold(text)
		if err != nil {
			return 0, fmt.Errorf("aggregation method %q: threshold %w", s, err)
		}
		return m | Method(t), nil
	}
	return 0, fmt.Errorf("unknown aggregation method %q", s)
}

func (m Method) foldColumns() []Column {
	counts := columnAbove | Column(m-m.kind())
	switch m.kind() {
	case sumOfSquares:
		return []Column{ColumnCount, ColumnSum, ColumnMin, ColumnMax, ColumnM2}
	case difference:
		return []Column{ColumnFirst, ColumnLast}
	case countBelow, shareBelow:
		counts += columnBelow - columnAbove
	}
	if m.kind() >= shareAbove {
		return []Column{ColumnCount, counts}
	}
	return []Column{counts}
}

// counting returns the method that is the column's value.
func (c Column) counting() Method {
	m := countAbove
	if c.kind() == columnBelow {
		m = countBelow
	}
	return m | Method(c-c.kind())
}

// Append appends the column as it stands in splits: a byte, and seven more if it has a threshold.
func (c Column) Append(dst []byte) []byte {
	if c.HasThreshold() {
		return binary.LittleEndian.AppendUint64(dst, uint64(c))
	}
	return append(dst, byte(c))
}

// Consume is the inverse of Append: it sets c and returns what follows it in src.
func (c *Column) Consume(src []byte) (rest []byte, ok bool) {
	if len(src) == 0 {
		return src, false
	}
	if *c = Column(src[0]); *c != columnAbove && *c != columnBelow {
		return src[1:], true
	}
	if len(src) < 8 {
		return src, false
	}
	*c = Column(binary.LittleEndian.Uint64(src))
	return src[8:], threshold(*c - c.kind()).isCanonical()
}

// beyond counts the measures of a group that lie beyond a threshold; a NaN never does.
type beyond struct {
	column    int // of the plan
	threshold float64
	below     bool
}

func newBeyond(columns []Column) (all []beyond) {
	for i, c := range columns {
		if c.HasThreshold() {
			all = append(all, beyond{i, threshold(c - c.kind()).value(), c.kind() == columnBelow})
		}
	}
	return all
}

func (b *beyond) count(values []float64) float64 {
	n := 0
	if b.below {
		for _, v := range values {
			if v < b.threshold {
				n++
			}
		}
		return float64(n)
	}
	for _, v := range values {
		if v > b.threshold {
			n++
		}
	}
	return float64(n)
}

// accumulateBeyond computes the columns with thresholds, the first run on top of the row open unless that is nil.
func (a *arena) accumulateBeyond(plan *Plan, values, open []float64, out *Groups) {
	from := 0
	for i, end := range a.runEnds {
		for k := range plan.beyond {
			b := &plan.beyond[k]
			n := b.count(values[from:end])
			if i == 0 && open != nil && open[plan.measures.moment[ColumnCount]] != 0 {
				n += open[b.column]
			}
			out.Values[b.column][i] = n
		}
		from = end
	}
}

// combineBeyond adds up the columns with thresholds of dst, whose starts are there, from the groups of the sources.
func combineBeyond(dst *Groups, sources []*Groups) {
	for i, c := range dst.Columns {
		if !c.HasThreshold() {
			continue
		}
		counts := slices.Grow(dst.Values[i][:0], dst.Len())[:dst.Len()]
		clear(counts)
		for _, g := range sources {
			values, row := g.Column(c), 0
			for k := range counts {
				for end := g.rowsBelow(dst, k, row); row < end; row++ {
					counts[k] = plus(counts[k], values[row])
				}
			}
		}
		dst.Values[i] = counts
	}
}

// inferBeyond fills in the counts of a row that its extremes tell: all measures lie beyond the threshold, or none does.
func (g *Groups) inferBeyond(row int, beyond []beyond) (filled int) {
	counts, lows, highs := g.Column(ColumnCount), g.Column(ColumnMin), g.Column(ColumnMax)
	if len(beyond) == 0 || lows == nil || highs == nil || lows[row] != lows[row] || highs[row] != highs[row] {
		return 0 // they are unknown, or a NaN is among the measures
	}
	for _, b := range beyond {
		switch b.count([]float64{lows[row], highs[row]}) {
		case 0:
			filled += g.fill(g.Columns[b.column], row, 0)
		case 2:
			filled += g.fill(g.Columns[b.column], row, counts[row])
		}
	}
	return filled
}

// aggregateFold is Aggregate for folds.
func (g *Groups) aggregateFold(m Method, starts []Timestamp, values []float64) ([]Timestamp, []float64) {
	columns := m.foldColumns()
	var of [5][]float64
	for i, c := range columns {
		of[i] = g.Column(c)
	}
	for row, start := range g.Starts {
		if g.Unknown(row, columns...) {
			continue
		}
		v := of[0][row]
		switch m.kind() {
		case difference:
			v = of[1][row] - v
		case shareAbove, shareBelow:
			v = of[1][row] / v
		case sumOfSquares:
			v = squares(v, of[1][row], of[2][row], of[3][row], of[4][row])
		}
		starts, values = append(starts, start), append(values, v)
	}
	return starts, values
}

// squares returns the sum of squares of measures with these moments. Infinities have no second moment.
func squares(count, sum, low, high, m2 float64) float64 {
	switch {
	case high != high:
		return high
	case math.IsInf(low, 0) || math.IsInf(high, 0):
		return math.Inf(1)
	}
	return m2 + float64(sum*(sum/count))
}
