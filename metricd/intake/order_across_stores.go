package intake

import (
	"math"
	"slices"
	"sort"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// unsettled is what a judge remembers while some measures are not settled.
type unsettled struct {
	newest  carbonara.Timestamp // of the settled ones that are not ahead; 0 for none
	streams []stream            // with runs
	own     [1]stream           // memory of streams: most have one
}

// stream is the runs of an origin, in the order of processing. There may be thousands, while another store is away and
// nothing is settled, and each record is judged by all of them.
type stream struct {
	origin *Origin
	runs   []run
	// Each run is later than the one before it by its stamp, and its measures are no earlier: the sender has sent in
	// order, so runs are found by binary search.
	ascending bool
}

// run is the measures of one request that are not settled.
type run struct {
	at     int64
	newest carbonara.Timestamp
	others []carbonara.Timestamp
}

func (r *run) has(t carbonara.Timestamp) bool { return t == r.newest || slices.Contains(r.others, t) }

func (r *run) oldest() carbonara.Timestamp {
	if len(r.others) == 0 {
		return r.newest
	}
	return min(r.newest, slices.Min(r.others))
}

// add appends a timestamp; the first one makes the run.
func (r *run) add(t carbonara.Timestamp, first bool) {
	if first {
		r.newest = t
		return
	}
	if t > r.newest {
		r.newest, t = t, r.newest
	}
	r.others = append(r.others, t)
}

// newestBefore returns the newest of the measures before a time, 0 for none.
func (r *run) newestBefore(until carbonara.Timestamp) (newest carbonara.Timestamp) {
	if r.newest < until {
		return r.newest
	}
	for _, t := range r.others {
		if t < until {
			newest = max(newest, t)
		}
	}
	return newest
}

// note counts a run as settled. Measures at until or later are ahead.
func (u *unsettled) note(r *run, until carbonara.Timestamp) {
	u.newest = max(u.newest, r.newestBefore(until))
}

func (u *unsettled) add(from *Origin, r run) {
	n := slices.IndexFunc(u.streams, func(s stream) bool { return s.origin == from })
	if n < 0 {
		if n = len(u.streams); n == 0 {
			u.streams = u.own[:0]
		}
		u.streams = append(u.streams, stream{origin: from, ascending: true})
	}
	s := &u.streams[n]
	if n := len(s.runs); n > 0 {
		last := &s.runs[n-1]
		s.ascending = s.ascending && r.at > last.at && r.oldest() >= last.newest
	}
	s.runs = append(s.runs, r)
}

// sentBefore returns the runs with earlier stamps; if they are not ascending, all.
func (s *stream) sentBefore(at int64) []run {
	if !s.ascending {
		return s.runs
	}
	return s.runs[:sort.Search(len(s.runs), func(i int) bool { return s.runs[i].at >= at })]
}

// isLater reports whether a run of the stream replaces the equal measures of a record.
func (s *stream) isLater(r *run, from *Origin, at int64) bool {
	return r.at > at || r.at == at && s.origin.source > from.source
}

// has reports whether a measure of this timestamp is not settled.
func (u *unsettled) has(t carbonara.Timestamp) bool {
	return slices.ContainsFunc(u.streams, func(s stream) bool {
		return slices.ContainsFunc(s.runs, func(r run) bool { return r.has(t) })
	})
}

// replaces reports whether a stream of another store has a later measure of the same timestamp than a record.
func (u *unsettled) replaces(t carbonara.Timestamp, from *Origin, at int64) bool {
	for i := range u.streams {
		s := &u.streams[i]
		if s.origin.source == from.source {
			continue
		}
		runs := s.runs
		if s.ascending {
			runs = runs[sort.Search(len(runs), func(i int) bool { return runs[i].newest >= t }):]
		}
		for i := range runs {
			if runs[i].has(t) && s.isLater(&runs[i], from, at) {
				return true
			}
			if s.ascending && runs[i].newest > t {
				break
			}
		}
	}
	return false
}

// setLimitsFrom is SetLimits where several stores bring measures.
func (j *Judge) setLimitsFrom(l *Limits) {
	j.Settle()
	l.present, l.settled = j.Present(), j.settled()
	before := j.newestBefore(l.from, l.at)
	l.oldest = j.oldestBy(before)
	l.inOrder = max(l.oldest, before)
	if j.hasLater(l.from, l.at) {
		l.later = j.unsettled
	}
}

// noteRun remembers the measures of a request that counted, or counts them as settled.
func (j *Judge) noteRun(l *Limits, timestamps []carbonara.Timestamp) {
	if l.at <= l.from.settled && j.unsettled == nil {
		return
	}
	r := run{at: l.at}
	first := true
	for _, t := range timestamps {
		if l.Verdict(t)&Counts != 0 {
			r.add(t, first)
			first = false
		}
	}
	if l.at > l.from.settled {
		if j.unsettled == nil {
			j.unsettled = &unsettled{newest: l.settled}
		}
		j.unsettled.add(l.from, r)
	} else if j.unsettled != nil {
		j.unsettled.note(&r, j.aheadFrom())
	}
}

// Settle forgets the runs that are settled by now.
func (j *Judge) Settle() {
	u := j.unsettled
	if u == nil {
		return
	}
	for i := range u.streams {
		s := &u.streams[i]
		if s.ascending && s.runs[0].at > s.origin.settled {
			continue
		}
		s.runs = slices.DeleteFunc(s.runs, func(r run) bool {
			if r.at > s.origin.settled {
				return false
			}
			if j.ahead != nil {
				j.advance(r.at)
			}
			u.note(&r, j.aheadFrom())
			return true
		})
	}
	u.streams = slices.DeleteFunc(u.streams, func(s stream) bool { return len(s.runs) == 0 })
	if len(u.streams) == 0 {
		j.unsettled = nil
	}
	if j.ahead != nil && len(j.ahead.later) == 0 {
		j.ahead = nil
	}
}

// settled returns the newest settled measure that is not ahead, 0 for none.
func (j *Judge) settled() carbonara.Timestamp {
	if j.unsettled != nil {
		return j.unsettled.newest
	}
	return j.Present()
}

// newestBefore returns the newest of the measures that surely come before a record and are not ahead of it, 0 for none.
func (j *Judge) newestBefore(from *Origin, at int64) carbonara.Timestamp {
	if j.unsettled == nil {
		return j.presentAt(at)
	}
	newest, until := j.unsettled.newest, j.aheadFrom()
	if j.ahead != nil {
		until = max(until, model.AheadFrom(j.plan, at))
		newest = max(newest, j.settledBefore(until))
	}
	for i := range j.unsettled.streams {
		s := &j.unsettled.streams[i]
		runs, surely := s.runs, int64(math.MaxInt64)
		if s.origin.source != from.source {
			surely = at - from.apart(s.origin)
			runs = s.sentBefore(surely)
		}
		for i := len(runs) - 1; i >= 0; i-- {
			r := &runs[i]
			if r.newest > newest && r.at < surely {
				newest = max(newest, r.newestBefore(until))
			}
			if s.ascending && r.newest <= newest {
				break // as are those before it
			}
		}
	}
	return newest
}

// hasLater reports whether there are runs of other stores whose measures replace equal ones of a record.
func (j *Judge) hasLater(from *Origin, at int64) bool {
	return j.unsettled != nil && slices.ContainsFunc(j.unsettled.streams, func(s stream) bool {
		runs := s.runs
		if s.ascending {
			runs = runs[len(runs)-1:]
		}
		return s.origin.source != from.source &&
			slices.ContainsFunc(runs, func(r run) bool { return s.isLater(&r, from, at) })
	})
}

// aheadFrom returns the earliest timestamp that is ahead.
func (j *Judge) aheadFrom() carbonara.Timestamp {
	if j.ahead == nil {
		return math.MaxInt64
	}
	return j.ahead.until
}

// settledBefore returns the newest settled measure before a time that was ahead so far, 0 for none.
func (j *Judge) settledBefore(until carbonara.Timestamp) carbonara.Timestamp {
	if j.ahead == nil {
		return 0
	}
	for _, t := range slices.Backward(j.ahead.later[:j.ahead.before(until)]) {
		if !j.unsettled.has(t) {
			return t
		}
	}
	return 0
}

// WaitsForOthers reports whether measures of other stores than this one are unsettled.
func (j *Judge) WaitsForOthers(source string) bool {
	return j.unsettled != nil &&
		slices.ContainsFunc(j.unsettled.streams, func(s stream) bool { return s.origin.source != source })
}

// Run is the unsettled measures of one request as an archive keeps them, at least one.
type Run struct {
	From       *Origin
	At         int64
	Timestamps []carbonara.Timestamp
}

// IsSettled reports whether all measures are settled.
func (j *Judge) IsSettled() bool { return j.unsettled == nil }

// Unsettled returns what an archive has to keep of unsettled measures: the newest settled one, 0 for none, and the
// runs. ok is false if all measures are settled.
func (j *Judge) Unsettled() (newest carbonara.Timestamp, runs []Run, ok bool) {
	if j.unsettled == nil {
		return 0, nil, false
	}
	for _, s := range j.unsettled.streams {
		for _, r := range s.runs {
			runs = append(runs, Run{s.origin, r.at, append([]carbonara.Timestamp{r.newest}, r.others...)})
		}
	}
	return j.unsettled.newest, runs, true
}

// Restore makes the judge continue what Unsettled returned.
func (j *Judge) Restore(newest carbonara.Timestamp, runs []Run) {
	j.unsettled = &unsettled{newest: newest}
	for _, kept := range runs {
		r := run{at: kept.At}
		for i, t := range kept.Timestamps {
			r.add(t, i == 0)
		}
		j.unsettled.add(kept.From, r)
	}
}
