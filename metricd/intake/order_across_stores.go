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
	streams []stream
	own     [1]stream // memory of streams: most have one
}

// stream is runs of an origin, at least one. Each run is no earlier than the one before it, by its stamp and by all its
// measures, so runs are found by binary search. A sender that sends in order fills one stream: thousands of runs, while
// another store is away and nothing is settled. A late measure, or one that is ahead, begins another stream, and the
// measures in order that follow continue the first.
type stream struct {
	origin *Origin
	runs   []run
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

// add appends a run to the first stream that it continues.
func (u *unsettled) add(from *Origin, r run) {
	oldest := r.oldest()
	n := slices.IndexFunc(u.streams, func(s stream) bool {
		last := &s.runs[len(s.runs)-1]
		return s.origin == from && r.at >= last.at && oldest >= last.newest
	})
	if n < 0 {
		if n = len(u.streams); n == 0 {
			u.streams = u.own[:0]
		}
		u.streams = append(u.streams, stream{origin: from})
	}
	u.streams[n].runs = append(u.streams[n].runs, r)
}

// sentBefore returns how many runs have earlier stamps.
func (s *stream) sentBefore(at int64) int {
	return sort.Search(len(s.runs), func(i int) bool { return s.runs[i].at >= at })
}

// newestBefore returns the newest measure before a time in the first n runs, 0 for none. It is in the last run that
// ends before that time, or in the next run.
func (s *stream) newestBefore(until carbonara.Timestamp, n int) (newest carbonara.Timestamp) {
	i := sort.Search(n, func(i int) bool { return s.runs[i].newest >= until })
	for _, r := range s.runs[max(0, i-1):min(i+1, n)] {
		newest = max(newest, r.newestBefore(until))
	}
	return newest
}

// latest returns the latest run with a measure of this timestamp, nil for none.
func (s *stream) latest(t carbonara.Timestamp) *run {
	i := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].newest > t })
	if i < len(s.runs) && slices.Contains(s.runs[i].others, t) {
		return &s.runs[i]
	}
	if i > 0 && s.runs[i-1].has(t) {
		return &s.runs[i-1]
	}
	return nil
}

// isLater reports whether a run of the stream replaces the equal measures of a record.
func (s *stream) isLater(r *run, from *Origin, at int64) bool {
	return r.at > at || r.at == at && s.origin.source > from.source
}

// hasSince reports whether a measure of this timestamp or a later one is not settled.
func (u *unsettled) hasSince(t carbonara.Timestamp) bool {
	return slices.ContainsFunc(u.streams, func(s stream) bool { return s.runs[len(s.runs)-1].newest >= t })
}

// has reports whether a measure of this timestamp is not settled.
func (u *unsettled) has(t carbonara.Timestamp) bool {
	return slices.ContainsFunc(u.streams, func(s stream) bool { return s.latest(t) != nil })
}

// replaces reports whether a stream of another store has a later measure of the same timestamp than a record.
func (u *unsettled) replaces(t carbonara.Timestamp, from *Origin, at int64) bool {
	return slices.ContainsFunc(u.streams, func(s stream) bool {
		if s.origin.source == from.source {
			return false
		}
		r := s.latest(t)
		return r != nil && s.isLater(r, from, at)
	})
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

// Settle counts the runs that are settled by now as such.
func (j *Judge) Settle() {
	if j.unsettled != nil {
		j.settle(math.MinInt64)
	}
}

// settle counts runs up to a stamp as settled, and further runs that their origins have settled.
func (j *Judge) settle(upTo int64) {
	u := j.unsettled
	for i := range u.streams {
		s := &u.streams[i]
		n := 0
		for ; n < len(s.runs) && s.runs[n].at <= max(upTo, s.origin.settled); n++ {
			j.noteSettled(&s.runs[n])
		}
		clear(s.runs[:n])
		s.runs = s.runs[n:]
	}
	u.streams = slices.DeleteFunc(u.streams, func(s stream) bool { return len(s.runs) == 0 })
	if len(u.streams) == 0 {
		j.unsettled = nil
	}
	if j.ahead != nil {
		j.forgetAhead()
	}
}

// noteSettled counts a run as settled.
func (j *Judge) noteSettled(r *run) {
	if j.ahead != nil {
		j.advance(r.at)
		j.ahead.add(j.plan, r.newest, true)
		for _, t := range r.others {
			j.ahead.add(j.plan, t, true)
		}
	}
	j.unsettled.note(r, j.aheadFrom())
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
		newest = max(newest, j.ahead.settledBefore(until))
	}
	for i := range j.unsettled.streams {
		s := &j.unsettled.streams[i]
		n := len(s.runs)
		if s.origin.source != from.source {
			n = s.sentBefore(at - from.apart(s.origin))
		}
		newest = max(newest, s.newestBefore(until, n))
	}
	return newest
}

// hasLater reports whether there are runs of other stores whose measures replace equal ones of a record.
func (j *Judge) hasLater(from *Origin, at int64) bool {
	return j.unsettled != nil && slices.ContainsFunc(j.unsettled.streams, func(s stream) bool {
		return s.origin.source != from.source && s.isLater(&s.runs[len(s.runs)-1], from, at)
	})
}

// aheadFrom returns the earliest timestamp that is ahead.
func (j *Judge) aheadFrom() carbonara.Timestamp {
	if j.ahead == nil {
		return math.MaxInt64
	}
	return j.ahead.until
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

// Restore makes the judge continue what Unsettled returned, after Load.
func (j *Judge) Restore(newest carbonara.Timestamp, runs []Run) {
	j.unsettled = &unsettled{newest: newest}
	for _, kept := range runs {
		r := run{at: kept.At}
		for i, t := range kept.Timestamps {
			r.add(t, i == 0)
		}
		j.unsettled.add(kept.From, r)
	}
	if j.ahead != nil {
		j.ahead.later = slices.DeleteFunc(j.ahead.later, j.unsettled.has)
	}
}
