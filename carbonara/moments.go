package carbonara

import (
	"math"

	"github.com/gnocco-db/gnocco/internal/compensated"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// moments is the state of one group while its measures are added in time order. Its sum keeps what additions round
// away. M2 follows Youngs and Cramer: after v is in count and sum, m2 += (count*v - sum)² / (count*(count-1)), which
// loses nothing where values lie close together and far from zero, as the sum does not.
type moments struct {
	count                     float64
	sum                       compensated.Sum
	min, max, m2, first, last float64
	scaled                    bool // sum and m2 are (huge_sum.go)
}

// start is the state after one measure: sum and m2 as if added to 0, so that -0 sums to 0 and the deviations of an
// infinity are NaN.
func (m *moments) start(v float64) {
	*m = moments{count: 1, sum: compensated.Sum{High: 0 + v}, min: v, max: v, m2: v - v, first: v, last: v}
}

// add accumulates values, later than all before.
func (m *moments) add(values []float64) {
	if len(values) == 0 {
		return
	}
	if m.count == 0 {
		m.start(values[0])
		values = values[1:]
	}
	count, sum, m2 := m.count, m.sum, m.m2
	lowest, highest := m.min, m.max
	for _, v := range values {
		count++
		sum = sum.Plus(v)
		d := sum.TimesLess(count, v)
		m2 += d * d / (count * (count - 1))
		lowest = min(lowest, v)
		highest = max(highest, v)
	}
	if lowest != lowest {
		lowest = minIgnoringNaN(m.min, values)
	}
	m.count, m.sum, m.m2, m.min, m.max = count, sum, m2, lowest, highest
	if len(values) > 0 {
		m.last = values[len(values)-1]
	}
}

// minIgnoringNaN is the rule for min: NaN only where there is nothing else. The loop in add uses the builtin, which
// answers NaN for any NaN but does not branch.
func minIgnoringNaN(lowest float64, values []float64) float64 {
	for _, v := range values {
		if lowest != lowest {
			lowest = v
		} else if v == v {
			lowest = min(lowest, v) // -0 below +0, as rule 10 has it
		}
	}
	return lowest
}

// layout says in which row element of the plan's columns each value of a family (the measures, or their differences)
// stands; -1 where it is not asked for.
type layout struct {
	moment      [numMoments]int
	slots       []momentSlot // the same, without those that are not asked for
	percentiles []percentileSlot
	any         bool
	rate        bool
	more        bool // any moment but the count
	low         int  // the place of the sum's low part in an open row; 0: there is no sum
}

// sumColumn returns the column of the family's sum.
func (l *layout) sumColumn() Column {
	if l.rate {
		return ColumnSum.Rate()
	}
	return ColumnSum
}

type momentSlot struct {
	moment Column
	column int
}

type percentileSlot struct {
	percentile int
	column     int
}

func newLayout(columns []Column, rate bool) layout {
	l := layout{rate: rate}
	for i := range l.moment {
		l.moment[i] = -1
	}
	for i, c := range columns {
		if c.IsRate() != rate || c.IsCounter() || c == ColumnSketch || c.HasThreshold() {
			continue
		}
		l.any = true
		if p := c.Percentile(); p > 0 {
			l.percentiles = append(l.percentiles, percentileSlot{p, i})
		} else {
			l.moment[c.Base()] = i
			l.slots = append(l.slots, momentSlot{c.Base(), i})
			l.more = l.more || c.Base() != ColumnCount
		}
	}
	return l
}

// load reads the state of an open group, as Groups.AppendOpen appends it.
func (l *layout) load(row []float64, m *moments) {
	at := func(c Column) float64 {
		if i := l.moment[c]; i >= 0 {
			return row[i]
		}
		return 0
	}
	*m = moments{at(ColumnCount), compensated.Sum{High: at(ColumnSum)}, at(ColumnMin), at(ColumnMax), at(ColumnM2),
		at(ColumnFirst), at(ColumnLast), false}
	if l.low > 0 {
		m.sum.Low = row[l.low]
		m.count, m.scaled = math.Abs(m.count), m.count < 0
	}
}

// store writes the state as row i of values.
func (l *layout) store(m *moments, values [][]float64, i int) {
	state := [numMoments]float64{m.count, m.sum.Float(), m.min, m.max, m.m2, m.first, m.last}
	if m.scaled {
		state[ColumnSum] /= scaled
		state[ColumnM2] /= scaledSquare
	}
	if m.count == 0 {
		state = noMeasures
	}
	for _, slot := range l.slots {
		values[slot.column][i] = state[slot.moment]
	}
}

// noMeasures are the moments of a group in which no difference ends.
var noMeasures = [numMoments]float64{0, nan, nan, nan, nan, nan, nan}

// setRange makes the minima and maxima of the family's groups known; they are kept, not copied.
func (f *family) setRange(lows, highs []float64) {
	f.hasRange, f.lows, f.highs, f.expectedAt = true, lows, highs, -1
}

// secondMomentBounds bounds the second moments of the groups, given counts, sums, minima and maxima. If a group's mean
// lies a above its minimum and b below its maximum, its second moment is at least a² + b² (these two measures' own) and
// at most n*a*b (all measures are one or the other). In units of half 10^-2e, those of second moments: expected lies a
// quarter of the way between, and the scale is the bits of the way. Both are 0 where float64 does not hold them.
func (f *family) secondMomentBounds(e int) (expected []int64, scales []uint8) {
	expected, scales = f.expected[:len(f.counts)], f.scales[:len(f.counts)]
	if f.expectedAt == e {
		return expected, scales
	}
	f.expectedAt = e
	momentBounds(expected, scales, f.means[:len(expected)], f.counts, f.lows, f.highs, decimal.FloatPowers[e])
	return expected, scales
}
