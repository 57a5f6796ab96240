package heads

import (
	"cmp"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Head is a metric's recent past in memory. The fields that an incoming measure needs stand first, side by side. Where
// many metrics get one measure each, misses of the processor's cache dominate the cost.
type Head struct {
	generation uint64 // of the index when metric was looked up
	// The plan is that of the archive: the policy's, except while the archive waits to be rebuilt.
	intake.Judge

	ascending       bool
	dirty           bool // in the sack's list of heads that the next checkpoint writes
	used            bool // since the last checkpoint
	ofEnded         bool // the metric's resource has ended
	hasBase         bool // see base
	unsettledStored bool
	replicas        bool // of the metric: see pairs.go

	// pending are the measures since the last checkpoint, in order of arrival; ascending: their timestamps rise
	// strictly.
	pending  carbonara.MeasureList
	earliest carbonara.Timestamp // of pending

	metric *model.Metric // set by setMetric

	// base is the newest measure at the last checkpoint, if hasBase. open is its row for each granularity of the plan:
	// pending measures later than base are added to it. Without open the raw series says.
	base carbonara.Measure
	open []float64

	// partial are aggregates of measures earlier than the raw series, of groups that reach into it; nil for none.
	// Measures older than these are not accepted.
	partial *archive.PartialGroups

	surveyed bool   // splits older than base by its timespans are gone; false after a start or a change of policy
	dropped  uint64 // measures too old, since the last checkpoint
	late     uint64 // measures late, but not too old, since then

	Reads Reads
}

// Reads is what a reader notes of a head. A lock of the reader guards it.
type Reads struct {
	Recent        bool   // the reader keeps groups of the head, perhaps
	AskedMeasures uint16 // when its raw measures were last read, in minutes as Asked; it wraps around
	Asked         uint32 // when the head was last read, in seconds since the reader began, from 1
}

// Metric returns the metric as the index had it.
func (h *Head) Metric() *model.Metric { return h.metric }

// Pending returns how many measures came since the last checkpoint.
func (h *Head) Pending() int { return h.pending.Len() }

// Earliest returns the earliest timestamp of the pending measures.
func (h *Head) Earliest() carbonara.Timestamp { return h.earliest }

// Base returns the newest measure at the last checkpoint, if there was any.
func (h *Head) Base() (m carbonara.Measure, ok bool) { return h.base, h.hasBase }

// HasPartial reports whether groups continue partial ones.
func (h *Head) HasPartial() bool { return h.partial != nil }

// Counts returns how many measures were dropped as too old, and how many were late, since the last checkpoint.
func (h *Head) Counts() (dropped, late uint64) { return h.dropped, h.late }

// HasColumns reports whether the head's groups have all of these columns.
func (h *Head) HasColumns(columns []carbonara.Column) bool {
	return !slices.ContainsFunc(columns, func(c carbonara.Column) bool { return !slices.Contains(h.Plan().Columns, c) })
}

// touchedAtOnce is how many heads fit into a core's own cache with room to spare.
const touchedAtOnce = 64

// touch reads the fields of some heads that incoming measures need. Here the processor requests the memory of one head
// without waiting for the previous one's. The work on a head is too long for it to look beyond. The result means
// nothing, and keeps the compiler from leaving the reads out.
func touch(heads []*Head) (sum int) {
	for _, h := range heads {
		if h != nil {
			sum += h.BackWindow() + h.pending.Len()
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
func (h *Head) setMetric(metric *model.Metric) {
	h.metric = metric
	h.ofEnded, h.replicas = metric.ResourceEndedAt != nil, metric.Replicas
}

// complete tells the judge which groups can be computed again. Partial groups go once the raw series has all measures
// of the groups that accept more.
func (h *Head) complete() {
	before := carbonara.Timestamp(0)
	if h.partial != nil && h.Kept() > h.partial.Before {
		h.partial = nil
	}
	if h.partial != nil {
		before = h.partial.Before
	}
	h.Complete(before)
}

// accept takes the measures of one request that count. from is nil if no other store brings measures, and limits is
// memory.
func (h *Head) accept(at int64, from *intake.Origin, timestamps []carbonara.Timestamp, values []float64,
	limits *intake.Limits) (t Counts) {
	h.SetLimits(limits, at, from)
	for i, timestamp := range timestamps {
		if !limits.InOrder(timestamp) {
			verdict := limits.Verdict(timestamp)
			if verdict&intake.TooOld != 0 {
				t.TooOld++
			}
			if verdict&intake.Late != 0 {
				t.Late++
			}
			if verdict&intake.Counts == 0 {
				continue
			}
		}
		t.Accepted++
		h.add(carbonara.Measure{Timestamp: timestamp, Value: values[i]})
	}
	if t.Accepted > 0 {
		h.Counted(limits, timestamps)
	}
	if t.TooOld|t.Late != 0 { // few requests have any, and a write for each metric of a request costs
		h.dropped += uint64(t.TooOld)
		h.late += uint64(t.Late)
	}
	return t
}

// add takes a measure that counts.
func (h *Head) add(m carbonara.Measure) {
	if h.pending.Len() == 0 {
		h.ascending, h.earliest = true, m.Timestamp
	} else if m.Timestamp <= h.pending.LastTimestamp() {
		h.ascending, h.earliest = false, min(h.earliest, m.Timestamp)
	}
	h.pending.Append(m)
	h.Add(m)
}

// continues reports whether pending can be added to the open groups without reading the raw series.
func (h *Head) continues() bool {
	if !h.hasBase || h.replicas {
		return !h.replicas
	}
	return h.open != nil && h.earliest > h.base.Timestamp
}

// AppendPending appends the pending measures from the n-th on to dst, in the order of arrival.
func (h *Head) AppendPending(dst []carbonara.Measure, n int) []carbonara.Measure {
	return h.pending.AppendTo(dst, n)
}

// AppendSorted appends the pending measures to dst, ascending, of equal timestamps the one that arrived last. It may
// leave out measures before from, and from to on.
func (h *Head) AppendSorted(dst []carbonara.Measure, from, to carbonara.Timestamp) []carbonara.Measure {
	if h.ascending {
		return h.pending.AppendBetween(dst, from, to)
	}
	before := len(dst)
	dst = h.pending.AppendTo(dst, 0)
	return dst[:before+len(SortArrivals(dst[before:]))]
}

// checkpointed forgets what a checkpoint made durable. The open rows are those of the newest groups.
func (h *Head) checkpointed(open []float64) {
	h.base, h.hasBase = h.Newest(), h.HasMeasures()
	h.surveyed = h.matchesPolicy() && !h.HasAhead()
	h.Trim()
	h.complete()
	h.open = append(h.open[:0], open...)
	if len(open) == 0 {
		h.open = nil
	}
	h.pending.Reset(idlePending)
}

// idlePending is how many bytes of pending measures' memory a head keeps from one checkpoint to the next.
const idlePending = 64

// SortArrivals orders measures by timestamp, and keeps of equal ones the one that arrived last.
func SortArrivals(measures []carbonara.Measure) []carbonara.Measure {
	slices.SortStableFunc(measures, ByTime)
	kept := 0
	for i, m := range measures {
		if i+1 == len(measures) || measures[i+1].Timestamp != m.Timestamp {
			measures[kept] = m
			kept++
		}
	}
	return measures[:kept]
}

// ByTime compares the timestamps of two measures.
func ByTime(a, b carbonara.Measure) int { return cmp.Compare(a.Timestamp, b.Timestamp) }

// Between returns the measures, which are ascending, at or after from and before to, if that is not the end of time.
func Between(measures []carbonara.Measure, from, to carbonara.Timestamp) []carbonara.Measure {
	first, _ := slices.BinarySearchFunc(measures, carbonara.Measure{Timestamp: from}, ByTime)
	end := len(measures)
	if to < carbonara.MaxTimestamp {
		end, _ = slices.BinarySearchFunc(measures, carbonara.Measure{Timestamp: to}, ByTime)
	}
	return measures[first:max(first, end)]
}

// matchesPolicy reports whether the head's archive has the schema of its policy.
func (h *Head) matchesPolicy() bool { return h.Plan() == h.metric.ArchivePolicy.Plan() }

// follow makes the head one of a metric as the index has it now. Its plan changes if nothing was written by it yet.
func (h *Head) follow(metric *model.Metric) {
	h.surveyed = h.surveyed && metric.ArchivePolicy == h.metric.ArchivePolicy
	h.setMetric(metric)
	plan := metric.ArchivePolicy.Plan()
	if h.hasBase && !h.Plan().Equal(plan) {
		plan = h.Plan()
	}
	h.Follow(plan, metric.ArchivePolicy.BackWindow)
	h.complete()
}

// narrow is a plan of the columns that reads ask for. One read after the other asks for the same.
type narrow struct {
	of      *carbonara.Plan
	columns []carbonara.Column
	plan    *carbonara.Plan
	open    []float64 // memory of row
}

// set makes plan that of the columns of another plan.
func (n *narrow) set(of *carbonara.Plan, columns []carbonara.Column) {
	if n.of != of || !slices.Equal(n.columns, columns) {
		n.of, n.columns, n.plan = of, append(n.columns[:0], columns...), of.Narrow(columns)
	}
}

// row returns what of an open row belongs to plan, nil for nil.
func (n *narrow) row(open []float64) []float64 {
	if open == nil {
		return nil
	}
	n.open = n.of.NarrowOpen(n.plan, n.open[:0], open)
	return n.open
}
