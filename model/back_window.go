package model

import "gnocco/carbonara"

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

// KeepFrom returns the time from which on raw measures are needed when the newest is at newest: a late measure may
// change the groups of every granularity that reach into the back window.
func KeepFrom(plan *carbonara.Plan, backWindow int, newest carbonara.Timestamp) carbonara.Timestamp {
	return plan.StartOf(OldestAccepted(plan, backWindow, newest))
}
