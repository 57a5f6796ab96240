package promql

import (
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/promql/columns"
)

// part is the time for which a series takes its samples from one granularity.
type part struct {
	granularity time.Duration       // 0: raw measures
	from, to    carbonara.Timestamp // of groups: they start at or after from, and start before to
	join        carbonara.Timestamp // where it joins older groups; 0: nowhere
}

// preference returns the granularities of a metric in the order in which they are to serve a time; 0 is raw measures.
func (s *series) preference() []time.Duration {
	all := s.metric.ArchivePolicy.Granularities()
	sel := s.selection
	if s.reading.raw {
		all = append([]time.Duration{0}, all...)
	}
	if g := s.reading.granularity; g > 0 {
		if s.reading.raw && sel.granularity == 0 && sel.coarsest == 0 {
			// A percentile is that of measures while they are kept, and that of wider groups where these are left.
			return slices.Delete(all, 1, slices.Index(all, g))
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
		if s.reading.raw {
			before = 1 // a measure at t is in (t-r, t]; it is not in the group that ends then
		}
		for i, g := range slices.Backward(all) {
			if g > 0 && sel.isAligned(g) {
				return slices.Concat(all[:before], preferring(all[before:], i-before))
			}
		}
	}
	return all
}

// stepOf returns the finest granularity, ascending, if all others are multiples of it.
func stepOf(granularities []time.Duration) time.Duration {
	for _, g := range granularities {
		if g%granularities[0] != 0 {
			return 1
		}
	}
	return granularities[0]
}

// preferring returns all with the i-th first.
func preferring(all []time.Duration, i int) []time.Duration {
	if i == 0 {
		return all
	}
	return append([]time.Duration{all[i]}, slices.Delete(slices.Clone(all), i, i+1)...)
}

// planned are the parts of a series whose raw measures begin and end then.
type planned struct {
	pushed      bool
	first, last carbonara.Timestamp // last: the start of its group of the reading's step
	parts       []part
}

// plan says which granularity serves which time, oldest first. kept are the raw measures that are kept. Most series of
// a reading have the same plan as the one before.
func (s *series) plan(kept carbonara.RawSpan) {
	if !kept.Any {
		s.makePlan(kept)
		return
	}
	p := planned{pushed: s.pushed, first: kept.KeptFrom, last: kept.Newest.Floor(s.reading.step)}
	if known := s.reading.planned.Load(); known != nil && known.pushed == p.pushed && known.first == p.first &&
		known.last == p.last {
		s.parts = known.parts
		return
	}
	s.makePlan(kept)
	p.parts = s.parts
	s.reading.planned.Store(&p)
}

func (s *series) makePlan(kept carbonara.RawSpan) {
	granularities := s.reading.preferred
	s.parts = nil
	before := carbonara.MaxTimestamp // groups end then or earlier
	for i := 0; i < len(granularities); {
		oldest := s.oldest(granularities[i], kept)
		next := i + 1 // that serves what is older
		for next < len(granularities) && s.oldest(granularities[next], kept) >= oldest {
			next++
		}
		p := part{granularity: granularities[i], to: before}
		if next < len(granularities) {
			p.from = oldest.Ceil(max(granularities[i], granularities[next]))
			p.join = p.from
		}
		if p.from < before {
			s.parts, before = append(s.parts, p), p.from
		}
		i = next
	}
	slices.Reverse(s.parts)
	older := false // an older part has samples
	for i := range s.parts {
		p := s.clip(s.parts[i])
		if older { // this part's first sample ends the older ones, even if it is not asked for itself
			p.from = s.parts[i].from
		}
		s.parts[i], older = p, older || p.from < p.to
	}
}

// oldest returns since when groups of a granularity are kept, or raw measures are complete.
func (s *series) oldest(granularity time.Duration, kept carbonara.RawSpan) carbonara.Timestamp {
	switch {
	case granularity == 0 && !kept.Any: // nothing is known of raw measures
		return carbonara.MaxTimestamp
	case granularity == 0:
		return kept.KeptFrom
	}
	p := s.metric.ArchivePolicy
	timespan, newest := p.Timespan(granularity), kept.Newest
	if timespan == 0 || !kept.Any {
		return 0
	}
	if kept.KeptFrom > newest && kept.KeptFrom < carbonara.MaxTimestamp { // groups expired by a newer one, now deleted
		all := p.Granularities()
		newest = kept.KeptFrom.Add(time.Duration(p.BackWindow+1) * all[len(all)-1])
	}
	return newest.Floor(granularity).Add(granularity - timespan)
}

// startOf returns the earliest start of a group that is asked for.
func (s *series) startOf(granularity time.Duration) carbonara.Timestamp {
	sel := s.selection
	first := sel.start
	if sel.length == 0 {
		first = sel.first - s.endsAfter(granularity) + 1
	} else if granularity == 0 && s.rangesOfGroups() {
		first--
	}
	if granularity == 0 {
		return timestampOf(first)
	}
	if s.readsBefore(granularity) {
		first -= granularity.Milliseconds()
	}
	return timestampOf(first).Add(-granularity - time.Millisecond)
}

// readsBefore reports whether a range may need the group before those that it touches.
func (s *series) readsBefore(granularity time.Duration) bool {
	sel := s.selection
	rates := s.reading.kind == readMethod && columns.Rates[sel.function] != nil
	return (rates || sel.function == "last_over_time") && sel.length < granularity.Milliseconds() && s.divides(granularity)
}

// divides reports whether ranges may have parts of groups of a granularity.
func (s *series) divides(granularity time.Duration) bool {
	return (!s.reading.ends || granularity > s.reading.granularity) && s.selection.divides(granularity)
}

// rangesOfGroups reports whether a range (t-r, t] has the measures of [t-r, t), as the groups of these times and the
// REST API have: a metric of a resource answers alike by either API, before and after its measures have gone. They
// count a millisecond later for it.
func (s *series) rangesOfGroups() bool { return !s.pushed && s.selection.length > 0 && s.reading.exact }

// clip returns what of a part is asked for, and has ended.
func (s *series) clip(p part) part {
	sel := s.selection
	p.from = max(p.from, s.startOf(p.granularity))
	if p.granularity == 0 {
		p.to = min(p.to, timestampOf(sel.end).Add(time.Millisecond))
		return p
	}
	if end := timestampOf(sel.end); s.divides(p.granularity) {
		p.to = min(min(p.to, sel.now).Add(1-p.granularity), end) // groups that begin in a range
	} else {
		p.to = min(p.to, sel.now, end).Add(1 - p.granularity)
	}
	return p
}

// endsAfter returns how many milliseconds after a last sample of this granularity the series ends. Raw measures count
// as the finest granularity: a client that sends them so rarely chose the archive policy for it.
func (s *series) endsAfter(granularity time.Duration) int64 {
	if lookback := s.selection.lookback; lookback > 0 {
		return lookback
	}
	if granularity == 0 {
		granularity = s.metric.ArchivePolicy.Granularities()[0]
	}
	return max(leastLookback, 2*granularity).Milliseconds()
}
