package promql

import (
	"context"
	"math"
	"slices"
	"strings"
	"time"

	common "github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/value"
	upstream "github.com/prometheus/prometheus/promql"

	"gnocco/carbonara"
	"gnocco/internal/budget"
	"gnocco/model"
	"gnocco/query"
)

// part is the time for which a series takes its samples from one granularity.
type part struct {
	granularity time.Duration       // 0: raw measures
	from, to    carbonara.Timestamp // of groups: they start at or after from, and start before to
}

// preference returns the granularities of a metric, those that serve a time first being first; 0 is raw measures.
func (s *series) preference() []time.Duration {
	all := s.metric.ArchivePolicy.Granularities()
	sel := s.selection
	if s.reading.raw {
		all = append([]time.Duration{0}, all...)
	}
	if g := s.reading.granularity; g > 0 {
		if s.reading.raw && sel.granularity == 0 && sel.coarsest == 0 { // a percentile of measures, while they are kept
			return []time.Duration{0, g}
		}
		return []time.Duration{g}
	}
	if sel.coarsest > 0 { // the coarsest that is fine enough, then what is next to it
		i, found := slices.BinarySearch(all, sel.coarsest)
		if !found {
			i = max(i-1, 0)
		}
		return preferring(all, i)
	}
	if s.reading.exact {
		before := 0 // that serve before any coarser one
		if s.reading.raw && s.metric.Labels != "" {
			before = 1 // in Prometheus a measure at t is in (t-r, t]; it is not in the group that ends then
		}
		for i, g := range slices.Backward(all) {
			if g > 0 && sel.isAligned(g) {
				return slices.Concat(all[:before], preferring(all[before:], i-before))
			}
		}
	}
	return all
}

// preferring returns all with the i-th first.
func preferring(all []time.Duration, i int) []time.Duration {
	if i == 0 {
		return all
	}
	return append([]time.Duration{all[i]}, slices.Delete(slices.Clone(all), i, i+1)...)
}

// plan says where the samples come from, oldest first. end are raw measures: since when they are kept, and the newest.
func (s *series) plan(end *carbonara.Groups) {
	granularities := s.preference()
	s.parts = s.parts[:0]
	before := carbonara.MaxTimestamp // groups end then or earlier
	for i := 0; i < len(granularities); {
		oldest := s.oldest(granularities[i], end)
		next := i + 1 // that serves what is older
		for next < len(granularities) && s.oldest(granularities[next], end) >= oldest {
			next++
		}
		p := part{granularity: granularities[i], to: before}
		if next < len(granularities) {
			p.from = ceil(oldest, max(granularities[i], granularities[next]))
		}
		if p.from < before {
			s.parts, before = append(s.parts, p), p.from
		}
		i = next
	}
	slices.Reverse(s.parts)
	older := false // samples that go on may be asked for
	for i := range s.parts {
		p := s.clip(s.parts[i])
		if older { // what comes after them ends them, be it not asked for itself
			p.from = s.parts[i].from
		}
		s.parts[i], older = p, older || p.from < p.to
	}
}

// oldest returns from where on groups of a granularity are kept, or raw measures are complete.
func (s *series) oldest(granularity time.Duration, end *carbonara.Groups) carbonara.Timestamp {
	n := end.Len()
	switch {
	case granularity == 0 && n == 0: // nothing is known of raw measures
		return carbonara.MaxTimestamp
	case granularity == 0:
		return end.Starts[0] + 1
	}
	timespan := s.metric.ArchivePolicy.Timespan(granularity)
	if timespan == 0 || n == 0 {
		return 0
	}
	return end.Starts[n-1].Floor(granularity).Add(granularity - timespan)
}

// rawEnd asks since when raw measures are kept, and for the newest.
func (s *series) rawEnd() model.Read {
	return model.Read{Metric: s.metric, Columns: rawColumns}
}

var rawColumns = []carbonara.Column{carbonara.ColumnLast}

