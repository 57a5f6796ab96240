package metricd

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
// The raw series holds all measures from the present on, and its youngest chunk says which one that is. So a head that
// is made from the archive knows what lies ahead.

// ahead is what a head keeps while some of its measures are ahead.
type ahead struct {
	until   carbonara.Timestamp   // earlier measures are not ahead
	present carbonara.Timestamp   // the newest of these; 0 for none
	later   []carbonara.Timestamp // the newest measure of each block from until on, ascending
}

// mostAhead is how many blocks with measures ahead a head may have that outlives a checkpoint.
const mostAhead = 64

// advance moves the present to the newest measure before until.
func (a *ahead) advance(until carbonara.Timestamp) {
	if until <= a.until {
		return
	}
	a.until = until
	if n := a.before(until); n > 0 {
		a.present = a.later[n-1]
		a.later = slices.Delete(a.later, 0, n)
	}
}

// before returns how many of later are before a time.
func (a *ahead) before(t carbonara.Timestamp) int {
	n, _ := slices.BinarySearch(a.later, t)
	return n
}

// add counts a measure.
func (a *ahead) add(plan *carbonara.Plan, t carbonara.Timestamp) {
	if t < a.until {
		a.present = max(a.present, t)
		return
	}
	n, found := slices.BinarySearch(a.later, t)
	block := t.Floor(plan.Coarsest())
	switch {
	case found, n < len(a.later) && a.later[n].Floor(plan.Coarsest()) == block:
	case n > 0 && a.later[n-1] >= block:
		a.later[n-1] = t
	default:
		a.later = slices.Insert(a.later, n, t)
	}
}

// present returns the newest measure that is not ahead, 0 for none.
func (h *head) present() carbonara.Timestamp {
	if h.ahead != nil {
		return h.ahead.present
	}
	return h.newest.Timestamp
}

// presentAt is present for a request that was accepted at a time of its clock.
func (h *head) presentAt(at int64) carbonara.Timestamp {
	if h.ahead == nil {
		return h.newest.Timestamp
	}
	if n := h.ahead.before(model.AheadFrom(h.plan, at)); n > 0 {
		return h.ahead.later[n-1]
	}
	return h.ahead.present
}

// mayBeAhead reports whether h has measures ahead, or may have since measures of a request at a time were added.
func (h *head) mayBeAhead(at int64) bool {
	// The exact limit costs a division. A sum that overflows is negative.
	return h.ahead != nil || h.newest.Timestamp > carbonara.Timestamp(at)+carbonara.Timestamp(h.plan.Coarsest())
}

// noteAhead finds out what is ahead after measures of a request were added, from oldest on. present was the present
// before that.
func (h *head) noteAhead(at int64, present, oldest carbonara.Timestamp, timestamps []carbonara.Timestamp) {
	until := model.AheadFrom(h.plan, at)
	if h.ahead == nil {
		if h.newest.Timestamp < until {
			return
		}
		h.ahead = &ahead{present: present}
	}
	if h.unsettled != nil {
		h.unsettled.newest = max(h.unsettled.newest, h.settledBefore(until))
	}
	h.ahead.advance(until)
	for _, t := range timestamps {
		if t >= oldest {
			h.ahead.add(h.plan, t)
		}
	}
	if len(h.ahead.later) == 0 {
		h.ahead = nil
	}
}

// aheadOf returns what is ahead in a raw series from its present on, nil for nothing.
func aheadOf(plan *carbonara.Plan, end carbonara.RawEnd, timestamps []carbonara.Timestamp) *ahead {
	if end.Present == end.Newest {
		return nil
	}
	a := &ahead{until: end.Present + 1, present: end.Present}
	for _, t := range timestamps {
		a.add(plan, t)
	}
	return a
}
