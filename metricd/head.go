package metricd

import (
	"cmp"
	"slices"

	"gnocco/carbonara"
	"gnocco/model"
	"gnocco/storage/archive"
)

// head is a metric's recent past in memory.
type head struct {
	metric     *model.Metric
	plan       *carbonara.Plan // of its archive; the policy's, but while that waits to be reaggregated
	generation uint64          // of the index when metric was looked up

	newest    carbonara.Measure // by timestamp, of all measures; if hasNewest
	hasNewest bool

	// pending are the measures since the last checkpoint, in order of arrival; ascending tells whether strictly so.
	pending   []carbonara.Measure
	ascending bool
	earliest  carbonara.Timestamp // of pending

	// base is the newest measure at the last checkpoint, if hasBase, and open its row for each granularity of the plan:
	// what pending measures later than base are added to. Without open the raw series says.
	base    carbonara.Measure
	hasBase bool
	open    []float64

	// What of the past can be computed again: the raw series is complete from kept on, and a footing (nil for none) has what came
	// before of groups that began earlier; measures from before the footing are not taken.
	kept    carbonara.Timestamp
	footing *archive.Footing

	dropped  uint64 // measures too old, since the last checkpoint
	surveyed bool   // splits older than its timespans are gone; false after a start or a change of policy
	dirty    bool   // in the sack's list of heads that the next checkpoint writes
	used     bool   // since the last checkpoint
}

// oldest returns the earliest timestamp that still goes in.
func (h *head) oldest() carbonara.Timestamp {
	if !h.hasNewest {
		return 0
	}
	oldest := oldestAccepted(h.plan, h.metric.ArchivePolicy.BackWindow, h.newest.Timestamp)
	if h.footing != nil {
		return max(oldest, h.footing.At)
	}
	return oldest
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

// keepFrom is that of the head's raw series.
func (h *head) keepFrom() carbonara.Timestamp {
	return keepFrom(h.plan, h.metric.ArchivePolicy.BackWindow, h.newest.Timestamp)
}

// groupsStart returns the earliest start of the groups that t falls into. Granularities need not divide one another.
func groupsStart(plan *carbonara.Plan, t carbonara.Timestamp) carbonara.Timestamp {
	start := t
	for _, g := range plan.Granularities {
		start = min(start, t.Floor(g))
	}
	return start
}

// accept takes the measures of one request and returns how many it dropped as too old.
func (h *head) accept(timestamps []carbonara.Timestamp, values []float64) (dropped int) {
	oldest := h.oldest()
	for i, t := range timestamps {
		if t < oldest {
			dropped++
			continue
		}
		m := carbonara.Measure{Timestamp: t, Value: values[i]}
		if n := len(h.pending); n == 0 {
			h.ascending, h.earliest = true, t
		} else {
			h.ascending = h.ascending && t > h.pending[n-1].Timestamp
			h.earliest = min(h.earliest, t)
		}
		h.pending = append(h.pending, m)
		if !h.hasNewest || t >= h.newest.Timestamp {
			h.newest, h.hasNewest = m, true
		}
	}
	h.dropped += uint64(dropped)
	return dropped
}

// continues tells whether pending can be added to the open groups: without reading the raw series.
func (h *head) continues() bool {
	if !h.hasBase {
		return true
	}
	return h.open != nil && h.earliest > h.base.Timestamp
}

// appendSorted appends pending to dst, ascending, of equal timestamps the one that arrived last.
func (h *head) appendSorted(dst []carbonara.Measure) []carbonara.Measure {
	from := len(dst)
	dst = append(dst, h.pending...)
	if h.ascending {
		return dst
	}
	added := dst[from:]
	slices.SortStableFunc(added, func(a, b carbonara.Measure) int { return cmp.Compare(a.Timestamp, b.Timestamp) })
	kept := from
	for i, m := range added {
		if i+1 == len(added) || added[i+1].Timestamp != m.Timestamp {
			dst[kept] = m
			kept++
		}
	}
	return dst[:kept]
}

// checkpointed forgets what a checkpoint made durable. The open rows are those of the newest groups.
func (h *head) checkpointed(open []float64) {
	h.base, h.hasBase, h.surveyed = h.newest, h.hasNewest, h.settled()
	if h.hasNewest {
		h.kept = max(h.kept, h.keepFrom())
		h.outgrow()
	}
	h.open = append(h.open[:0], open...)
	if len(open) == 0 {
		h.open = nil
	}
	if cap(h.pending) > idleCapacity {
		h.pending = nil
	}
	h.pending = h.pending[:0]
}

// idleCapacity is the number of measures whose memory a head keeps from one checkpoint to the next.
const idleCapacity = 64
