package metricd

import (
	"gnocco/carbonara"
	"gnocco/model"
)

// oldestBy returns the earliest timestamp that still goes in after measures whose newest is given, if there are any.
func (h *head) oldestBy(newest carbonara.Timestamp, any bool) carbonara.Timestamp {
	if !any {
		return 0
	}
	oldest := oldestAccepted(h.plan, h.backWindow, newest)
	if h.partial != nil {
		return max(oldest, h.partial.Before)
	}
	return oldest
}

// limitsBy returns, after measures whose newest is given, if there are any: the earliest timestamp that still goes in,
// and the earliest that is neither late nor too old.
func (h *head) limitsBy(newest carbonara.Timestamp, any bool) (oldest, inOrder carbonara.Timestamp) {
	oldest = h.oldestBy(newest, any)
	if !any {
		return oldest, oldest
	}
	return oldest, max(oldest, newest)
}

// oldestAccepted returns the start of the back window of a metric whose newest measure is at newest.
func oldestAccepted(plan *carbonara.Plan, backWindow int, newest carbonara.Timestamp) carbonara.Timestamp {
	block := plan.Coarsest()
	start, blocks := newest.Floor(block), carbonara.Timestamp(model.BackWindowBlocks(plan, backWindow))
	if blocks > start/carbonara.Timestamp(block) {
		return 0
	}
	return start - blocks*carbonara.Timestamp(block)
}

// keepFrom returns from where on raw measures are kept when the newest is at newest: all that a late measure could
// make necessary again, the groups of every granularity that reach into the back window.
func keepFrom(plan *carbonara.Plan, backWindow int, newest carbonara.Timestamp) carbonara.Timestamp {
	return groupsStart(plan, oldestAccepted(plan, backWindow, newest))
}

// keepFrom is that of the head's raw series: what is not settled (see order.go) makes nothing too old yet.
func (h *head) keepFrom() carbonara.Timestamp {
	newest, any := h.settled()
	if !any {
		return 0
	}
	return keepFrom(h.plan, h.backWindow, newest)
}

// groupsStart returns the earliest start of the groups that t falls into. Granularities need not divide one another.
func groupsStart(plan *carbonara.Plan, t carbonara.Timestamp) carbonara.Timestamp {
	start := t
	for _, g := range plan.Granularities {
		start = min(start, t.Floor(g))
	}
	return start
}

// accept takes the measures of one request, which come after all that were taken before, and returns how many it
// dropped as too old, and how many were late: older than the newest of earlier requests, but not too old.
func (h *head) accept(timestamps []carbonara.Timestamp, values []float64) (dropped, late int) {
	if h.unsettled != nil { // rarely, and a write of a pointer for each metric of a request costs
		h.unsettled = nil
	}
	oldest, inOrder := h.limitsBy(h.newest.Timestamp, h.hasNewest)
	for i, t := range timestamps {
		if t < inOrder {
			if t < oldest {
				dropped++
				continue
			}
			late++
		}
		h.add(carbonara.Measure{Timestamp: t, Value: values[i]})
	}
	h.count(dropped, late)
	return dropped, late
}

// count counts measures of one request. Few requests have any, and a write for each metric of a request costs.
func (h *head) count(dropped, late int) {
	if dropped|late != 0 {
		h.dropped += uint64(dropped)
		h.late += uint64(late)
	}
}

// add takes a measure that is not too old.
func (h *head) add(m carbonara.Measure) {
	if h.pending.Len() == 0 {
		h.ascending, h.earliest = true, m.Timestamp
	} else if m.Timestamp <= h.pending.LastTimestamp() {
		h.ascending, h.earliest = false, min(h.earliest, m.Timestamp)
	}
	h.pending.Append(m)
	if !h.hasNewest || m.Timestamp >= h.newest.Timestamp {
		h.newest, h.hasNewest = m, true
	}
}
