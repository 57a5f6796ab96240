package promql

import (
	"math"
	"slices"
	"time"
	"unsafe"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/util/annotations"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// counter is a group of a counter, or one measure, which begins and ends at its time. All times are ms.
type counter struct {
	count, first, last, resets, resetSum float64
	firstTime, lastTime                  int64 // of the first and last measure
	begin, end                           int64 // of the group
}

const counterBytes = int(unsafe.Sizeof(counter{}))

// counterColumns are the columns of groups for it, ascending.
var counterColumns = []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnFirst, carbonara.ColumnLast,
	carbonara.ColumnResets, carbonara.ColumnResetSum, carbonara.ColumnFirstTime, carbonara.ColumnLastTime}

// single is the counter of one measure.
func single(t int64, v float64) counter {
	return counter{count: 1, first: v, last: v, firstTime: t, lastTime: t, begin: t, end: t}
}

// isGroup reports whether c is more than one measure's place in time.
func (c counter) isGroup() bool { return c.begin < c.end }

// overCounters are the functions that groups of counters answer: from the groups of a range, which has one at least,
// the range (start, end] in ms, and its length.
var overCounters = map[string]func(groups []counter, start, end int64, length time.Duration) (v float64, ok bool){
	"increase": extrapolated("increase"), "rate": extrapolated("rate"), "delta": extrapolated("delta"),
	"resets": resetsOf, "irate": instant("irate"), "idelta": instant("idelta"),
}

// overGroupsOfCounters returns a function of a range of groups of counters. Of other samples it is the engine's own.
func overGroupsOfCounters(name string) upstream.FunctionCall {
	plain, of := plainCalls[name], overCounters[name]
	return func(vectors []upstream.Vector, matrix upstream.Matrix, args parser.Expressions,
		enh *upstream.EvalNodeHelper) (upstream.Vector, annotations.Annotations) {
		it := iteratorOf(args)
		if it != nil && it.native != nil && it.native.grouped {
			return overGroupsOfHistograms(name, it, vectors, matrix, args, enh)
		}
		if it == nil || len(it.counts) == 0 || len(matrix) == 0 || len(matrix[0].Floats) == 0 {
			return plain(vectors, matrix, args, enh)
		}
		// The engine asks for a range of samples, whose values are their places.
		from := int(matrix[0].Floats[0].F)
		groups := it.counts[from : from+len(matrix[0].Floats)]
		ranged := args[len(args)-1].(*parser.MatrixSelector)
		selector := ranged.VectorSelector.(*parser.VectorSelector)
		if !slices.ContainsFunc(groups, counter.isGroup) {
			points := slices.Clone(matrix[0].Floats)
			for i := range points {
				points[i].F = groups[i].last
			}
			return plain(vectors, upstream.Matrix{{Metric: matrix[0].Metric, Floats: points}}, args, enh)
		}
		if selector.Anchored || selector.Smoothed {
			return plain(vectors, upstream.Matrix{{Metric: matrix[0].Metric, Floats: ends(groups)}}, args, enh)
		}
		end := enh.Ts - selector.Offset.Milliseconds()
		v, ok := of(groups, end-ranged.Range.Milliseconds(), end, ranged.Range)
		if !ok {
			return enh.Out, nil
		}
		return append(enh.Out, upstream.Sample{F: v}), nil
	}
}