func (s *series) staleness() *query.Staleness { return s.selection.source.Staleness }

// startOf returns when the first group may start that is asked for.
func (s *series) startOf(granularity time.Duration) carbonara.Timestamp {
	sel := s.selection
	first := sel.start
	if sel.length == 0 {
		first = sel.first - s.endsAfter(granularity) + 1
	}
	if granularity == 0 {
		return timestampOf(first)
	}
	return timestampOf(first).Add(-granularity - time.Millisecond)
}

// clip returns what of a part is asked for, and has ended.
func (s *series) clip(p part) part {
	sel := s.selection
	p.from = max(p.from, s.startOf(p.granularity))
	if p.granularity == 0 {
		p.to = min(p.to, timestampOf(sel.end).Add(time.Millisecond))
		return p
	}
	p.to = min(p.to, sel.now, timestampOf(sel.end)).Add(1 - p.granularity)
	return p
}

// ceil returns the first multiple of a granularity at or after t.
func ceil(t carbonara.Timestamp, granularity time.Duration) carbonara.Timestamp {
	if floor := t.Floor(granularity); floor < t {
		return floor.Add(granularity)
	}
	return t
}

// endsAfter returns after how many milliseconds the series ends, if its last sample is of a granularity. Raw measures end it as
// its finest granularity does: who sends them as rarely as this chose the archive policy for it.
func (s *series) endsAfter(granularity time.Duration) int64 {
	if lookback := s.selection.lookback; lookback > 0 {
		return lookback
	}
	if granularity == 0 {
		granularity = s.metric.ArchivePolicy.Granularities()[0]
	}
	return max(leastLookback, 2*granularity).Milliseconds()
}

// readOf asks for a part's groups.
func (s *series) readOf(p part) model.Read {
	if p.granularity == 0 {
		return model.Read{Metric: s.metric, Columns: rawColumns, From: p.from, To: p.to}
	}
	return model.Read{Metric: s.metric, Granularity: p.granularity, Columns: s.reading.columns, From: p.from.Floor(p.granularity), To: p.to}
}

// prefetch plans all series and asks other processes for what they hold, at once.
func (sel *selection) prefetch(ctx context.Context, all []*series) error {
	archives, staleness := sel.source.engine.options.Archives, sel.source.Staleness
	reads := make([]model.Read, 0, len(all))
	for _, s := range all {
		reads = append(reads, s.rawEnd())
	}
	ends, err := archives.Prefetch(ctx, reads, staleness)
	if err != nil {
		return err
	}
	err = eachRun(ctx, all, func(ctx context.Context, memory *scratch, run []*series) error {
		var reads []model.Read
		for _, s := range run {
			reads = append(reads, s.rawEnd())
		}
		return ends.EachGroups(ctx, reads, staleness, &memory.groups, func(i int) error {
			run[i].plan(&memory.groups)
			budget.Of(ctx).Give(budget.Answers, int64(memory.groups.Bytes()))
			return nil
		})
	})
	if err != nil {
		return err
	}
	reads = reads[:0]
	var origins []time.Duration
	served := timestampOf(sel.first) // what is older is only looked back at
	if sel.length > 0 {
		served = timestampOf(sel.start)
	}
	for _, s := range all {
		for _, p := range s.parts {
			if p.from >= p.to {
				continue
			}
			if s.reading.note != nil && p.granularity > 0 {
				sel.notes.Add(s.reading.note)
			}
			if p.to.Add(p.granularity) > served && !slices.Contains(origins, p.granularity) {
				origins = append(origins, p.granularity)
			}
			reads = append(reads, s.readOf(p))
		}
	}
	sel.noteOrigins(origins)
	found, err := archives.Prefetch(ctx, reads, staleness)
	for _, s := range all {
		s.archives = found
	}
	return err
}

