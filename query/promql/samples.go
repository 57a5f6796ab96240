package promql

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/prometheus/prometheus/model/value"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// scratch is the memory of reading one series.
type scratch struct {
	groups carbonara.Groups
	starts []carbonara.Timestamp
	values []float64
	it     iterator        // of a series that a pipeline goes through
	row    columns.Scratch // of its row
}

func (s *scratch) bytes() int {
	return s.groups.Capacity() + 8*(cap(s.starts)+cap(s.values)) + int(s.it.bytes()) + s.row.Bytes()
}

var scratches budget.Pool[scratch]

// charge takes memory for the samples of the series in it, as far as earlier ones needed less.
func (s *scratch) charge(ctx context.Context) error {
	more := s.it.bytes() - s.it.taken
	if more <= 0 {
		return nil
	}
	s.it.taken += more
	return budget.Of(ctx).Acquire(budget.Answers, more)
}

// cover returns what gives back the memory that take takes from now on.
func (s *scratch) cover(ctx context.Context) (end func()) {
	s.it.taken = 0
	return func() {
		budget.Of(ctx).Release(budget.Answers, s.it.taken)
		s.it.taken = 0
	}
}

// appendPart appends the samples of a part's groups.
func (s *series) appendPart(it *iterator, memory *scratch, p part) error {
	if len(it.times)+memory.groups.Len() > s.selection.source.engine.options.MaxSamples {
		return upstream.ErrTooManySamples("reading a series")
	}
	it.grow(memory.groups.Len(), s.reading.kind)
	it.every = it.every || s.countsEvery()
	if f := s.selection.function; s.gauge && p.granularity > 0 && memory.groups.Len() > 0 &&
		(f == "" || f == "first_over_time" || f == "last_over_time") {
		s.note(warning("gauge histograms of groups also show buckets that were populated at another time of the group"))
	}
	s.append(it, memory, p)
	return nil
}

// countsAll are the functions for which all measures of a ms count. Others have the last of them.
var countsAll = []string{countFunction, avgFunction, stddevFunction, stdvarFunction, quantileFunction, "sum_over_time",
	"min_over_time", "max_over_time", "first_over_time", "last_over_time", "rate", "increase", "delta", "resets"}

// countsEvery reports whether all measures of a ms count. The parts of a native histogram have the last one.
func (s *series) countsEvery() bool {
	sel := s.selection
	return sel.length > 0 && !sel.extended && !s.joined &&
		(slices.Contains(countsAll, sel.function) || sel.function == "" && sel.source.Repeats)
}

// finish ends the series after its last sample.
func (s *series) finish(it *iterator) {
	if it.begins != nil {
		it.cover()
	}
	if s.selection.extended && len(it.counts) > 0 && !s.joined {
		it.setEnds()
	}
	if s.selection.length == 0 {
		it.endBefore(math.MaxInt64)
	}
}

// append makes samples of groups.
func (s *series) append(it *iterator, memory *scratch, p part) {
	sel, groups := s.selection, &memory.groups
	it.partStaleAfter = s.endsAfter(p.granularity)
	least, most, divides := sel.start, sel.end, p.granularity > 0 && s.divides(p.granularity)
	if divides {
		if most += p.granularity.Milliseconds() - 1; s.readsBefore(p.granularity) {
			least -= p.granularity.Milliseconds()
		}
	}
	inside := func(t int64) bool { return t >= least && t <= most }
	begin := func(start carbonara.Timestamp) int64 {
		if divides {
			return milliseconds(start)
		}
		return math.MaxInt64
	}
	switch {
	case p.granularity == 0:
		s.appendRaw(it, groups, p)
		return
	case s.reading.kind == readMoments:
		s.appendMoments(it, groups, p, inside, begin)
		return
	case s.reading.kind == readCounter:
		s.appendCounters(it, groups, p, inside, begin)
		return
	case s.reading.kind == readSketch:
		s.appendSketches(it, groups, p, inside, begin)
		return
	}
	memory.starts, memory.values = groups.Aggregate(s.reading.method, memory.starts[:0], memory.values[:0])
	if m := s.reading.method; len(memory.starts) < groups.Len() && !m.IsRate() && m != carbonara.Std {
		if known := len(memory.starts); !groups.Lead || known+1 < groups.Len() {
			s.noteLeftOut(m.String())
		}
	}
	added := 0
	if !divides && s.reading.kind == readMethod && p.granularity%time.Millisecond == 0 && len(it.times) == 0 {
		b := bounds{least, most, p.granularity.Milliseconds(), math.MaxInt64}
		if it.staleAfter = it.partStaleAfter; sel.length == 0 {
			b.staleAfter = it.staleAfter
		}
		added = it.addValues(memory.starts, memory.values, b)
	}
	for i, start := range memory.starts[added:] {
		if t := milliseconds(start.Add(p.granularity)); inside(t) {
			v := memory.values[added+i]
			if s.reading.kind == readOne {
				v = 1
			}
			it.addGroup(t, begin(start))
			s.add(it, t, v)
		}
	}
	s.noteNaN(groups)
}

