package promql

import (
	"cmp"
	"math"
	"slices"
	"time"
	"unsafe"

	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// counter is a group of a counter, or one measure. Times are ms.
type counter struct {
	count, first, last, resets, resetSum float64
	firstTime, lastTime                  int64 // of the first and last measure
}

const counterBytes = int(unsafe.Sizeof(counter{}))

// counterColumns are the columns of groups for it, ascending.
var counterColumns = []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnFirst, carbonara.ColumnLast,
	carbonara.ColumnResets, carbonara.ColumnResetSum, carbonara.ColumnFirstTime, carbonara.ColumnLastTime}

// single is the counter of one measure.
func single(t int64, v float64) counter {
	return counter{count: 1, first: v, last: v, firstTime: t, lastTime: t}
}

// haveGroups reports whether some counters are not single measures at their times.
func haveGroups(counters []counter, times []int64) bool {
	for i := range counters {
		if c := &counters[i]; c.count > 1 || c.lastTime != times[i] {
			return true
		}
	}
	return false
}

// overCounters are the functions that groups of counters answer: from the groups of a range, the range (start, end] in
// ms, and its length in seconds. They are absent where there are too few measures.
var overCounters = map[string]func(groups []counter, start, end int64, seconds float64) float64{
	"increase": extrapolated("increase"), "rate": extrapolated("rate"), "delta": extrapolated("delta"),
	"resets": resetsOf, "irate": instant("irate"), "idelta": instant("idelta"),
}

// combiningCounters returns the function over ranges of samples that an iterator of counters has.
func combiningCounters(it *iterator, s *columns.Samples, function string, length int64) func(columns.Window) float64 {
	of, change, interpolates := overCounters[function], overCounters[function], true
	switch function {
	case "rate":
		change = overCounters["increase"]
	case "irate", "idelta":
		interpolates = false // it is that of the last group
	}
	r := cmp.Or(columns.Rates[function], &columns.Rate{})
	seconds := (time.Duration(length) * time.Millisecond).Seconds()
	return func(w columns.Window) float64 {
		if w.IsWhole() || !interpolates {
			return of(it.counts[w.From:w.To], w.Start, w.End, seconds)
		}
		return r.Interpolated(s, w, func(w columns.Window) float64 {
			return change(it.counts[w.From:w.To], w.Start, w.End, seconds)
		})
	}
}

// increase returns the increase from the first measure of groups to the last, as Prometheus adds it up. A gauge's takes
// no account of resets.
func increase(groups []counter, ofCounter bool) columns.Increase {
	first, last := &groups[0], &groups[len(groups)-1]
	i := columns.Increase{Samples: first.count, First: first.first, By: last.last - first.first,
		FirstTime: first.firstTime, LastTime: last.lastTime}
	if ofCounter {
		i.By += first.resetSum
	}
	for k := 1; k < len(groups); k++ {
		g := &groups[k]
		i.Samples += g.count
		if !ofCounter {
			continue
		}
		if before := groups[k-1].last; g.first < before {
			i.By += before
		}
		i.By += g.resetSum
	}
	return i
}

func extrapolated(name string) func([]counter, int64, int64, float64) float64 {
	return func(groups []counter, start, end int64, seconds float64) float64 {
		if len(groups) == 0 {
			return columns.Absent()
		}
		i := increase(groups, name != "delta")
		return columns.Rates[name].Extrapolate(&i, start, end, seconds)
	}
}

func resetsOf(groups []counter, _, _ int64, _ float64) (resets float64) {
	for k := range groups {
		if k > 0 && groups[k].first < groups[k-1].last {
			resets++
		}
		resets += groups[k].resets
	}
	return resets
}

