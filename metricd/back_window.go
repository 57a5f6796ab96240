package metricd

import (
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// oldestBy returns the earliest timestamp that is still accepted where the present is given, 0 for none.
func (h *head) oldestBy(present carbonara.Timestamp) carbonara.Timestamp {
	oldest := model.OldestAccepted(h.plan, h.backWindow, present)
	if h.incomplete {
		return max(oldest, completeFrom(h.plan, h.kept, h.partial))
	}
	return oldest
}

// limitsBy returns, where the present is given, 0 for none: the earliest timestamp that is still accepted, and the
// earliest that is neither late nor too old.
func (h *head) limitsBy(present carbonara.Timestamp) (oldest, inOrder carbonara.Timestamp) {
	oldest = h.oldestBy(present)
	return oldest, max(oldest, present)
}

// keepFrom returns the time from which on the raw series is needed. What is not settled (see order.go) makes nothing
// too old yet.
func (h *head) keepFrom() carbonara.Timestamp {
	return model.KeepFrom(h.plan, h.backWindow, h.settled())
}

// noteKept notes whether the raw series lacks measures that the back window needs: it was widened, or the archive is a
// migrated one. A late measure would then make groups of what is left.
func (h *head) noteKept() {
	h.incomplete = h.keepFrom() < h.kept
	h.dropCovered()
}

// accept takes the measures of one request, accepted at a time of its clock after all that were taken before. It
// returns how many it dropped as too old, and how many were late: older than the present, but not too old.
func (h *head) accept(at int64, timestamps []carbonara.Timestamp, values []float64) (dropped, late int) {
	if h.unsettled != nil { // rarely, and a write of a pointer for each metric of a request costs
		h.unsettled = nil
	}
	present := h.presentAt(at)
	oldest, inOrder := h.limitsBy(present)
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
	if h.mayBeAhead(at) && dropped < len(timestamps) {
		h.noteAhead(at, present, oldest, timestamps)
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
