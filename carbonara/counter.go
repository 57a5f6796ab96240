package carbonara

import (
	"math"
	"slices"
	"time"
)

// A counter only grows, until its process restarts and it begins again at 0: a reset. The last value of a group, or the
// difference between two of them, says nothing about a reset in between. So a group of a counter also has the number of
// resets within it, the sum of the values before them, and the times of its first and last measure.
//
// All of that is about the group alone. The step from the last measure of the group before is derived when groups are
// read, from that group's last value and this one's first. So a late measure changes its own group only. Groups add up
// exactly: minutes to an hour, and the groups of a range to its increase.
//
// Both sums of a counter that was never reset are 0 in every group, and take no bytes in a split.

// counterColumns are the columns that the methods of counters bring into a plan.
var counterColumns = []Column{ColumnCount, ColumnFirst, ColumnLast, ColumnResets, ColumnResetSum, ColumnFirstTime,
	ColumnLastTime}

// counterLayout says at which place of a row the columns of counters stand, and the moments that they continue from; -1
// for those not asked for.
type counterLayout struct {
	any                                   bool
	resets, resetSum, firstTime, lastTime int
	count, last                           int
}

func newCounterLayout(columns []Column) counterLayout {
	at := func(c Column) int {
		if i, ok := slices.BinarySearch(columns, c); ok {
			return i
		}
		return -1
	}
	return counterLayout{slices.ContainsFunc(columns, Column.IsCounter), at(ColumnResets), at(ColumnResetSum),
		at(ColumnFirstTime), at(ColumnLastTime), at(ColumnCount), at(ColumnLast)}
}

// counterState is what a group has of a counter. A reset starts from 0.
type counterState struct{ resets, resetSum, firstTime, lastTime float64 }

// secondsInto returns the time of a measure in the group that starts at start.
func secondsInto(t, start Timestamp) float64 { return float64(t-start) / float64(time.Second) }

// secondsIntoWider returns seconds into the group that starts at start as seconds into the one that starts at wider. It
// adds nanoseconds, so that the result is that of secondsInto.
func secondsIntoWider(seconds float64, start, wider Timestamp) float64 {
	if isAbsent(seconds) {
		return absent
	}
	return secondsInto(start.Add(time.Duration(math.Round(seconds*float64(time.Second)))), wider)
}

// add accumulates values, the first of which follows previous.
func (s *counterState) add(previous float64, values []float64) {
	for _, v := range values {
		if v < previous {
			s.resets++
			s.resetSum += previous
		}
		previous = v
	}
}

// accumulateCounter computes the columns of counters, the first run on top of the row open unless that is nil.
func (a *arena) accumulateCounter(l *counterLayout, timestamps []Timestamp, values, open []float64, out *Groups) {
	from := 0
	for i, end := range a.runEnds {
		start := out.Starts[i]
		s := counterState{firstTime: secondsInto(timestamps[from], start),
			lastTime: secondsInto(timestamps[end-1], start)}
		previous, run := values[from], values[from+1:end]
		if i == 0 && open != nil && open[l.count] != 0 {
			previous, run = open[l.last], values[from:end]
			s = counterState{l.of(open, l.resets), l.of(open, l.resetSum), l.of(open, l.firstTime), s.lastTime}
		}
		s.add(previous, run)
		l.store(&s, out.Values, i)
		from = end
	}
}

func (l *counterLayout) of(row []float64, i int) float64 {
	if i < 0 {
		return 0
	}
	return row[i]
}

func (l *counterLayout) store(s *counterState, values [][]float64, row int) {
	for _, slot := range [...]struct {
		column int
		value  float64
	}{{l.resets, s.resets}, {l.resetSum, s.resetSum}, {l.firstTime, s.firstTime}, {l.lastTime, s.lastTime}} {
		if slot.column >= 0 {
			values[slot.column][row] = slot.value
		}
	}
}

// coarsenCounters sets the columns of counters of dst, whose other rows are there, from the groups of src.
func coarsenCounters(dst, src *Groups) {
	for i, c := range dst.Columns {
		if c.IsCounter() {
			dst.Values[i] = slices.Grow(dst.Values[i][:0], dst.Len())[:dst.Len()]
		}
	}
	value := func(c Column, row int) float64 {
		if v := src.Column(c); v != nil {
			return v[row]
		}
		return absent
	}
	l := newCounterLayout(dst.Columns)
	row := 0
	for i, to := range dst.Starts {
		var s counterState
		for first := row; row < src.Len() && src.Starts[row].Floor(dst.Granularity) == to; row++ {
			s.lastTime = secondsIntoWider(value(ColumnLastTime, row), src.Starts[row], to)
			resets, resetSum := value(ColumnResets, row), value(ColumnResetSum, row)
			if row == first {
				s.firstTime = secondsIntoWider(value(ColumnFirstTime, row), src.Starts[row], to)
				s.resets, s.resetSum = resets, resetSum
				continue
			}
			if before, v := value(ColumnLast, row-1), value(ColumnFirst, row); isAbsent(before) || isAbsent(v) {
				s.resets, s.resetSum = absent, absent
			} else {
				s.add(before, []float64{v})
			}
			s.resets, s.resetSum = plus(s.resets, resets), plus(s.resetSum, resetSum)
		}
		l.store(&s, dst.Values, i)
	}
}

// plus adds two values, absent if one of them is.
func plus(a, b float64) float64 {
	if isAbsent(a) || isAbsent(b) {
		return absent
	}
	return a + b
}

// aggregateCounter is Aggregate for the methods of counters: each group with the step from the one before.
func (g *Groups) aggregateCounter(m Method, starts []Timestamp, values []float64) ([]Timestamp, []float64) {
	column := ColumnResetSum
	if m == Resets {
		column = ColumnResets
	}
	firsts, lasts, within := g.Column(ColumnFirst), g.Column(ColumnLast), g.Column(column)
	if firsts == nil || lasts == nil || within == nil {
		return starts, values
	}
	for i, v := range within {
		previous := firsts[i] // of the earliest group that is kept: no step
		if i > 0 {
			previous = lasts[i-1]
		}
		if i == 0 && g.Lead || isAbsent(v) || isAbsent(firsts[i]) || isAbsent(lasts[i]) || isAbsent(previous) {
			continue
		}
		reset := firsts[i] < previous
		switch {
		case m == Resets && reset:
			v++
		case m == Resets:
		case reset:
			v += lasts[i]
		default:
			v += lasts[i] - previous
		}
		starts, values = append(starts, g.Starts[i]), append(values, v)
	}
	return starts, values
}