// instant takes the step to the last measure from the one before it. A group of more than two measures does not tell
// that one: the step is the mean of the group's.
func instant(name string) func([]counter, int64, int64, float64) float64 {
	return func(groups []counter, _, _ int64, _ float64) float64 {
		g := &groups[len(groups)-1]
		points := []upstream.FPoint{{T: g.firstTime, F: g.first}, {T: g.lastTime, F: g.last}}
		switch {
		case g.count < 2 && len(groups) < 2:
			return columns.Absent()
		case g.count < 2:
			before := &groups[len(groups)-2]
			points[0] = upstream.FPoint{T: before.lastTime, F: before.last}
		case g.count > 2:
			i := increase(groups[len(groups)-1:], name == "irate")
			points[0].F = g.last - i.By/(g.count-1)
			points[0].T = g.lastTime - max(1, int64(math.Round(float64(g.lastTime-g.firstTime)/(g.count-1))))
		}
		return columns.OfPoints(name, points)
	}
}

// setEnds makes samples of the first and last measures of groups.
func (it *iterator) setEnds() {
	it.times = it.times[:0]
	for _, g := range it.counts {
		if g.count > 1 {
			it.add(g.firstTime, g.first)
		}
		it.add(g.lastTime, g.last)
	}
	it.counts = it.counts[:0]
}

// unknown reports whether one of some columns is absent in a row.
func unknown(columns [][]float64, row int) bool {
	return slices.ContainsFunc(columns, func(values []float64) bool { return carbonara.IsAbsent(values[row]) })
}

// appendCounters makes samples of the columns of counters; inside and begin as in appendMoments. Of groups from before
// the policy had these columns, it takes the last measure.
func (s *series) appendCounters(it *iterator, groups *carbonara.Groups, p part, inside func(int64) bool,
	begin func(carbonara.Timestamp) int64) {
	var values [7][]float64
	for i, column := range counterColumns {
		values[i] = groups.Column(column)
	}
	after := int64(0) // ms, as of raw measures
	if s.rangesOfGroups() {
		after = 1
	}
	gauge := values[3] == nil // delta knows no resets
	older, untimed, leftOut, means := false, false, false, false
	for i, start := range groups.Starts {
		t, last := milliseconds(start.Add(p.granularity)), values[2][i]
		if !inside(t) {
			continue
		}
		if carbonara.IsAbsent(last) {
			leftOut = true
			continue
		}
		at := func(seconds float64) int64 {
			return int64(start.Add(time.Duration(math.Round(seconds*1e9))))/1_000_000 + after
		}
		c := counter{count: values[0][i], first: values[1][i], last: last}
		if !gauge {
			c.resets, c.resetSum = values[3][i], values[4][i]
			c.firstTime, c.lastTime = at(values[5][i]), at(values[6][i])
		}
		whole := c.count > 2 || s.joined
		switch {
		case unknown(values[:2], i) || !gauge && unknown(values[3:5], i):
			c, whole = single(t, last), true
			older = true
		case gauge && c.count == 1:
			c, whole = single(t, last), true
			untimed = true
		case gauge || unknown(values[5:], i): // a rebuild inferred resets
			between := p.granularity.Seconds() / c.count
			c.firstTime, c.lastTime = at(between/2), at(p.granularity.Seconds()-between/2)
			untimed = true
		}
		if whole {
			it.addGroup(t, begin(start))
			s.addCounter(it, t, c)
			means = means || c.count > 2
			continue
		}
		// The group is these measures. One at the group's start counts as after it, like in wider groups.
		after := milliseconds(start) + 1
		s.addCounter(it, max(c.firstTime, after), single(c.firstTime, c.first))
		if c.count > 1 {
			s.addCounter(it, max(c.lastTime, after), single(c.lastTime, last))
		}
	}
	if f := s.selection.function; means && (f == "irate" || f == "idelta") {
		s.note(warning("%s is the mean over the last group where that has more than two measures", f))
	}
	if older {
		s.noteOlder("each count as one measure of %s: resets within them are not seen", s.selection.function)
	}
	switch {
	case untimed && gauge:
		s.note(warning("delta takes the measures of groups as evenly spaced"))
	case untimed && s.selection.function != "resets":
		s.noteOlder("have no times of their measures: %s takes these as evenly spaced", s.selection.function)
	}
	if leftOut {
		s.noteLeftOut("last")
	}
}