// appendMoments makes samples of groups' moments; inside reports whether a time is asked for, and begin returns since
// when a group covers time.
func (s *series) appendMoments(it *iterator, groups *carbonara.Groups, p part, inside func(int64) bool,
	begin func(carbonara.Timestamp) int64) {
	count, sum := groups.Column(carbonara.ColumnCount), groups.Column(carbonara.ColumnSum)
	m2 := groups.Column(carbonara.ColumnM2)
	leftOut := false
	for i, start := range groups.Starts {
		m := moments{count: count[i], sum: sum[i]}
		if m2 != nil {
			m.m2 = m2[i]
		} else if math.IsInf(m.sum, 0) {
			m.m2 = groups.Mean(i)
		}
		t := milliseconds(start.Add(p.granularity))
		switch whole := m.count > 0 && !carbonara.IsAbsent(m.sum) && !carbonara.IsAbsent(m.m2); {
		case !inside(t):
		case whole:
			it.addGroup(t, begin(start))
			it.addMoments(t, m)
		default:
			leftOut = true
		}
	}
	if leftOut {
		s.noteLeftOut(s.selection.shownFunction())
	}
}

// late returns how many ms after its time a raw measure is a sample.
func (s *series) late() int64 {
	if s.rangesOfGroups() {
		return 1
	}
	return 0
}

// measuresOf returns the places of the raw measures of a part.
func (s *series) measuresOf(groups *carbonara.Groups, p part) (from, to int) {
	from, to = groups.Search(p.from), groups.Search(p.to)
	if from < to && groups.Starts[from] == p.join && s.selection.length > 0 && s.reading.exact && s.late() == 0 {
		from++ // in a range of Prometheus, the group that ends there stands for it
	}
	return from, to
}

// appendRaw makes samples of raw measures.
func (s *series) appendRaw(it *iterator, groups *carbonara.Groups, p part) {
	sel, after := s.selection, s.late()
	from, to := s.measuresOf(groups, p)
	combined := s.reading.kind == readMoments || s.reading.kind == readCounter || s.reading.kind == readSketch
	asValues := it.plain && combined ||
		s.reading.kind == readMethod && s.reading.method != carbonara.Count
	if asValues && (sel.length > 0 || len(it.times) == 0) {
		b := bounds{sel.start, sel.end, after, math.MaxInt64}
		if it.staleAfter = it.partStaleAfter; sel.length == 0 {
			b.staleAfter = it.staleAfter
		}
		from += it.addValues(groups.Starts[from:to], groups.Values[0][from:to], b)
	}
	for i := from; i < to; i++ {
		at, v := groups.Starts[i], groups.Values[0][i]
		t := int64(at)/1_000_000 + after
		switch {
		case carbonara.IsAbsent(v), t < sel.start, t > sel.end:
		case value.IsStaleNaN(v): // the series ends
			if !combined {
				it.add(t, v)
			}
		case s.reading.kind == readMoments:
			it.addMoments(t, moments{1, v, 0})
		case s.reading.kind == readCounter:
			s.addCounter(it, t, single(t, v))
		case s.reading.kind == readSketch:
			it.addShare(t, share{value: v})
		case s.reading.kind == readOne || s.reading.method == carbonara.Count:
			s.add(it, t, 1)
		default:
			s.add(it, t, v)
		}
	}
}

// add adds a sample. If the series had ended since the one before, it marks that end first.
func (s *series) add(it *iterator, t int64, v float64) {
	if s.selection.length == 0 {
		it.endBefore(t)
	}
	it.add(t, v)
	it.staleAfter = it.partStaleAfter
}

// addCounter is add for groups of counters.
func (s *series) addCounter(it *iterator, t int64, c counter) {
	if s.selection.length == 0 {
		it.endBefore(t)
	}
	it.addCounter(t, c)
	it.staleAfter = it.partStaleAfter
}

// milliseconds is a time, rounded up: a group is no sample before it has ended.
func milliseconds(t carbonara.Timestamp) int64 {
	return int64((t + 999_999) / 1_000_000)
}

func timestampOf(ms int64) carbonara.Timestamp {
	const most = math.MaxInt64 / 1_000_000
	return carbonara.Timestamp(min(max(ms, 0), most) * 1_000_000)
}
