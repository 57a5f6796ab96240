package intake

import (
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// A measure is ahead while its block is later than the block after that of the latest request (rule 12 of package
// carbonara). It is kept and read like any other, but it makes nothing too old, and nothing expires because of it. The
// latest measure that is not ahead is the metric's present. When time has come to measures that were ahead, they count:
// the present of a metric of forecasts follows the clock.
//
// The raw series holds all measures from the present on, and its youngest chunk says which one that is. So a judge
// that is made from the archive knows what lies ahead.

// ahead is what a judge remembers while some measures are ahead.
type ahead struct {
	until   carbonara.Timestamp   // earlier measures are not ahead; the start of a block, or after all of these
	present carbonara.Timestamp   // the newest of these; 0 for none
	later   []carbonara.Timestamp // the newest settled measure of each block from until on, ascending
}

// mostAhead is how many blocks with measures ahead a judge may have that outlives a checkpoint.
const mostAhead = 64

// HasAhead reports whether measures are ahead.
func (j *Judge) HasAhead() bool { return j.ahead != nil }

// HasMuchAhead reports whether measures are ahead in so many blocks that the archive should remember them instead.
func (j *Judge) HasMuchAhead() bool { return j.ahead != nil && len(j.ahead.later) > mostAhead }

// before returns how many of later are before a time.
func (a *ahead) before(t carbonara.Timestamp) int {
	n, _ := slices.BinarySearch(a.later, t)
	return n
}

// settledBefore returns the newest settled measure that was ahead so far and is before a time, 0 for none.
func (a *ahead) settledBefore(until carbonara.Timestamp) carbonara.Timestamp {
	if n := a.before(until); n > 0 {
		return a.later[n-1]
	}
	return 0
}

// add counts a measure. An unsettled one that is ahead is with its run alone.
func (a *ahead) add(plan *carbonara.Plan, t carbonara.Timestamp, settled bool) {
	if t < a.until {
		a.present = max(a.present, t)
		return
	}
	if !settled {
		return
	}
	n, found := slices.BinarySearch(a.later, t)
	block := t.Floor(plan.Coarsest())
	switch {
	case found:
	case n < len(a.later) && a.later[n].Floor(plan.Coarsest()) == block:
	case n > 0 && a.later[n-1] >= block:
		a.later[n-1] = t
	default:
		a.later = slices.Insert(a.later, n, t)
	}
}

// Present returns the newest measure that is not ahead, 0 for none.
func (j *Judge) Present() carbonara.Timestamp {
	if j.ahead != nil {
		return j.ahead.present
	}
	return j.newest.Timestamp
}

// presentAt is present for a request that was accepted at a time of its clock.
func (j *Judge) presentAt(at int64) carbonara.Timestamp {
	if j.ahead == nil {
		return j.newest.Timestamp
	}
	return max(j.ahead.present, j.ahead.settledBefore(model.AheadFrom(j.plan, at)))
}

// mayBeAhead reports whether there are measures ahead, or may have since measures of a request at a time were added.
func (j *Judge) mayBeAhead(at int64) bool {
	// The exact limit costs a division. A sum that overflows is negative.
	return j.ahead != nil || j.newest.Timestamp > carbonara.Timestamp(at)+carbonara.Timestamp(j.plan.Coarsest())
}

// noteAhead finds out what is ahead after measures of a request were added. Another store may still bring requests that
// were accepted before this one, and measures that were ahead then are ahead of those: the clock of a request moves the
// present only once all earlier ones are here.
func (j *Judge) noteAhead(l *Limits, timestamps []carbonara.Timestamp) {
	if j.ahead == nil {
		if j.newest.Timestamp < model.AheadFrom(j.plan, l.at) {
			return
		}
		j.ahead = &ahead{present: l.present}
	}
	at, settled := l.at, true
	if l.from != nil {
		at, settled = max(0, min(at, l.from.settled)), at <= l.from.settled
	}
	j.advance(at)
	for _, t := range timestamps {
		if t >= l.oldest {
			j.ahead.add(j.plan, t, settled)
		}
	}
}

// advance moves the present of a judge with measures ahead to a time of the clock, before which all requests are here.
func (j *Judge) advance(at int64) {
	a, u := j.ahead, j.unsettled
	until := model.AheadFrom(j.plan, at)
	if until <= a.until {
		return
	}
	settled := a.settledBefore(until)
	a.until, a.present = until, max(a.present, settled)
	a.later = slices.Delete(a.later, 0, a.before(until))
	if u != nil {
		u.newest = max(u.newest, settled)
		for i := range u.streams {
			a.present = max(a.present, u.streams[i].newestBefore(until, len(u.streams[i].runs)))
		}
	}
}

// forgetAhead forgets the present of its own once no measure is ahead, settled or not.
func (j *Judge) forgetAhead() {
	if len(j.ahead.later) == 0 && (j.unsettled == nil || !j.unsettled.hasSince(j.ahead.until)) {
		j.ahead = nil
	}
}

// aheadOf returns what is ahead in a raw series from its present on, nil for nothing.
func aheadOf(plan *carbonara.Plan, end carbonara.RawEnd, timestamps []carbonara.Timestamp) *ahead {
	if end.Present == end.Newest {
		return nil
	}
	a := &ahead{until: end.Present + 1, present: end.Present}
	for _, t := range timestamps {
		a.add(plan, t, true)
	}
	return a
}