// noteOrigins says which granularities a selector was answered from, unless it was measures themselves.
func (sel *selection) noteOrigins(origins []time.Duration) {
	slices.Sort(origins)
	if !sel.source.Origins || len(origins) == 0 || origins[len(origins)-1] == 0 {
		return
	}
	var list []string
	for _, g := range origins {
		if g == 0 {
			list = append(list, "raw measures")
		} else {
			list = append(list, "granularity "+common.Duration(g).String())
		}
	}
	sel.notes.Add(info("%s is answered from %s", sel.selector, strings.Join(list, ", ")))
}

// scratch is the memory of reading one series.
type scratch struct {
	groups carbonara.Groups
	starts []carbonara.Timestamp
	values []float64
}

func (s *scratch) bytes() int { return s.groups.Capacity() + 8*(cap(s.starts)+cap(s.values)) }

var scratches budget.Pool[scratch]

// take makes samples of a part's groups.
func (s *series) take(it *iterator, memory *scratch, p part) error {
	if len(it.times)+memory.groups.Len() > s.selection.source.engine.options.MaxSamples {
		return upstream.ErrTooManySamples("reading a series")
	}
	it.grow(memory.groups.Len(), s.reading.kind == readMoments)
	s.append(it, memory, p)
	return nil
}

// finish ends the series after its last sample.
func (s *series) finish(it *iterator) {
	if s.selection.length == 0 {
		it.endBefore(math.MaxInt64)
	}
}

// append makes samples of groups.
func (s *series) append(it *iterator, memory *scratch, p part) {
	sel, groups := s.selection, &memory.groups
	it.ends = s.endsAfter(p.granularity)
	inside := func(t int64) bool { return t >= sel.start && t <= sel.end }
	switch {
	case p.granularity == 0:
		s.appendRaw(it, groups, p)
		return
	case s.reading.kind == readMoments:
		count, sum, m2 := groups.Column(carbonara.ColumnCount), groups.Column(carbonara.ColumnSum), groups.Column(carbonara.ColumnM2)
		for i, start := range groups.Starts {
			m := moments{count: count[i], sum: sum[i]}
			if m2 != nil {
				m.m2 = m2[i]
			}
			if t := milliseconds(start.Add(p.granularity)); m.count > 0 && !carbonara.IsAbsent(m.sum) && !carbonara.IsAbsent(m.m2) && inside(t) {
				it.addMoments(t, m)
			}
		}
		return
	}
	memory.starts, memory.values = groups.Aggregate(s.reading.method, memory.starts[:0], memory.values[:0])
	for i, start := range memory.starts {
		if t := milliseconds(start.Add(p.granularity)); inside(t) {
			v := memory.values[i]
			if s.reading.kind == readOne {
				v = 1
			}
			s.add(it, t, v)
		}
	}
}

// appendRaw makes samples of raw measures.
func (s *series) appendRaw(it *iterator, groups *carbonara.Groups, p part) {
	sel := s.selection
	for i, at := range groups.Starts {
		v := groups.Values[0][i]
		if at < p.from || at >= p.to || carbonara.IsAbsent(v) {
			continue
		}
		t := int64(at) / 1_000_000
		if n := len(it.times); n > 0 && it.times[n-1] == t && at == p.from {
			t++ // the group before ends there
		}
		switch {
		case t < sel.start || t > sel.end:
		case value.IsStaleNaN(v): // the series ends
			if s.reading.kind != readMoments {
				it.add(t, v)
			}
		case s.reading.kind == readMoments:
			it.addMoments(t, moments{1, v, 0})
		case s.reading.kind == readOne || s.reading.method == carbonara.Count:
			s.add(it, t, 1)
		default:
			s.add(it, t, v)
		}
	}
}

// add adds a sample, and before it where the series had ended.
func (s *series) add(it *iterator, t int64, v float64) {
	if s.selection.length == 0 {
		it.endBefore(t)
	}
	it.add(t, v)
	it.lives = it.ends
}