// combiningCounters returns the function over ranges of an iterator of counters, which have that many ms.
func combiningCounters(it *iterator, function string, length int64) func(columns.Window) float64 {
	of := overCounters[function]
	return func(w columns.Window) float64 {
		v, ok := of(it.counts[w.From:w.To], w.Start, w.End, time.Duration(length)*time.Millisecond)
		if !ok {
			return columns.Absent()
		}
		return v
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

func extrapolated(name string) func([]counter, int64, int64, time.Duration) (float64, bool) {
	return func(groups []counter, start, end int64, length time.Duration) (float64, bool) {
		i := increase(groups, name != "delta")
		if i.Samples < 2 {
			return 0, false
		}
		from, to := covered(groups, start, end)
		v := columns.Rates[name].Extrapolate(&i, from, to, float64(to-from)/1000)
		if name != "rate" && to-from != end-start {
			v *= length.Seconds() * 1000 / float64(to-from)
		}
		return v, true
	}
}

// covered returns the range that groups stand for. It is the range of start and end, unless the first group begins
// before: then it begins with that group, and is as long.
func covered(groups []counter, start, end int64) (from, to int64) {
	first, last := &groups[0], &groups[len(groups)-1]
	switch {
	case first.begin >= start:
		return start, end
	case last.begin == last.end:
		return first.begin, end
	}
	return first.begin, max(first.begin+end-start, last.end)
}

func resetsOf(groups []counter, _, _ int64, _ time.Duration) (float64, bool) {
	resets := groups[0].resets
	for k := 1; k < len(groups); k++ {
		if groups[k].first < groups[k-1].last {
			resets++
		}
		resets += groups[k].resets
	}
	return resets, true
}

// instant takes the step to the last measure from the one before it. A group of more than two measures does not tell
// that one: the step is the mean of the group's.
func instant(name string) func([]counter, int64, int64, time.Duration) (float64, bool) {
	return func(groups []counter, _, _ int64, _ time.Duration) (float64, bool) {
		g := &groups[len(groups)-1]
		points := []upstream.FPoint{{T: g.firstTime, F: g.first}, {T: g.lastTime, F: g.last}}
		switch {
		case g.count < 2 && len(groups) < 2:
			return 0, false
		case g.count < 2:
			before := &groups[len(groups)-2]
			points[0] = upstream.FPoint{T: before.lastTime, F: before.last}
		case g.count > 2:
			i := increase(groups[len(groups)-1:], name == "irate")
			points[0].F = g.last - i.By/(g.count-1)
			points[0].T = g.lastTime - max(1, int64(math.Round(float64(g.lastTime-g.firstTime)/(g.count-1))))
		}
		out, _ := plainCalls[name](nil, upstream.Matrix{{Floats: points}}, nil, &upstream.EvalNodeHelper{})
		if len(out) == 0 {
			return 0, false
		}
		return out[0].F, true
	}
}

// ends returns the first and last measures of groups.
func ends(groups []counter) (points []upstream.FPoint) {
	for _, g := range groups {
		if g.count > 1 {
			points = append(points, upstream.FPoint{T: g.firstTime, F: g.first})
		}
		points = append(points, upstream.FPoint{T: g.lastTime, F: g.last})
	}
	return points
}

// unknown reports whether one of some columns is absent in a row.
func unknown(columns [][]float64, row int) bool {
	return slices.ContainsFunc(columns, func(values []float64) bool { return carbonara.IsAbsent(values[row]) })
}

// appendCounters makes samples of the columns of counters; inside reports whether a time is asked for. Of groups from
// before the policy had these columns, it takes the last measure.
func (s *series) appendCounters(it *iterator, groups *carbonara.Groups, p part, inside func(int64) bool) {
	var values [7][]float64
	for i, column := range counterColumns {
		values[i] = groups.Column(column)
	}
	after := int64(0) // ms, as of raw measures
	if s.rangesOfGroups() {
		after = 1
	}
	gauge := values[3] == nil // delta knows no resets
	older, untimed, leftOut := false, false, false
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
		c := counter{count: values[0][i], first: values[1][i], last: last, begin: milliseconds(start), end: t}
		if !gauge {
			c.resets, c.resetSum = values[3][i], values[4][i]
			c.firstTime, c.lastTime = at(values[5][i]), at(values[6][i])
		}
		switch {
		case unknown(values[:2], i) || !gauge && unknown(values[3:5], i):
			c = single(t, last)
			older = true
		case gauge && c.count == 1:
			c = single(t, last)
		case gauge || unknown(values[5:], i): // a rebuild inferred resets
			between := p.granularity.Seconds() / c.count
			c.firstTime, c.lastTime = at(between/2), at(p.granularity.Seconds()-between/2)
			untimed = true
		}
		it.addCounter(t, c)
	}
	if older {
		s.noteOlder("each count as one measure of %s: resets within them are not seen", s.selection.function)
	}
	switch {
	case untimed && gauge:
		s.note(info("delta takes the measures of groups as evenly spaced"))
	case untimed && s.selection.function != "resets":
		s.noteOlder("have no times of their measures: %s takes these as evenly spaced", s.selection.function)
	}
	if leftOut {
		s.noteLeftOut("last")
	}
}
