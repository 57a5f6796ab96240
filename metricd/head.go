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
	plan       *carbonara.Plan // of its archive; the policy's, but while that waits to be rebuilt
	generation uint64          // of the index when metric was looked up

	newest    carbonara.Measure // by timestamp, of all measures; if hasNewest
	hasNewest bool

	// pending are the measures since the last checkpoint, in order of arrival; ascending: their timestamps rise
	// strictly.
	pending   []carbonara.Measure
	ascending bool
	earliest  carbonara.Timestamp // of pending

	// base is the newest measure at the last checkpoint, if hasBase, and open its row for each granularity of the plan:
	// what pending measures later than base are added to. Without open the raw series says.
	base    carbonara.Measure
	hasBase bool
	open    []float64

	// The past that can be computed again: the raw series is complete from kept on, and partial groups (nil for none)
	// hold the aggregates of earlier measures of groups that reach over it. Measures older than partial groups are not
	// accepted.
	kept    carbonara.Timestamp
	partial *archive.PartialGroups

	// unsettled is what order.go keeps of the latest measures, nil if all are settled, and in the archive.
	unsettled       *unsettled
	unsettledStored bool

	dropped  uint64 // measures too old, since the last checkpoint
	late     uint64 // measures late, but not too old, since then
	surveyed bool   // splits older than its timespans are gone; false after a start or a change of policy
	dirty    bool   // in the sack's list of heads that the next checkpoint writes
	used     bool   // since the last checkpoint
	recent   bool   // in the sack's recentCache, perhaps; guarded by it
	asked    uint32 // when it was last read, seconds since the sack was opened, from 1; guarded by it, too
}

// continues reports whether pending can be added to the open groups without reading the raw series.
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
	h.base, h.hasBase, h.surveyed = h.newest, h.hasNewest, h.matchesPolicy()
	if h.hasNewest {
		h.kept = max(h.kept, h.keepFrom())
		h.dropCovered()
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
