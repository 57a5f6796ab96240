package intake

import (
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// unsettled is what a judge remembers while some measures are not settled.
type unsettled struct {
	newest carbonara.Timestamp // of the settled ones that are not ahead; 0 for none
	runs   []run               // in the order of processing
}

// run is the measures of one request that are not settled.
type run struct {
	origin *Origin
	at     int64
	newest carbonara.Timestamp
	others []carbonara.Timestamp
}

func (r *run) has(t carbonara.Timestamp) bool { return t == r.newest || slices.Contains(r.others, t) }

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

// setLimitsFrom is SetLimits where several stores bring measures.
func (j *Judge) setLimitsFrom(l *Limits) {
	j.Settle()
	l.present, l.settled = j.Present(), j.settled()
	before := j.newestBefore(l.from, l.at)
	l.oldest = j.oldestBy(before)
	l.inOrder = max(l.oldest, before)
	l.behind = j.runsBehind(l.from, l.at)
}

// noteRun remembers the measures of a request that counted, or counts them as settled.
func (j *Judge) noteRun(l *Limits, timestamps []carbonara.Timestamp) {
	if l.at <= l.from.settled && j.unsettled == nil {
		return
	}
	r := run{origin: l.from, at: l.at}
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
		j.unsettled.runs = append(j.unsettled.runs, r)
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
	u.runs = slices.DeleteFunc(u.runs, func(r run) bool {
		if r.at > r.origin.settled {
			return false
		}
		u.note(&r, j.aheadFrom())
		return true
	})
	if len(u.runs) == 0 {
		j.unsettled = nil
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
	for i := range j.unsettled.runs {
		r := &j.unsettled.runs[i]
		if r.newest > newest && (r.origin.source == from.source || at-r.at > from.apart(r.origin)) {
			newest = max(newest, r.newestBefore(until))
		}
	}
	return newest
}

// runsBehind returns the runs of other stores whose measures replace those of a record.
func (j *Judge) runsBehind(from *Origin, at int64) (later []run) {
	if j.unsettled == nil {
		return nil
	}
	for _, r := range j.unsettled.runs {
		if r.origin.source != from.source && (r.at > at || r.at == at && r.origin.source > from.source) {
			later = append(later, r)
		}
	}
	return later
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
		if !slices.ContainsFunc(j.unsettled.runs, func(r run) bool { return r.has(t) }) {
			return t
		}
	}
	return 0
}

// WaitsForOthers reports whether measures of other stores than this one are unsettled.
func (j *Judge) WaitsForOthers(source string) bool {
	return j.unsettled != nil &&
		slices.ContainsFunc(j.unsettled.runs, func(r run) bool { return r.origin.source != source })
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
	for _, r := range j.unsettled.runs {
		runs = append(runs, Run{r.origin, r.at, append([]carbonara.Timestamp{r.newest}, r.others...)})
	}
	return j.unsettled.newest, runs, true
}

// Restore makes the judge continue what Unsettled returned.
func (j *Judge) Restore(newest carbonara.Timestamp, runs []Run) {
	j.unsettled = &unsettled{newest: newest}
	for _, kept := range runs {
		r := run{origin: kept.From, at: kept.At}
		for i, t := range kept.Timestamps {
			r.add(t, i == 0)
		}
		j.unsettled.runs = append(j.unsettled.runs, r)
	}
}
