package model

import (
	"math"

	"github.com/gnocco-db/gnocco/carbonara"
)

// OldestAccepted returns the start of the back window: of a metric with this plan and back window whose newest measure
// is at newest, earlier measures are too old.
func OldestAccepted(plan *carbonara.Plan, backWindow int, newest carbonara.Timestamp) carbonara.Timestamp {
	block := plan.Coarsest()
	start, blocks := newest.Floor(block), carbonara.Timestamp(BackWindowBlocks(plan, backWindow))
	if blocks > start/carbonara.Timestamp(block) {
		return 0
	}
	return start - blocks*carbonara.Timestamp(block)
}

// AheadFrom returns the earliest timestamp that is ahead of a request accepted at a time, in nanoseconds since 1970:
// the start of the block but one after the request's.
func AheadFrom(plan *carbonara.Plan, at int64) carbonara.Timestamp {
	block := carbonara.Timestamp(plan.Coarsest())
	start := carbonara.Timestamp(max(at, 0)).Floor(plan.Coarsest())
	if block > (math.MaxInt64-start)/2 {
		return math.MaxInt64
	}
	return start + 2*block
}

// CompleteFrom returns the time from which on groups can be computed again: all measures of groups that later measures
// fall into are known, from a raw series that is complete from kept on, and from partial groups of all measures before
// partialBefore, 0 for none. A back window that was never widened does not begin earlier.
func CompleteFrom(plan *carbonara.Plan, kept, partialBefore carbonara.Timestamp) carbonara.Timestamp {
	if partialBefore > 0 {
		return partialBefore
	}
	from := kept
	for _, g := range plan.Granularities {
		if start := kept.Floor(g); start < kept {
			from = max(from, start.Add(g))
		}
	}
	return from
}

// KeepFrom returns the time from which on raw measures are needed when the newest is at newest: a late measure may
// change the groups of every granularity that reach into the back window.
func KeepFrom(plan *carbonara.Plan, backWindow int, newest carbonara.Timestamp) carbonara.Timestamp {
	return plan.StartOf(OldestAccepted(plan, backWindow, newest))
}
