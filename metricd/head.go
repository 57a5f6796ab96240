package metricd

import (
	"cmp"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// head is a metric's recent past in memory. What a measure that comes in needs stands first, side by side: of many
// metrics that get one measure each, it is the misses of the processor's cache that cost.
type head struct {
	generation uint64 // of the index when metric was looked up
	// judge knows the plan of the archive, which is the policy's, except while that waits to be rebuilt.
	judge intake.Judge

	ascending       bool
	dirty           bool // in the sack's list of heads that the next checkpoint writes
	used            bool // since the last checkpoint
	ofEnded         bool // the metric's resource has ended
	hasBase         bool // see base
	unsettledStored bool

	// pending are the measures since the last checkpoint, in order of arrival; ascending: their timestamps rise
	// strictly.
	pending  carbonara.MeasureList
	earliest carbonara.Timestamp // of pending

	metric *model.Metric // set by setMetric

	// base is the newest measure at the last checkpoint, if hasBase, and open its row for each granularity of the plan:
	// what pending measures later than base are added to. Without open the raw series says.
	base carbonara.Measure
	open []float64

	// partial are aggregates of measures earlier than the raw series, of groups that reach into it; nil for none.
	// Measures older than these are not accepted.
	partial *archive.PartialGroups

	surveyed bool   // splits older than base by its timespans are gone; false after a start or a change of policy
	recent   bool   // in the sack's recentCache, perhaps; guarded by it
	asked    uint32 // when it was last read, seconds since the sack was opened, from 1; guarded by it, too
	dropped  uint64 // measures too old, since the last checkpoint
	late     uint64 // measures late, but not too old, since then
}

// touchedAtOnce is how many heads fit into a core's own cache with room to spare.
const touchedAtOnce = 64

// touch reads what measures that come in need of some heads. Nobody waits here for one head's memory before that of the
// next is asked for; the work on a head is too long for the processor to look beyond it. The result means nothing, and
// keeps the compiler from leaving the reads out.
func touch(heads []*head) (sum int) {
	for _, h := range heads {
		if h != nil {
			sum += h.judge.BackWindow() + h.pending.Len()
		}
	}
	for _, h := range heads {
		if h != nil {
			sum += h.pending.Touch()
		}
	}
	return sum
}

// setMetric notes what the index says of the metric.
func (h *head) setMetric(metric *model.Metric) {
	h.metric = metric
	h.ofEnded = metric.ResourceEndedAt != nil
}

// plan returns the plan of the metric's archive.
func (h *head) plan() *carbonara.Plan { return h.judge.Plan() }

// newest returns the newest measure by timestamp, of all that counted.
func (h *head) newest() carbonara.Measure {
	m, _ := h.judge.Newest()
	return m
}

// complete tells the judge which groups can be computed again. Partial groups go once the raw series has all measures
// of the groups that accept more.
func (h *head) complete() {
	before := carbonara.Timestamp(0)
	if h.partial != nil && h.judge.Kept() > h.partial.Before {
		h.partial = nil
	}
	if h.partial != nil {
		before = h.partial.Before
	}
	h.judge.Complete(before)
}

// accept takes the measures of one request that count. from is nil if no other store brings measures.
func (h *head) accept(at int64, from *intake.Origin, timestamps []carbonara.Timestamp, values []float64) (t taken) {
	limits := h.judge.Limits(at, from)
	for i, timestamp := range timestamps {
		verdict := limits.Verdict(timestamp)
		if verdict != intake.Counts {
			if verdict&intake.TooOld != 0 {
				t.tooOld++
			}
			if verdict&intake.Late != 0 {
				t.late++
			}
			if verdict&intake.Counts == 0 {
				continue
			}
		}
		t.accepted++
		h.add(carbonara.Measure{Timestamp: timestamp, Value: values[i]})
	}
	if t.accepted > 0 {
		h.judge.Took(&limits, timestamps)
	}
	if t.tooOld|t.late != 0 { // few requests have any, and a write for each metric of a request costs
		h.dropped += uint64(t.tooOld)
		h.late += uint64(t.late)
	}
	return t
}

// add takes a measure that counts.
func (h *head) add(m carbonara.Measure) {
	if h.pending.Len() == 0 {
		h.ascending, h.earliest = true, m.Timestamp
	} else if m.Timestamp <= h.pending.LastTimestamp() {
		h.ascending, h.earliest = false, min(h.earliest, m.Timestamp)
	}
	h.pending.Append(m)
	h.judge.Add(m)
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
	return h.appendSortedSince(dst, 0)
}

// appendSortedSince is appendSorted, which may leave out measures before since.
func (h *head) appendSortedSince(dst []carbonara.Measure, since carbonara.Timestamp) []carbonara.Measure {
	if h.ascending {
		return h.pending.AppendSince(dst, since)
	}
	from := len(dst)
	dst = h.pending.AppendTo(dst, 0)
	return dst[:from+len(sortArrivals(dst[from:]))]
}

// checkpointed forgets what a checkpoint made durable. The open rows are those of the newest groups.
func (h *head) checkpointed(open []float64) {
	h.base, h.hasBase = h.judge.Newest()
	h.surveyed = h.matchesPolicy() && !h.judge.HasAhead()
	h.judge.Trim()
	h.complete()
	h.open = append(h.open[:0], open...)
	if len(open) == 0 {
		h.open = nil
	}
	h.pending.Reset(idlePending)
}

// idlePending is how many bytes of pending measures' memory a head keeps from one checkpoint to the next.
const idlePending = 64

// sortArrivals orders measures by timestamp, and keeps of equal ones the one that arrived last.
func sortArrivals(measures []carbonara.Measure) []carbonara.Measure {
	slices.SortStableFunc(measures, byTime)
	kept := 0
	for i, m := range measures {
		if i+1 == len(measures) || measures[i+1].Timestamp != m.Timestamp {
			measures[kept] = m
			kept++
		}
	}
	return measures[:kept]
}

func byTime(a, b carbonara.Measure) int { return cmp.Compare(a.Timestamp, b.Timestamp) }
