package heads

import (
	"context"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Batch is the memory of one call of a resampler with the pending measures of some heads. It is reused.
type Batch struct {
	batch   carbonara.Batch
	result  carbonara.Result
	entries []entry

	measures []carbonara.Measure // sorted pending measures of all entries
	raw      Raw                 // scratch
	touched  []carbonara.Timestamp
	judged   judged
	corrupt  int // stored operands met that do not decode
	narrow   narrow
	written  written
}

// entry is a head in a batch: series number i of it.
type entry struct {
	head     *Head
	from, to int // its sorted pending measures in Batch.measures

	// recomputed entries are computed from the raw series, from start on: only the groups that a pending measure
	// touches are new, and those that start before start lack measures.
	recomputed bool
	start      carbonara.Timestamp

	touched, touchedTo, lost, lostTo int // of replicas: in Batch.judged
}

// Resample computes the batch. If a series with percentiles continues partial groups, which a device's resampler does
// not support, plain computes it.
func (b *Batch) Resample(ctx context.Context, resampler carbonara.Resampler, plain *carbonara.CPUResampler) error {
	for i := range b.batch.Series {
		if s := &b.batch.Series[i]; s.Open != nil && s.Plan.HasPercentiles() {
			resampler = plain
		}
	}
	if err := resampler.Resample(ctx, &b.batch, &b.result); err != nil {
		return err
	}
	for i, e := range b.entries {
		if e.head.partial == nil {
			continue
		}
		for j := range b.batch.Series[i].Plan.Granularities {
			e.head.partial.MaskUnknown(b.result.Groups(i, j))
		}
	}
	return nil
}

// Reset empties b for a batch of that resampler, in whose memory it lies if that lends any.
func (b *Batch) Reset(resampler carbonara.Resampler) {
	b.batch.Reset(resampler)
	b.entries, b.measures, b.corrupt = b.entries[:0], b.measures[:0], 0
	b.judged.touched, b.judged.lost = b.judged.touched[:0], b.judged.lost[:0]
}

// Corrupt returns how many stored operands did not decode.
func (b *Batch) Corrupt() int { return b.corrupt }

// Groups returns the groups of the only head in the batch, after AddWindow and Resample. Those that start before start
// lack measures.
func (b *Batch) Groups() (groups *carbonara.Groups, start carbonara.Timestamp) {
	return b.result.Groups(0, 0), b.entries[0].start
}

// pending returns the sorted measures of entry e, valid until the batch is reset.
func (b *Batch) pending(e entry) []carbonara.Measure { return b.measures[e.from:e.to] }

// add appends a head with pending measures as a series, of all granularities.
func (b *Batch) add(h *Head, walk *archive.Walk) error { return b.addPlan(h, walk, h.Plan(), h.open) }

// Window asks for the groups of a head at the granularity with index J in its plan which start at or after From and
// before To, with these columns (ascending); nil: all.
type Window struct {
	J        int
	Columns  []carbonara.Column
	From, To carbonara.Timestamp
}

// AddWindow is add for a window. It takes the measures of the groups in the window, and computes the columns that these
// need: a read costs what it asks for.
func (b *Batch) AddWindow(h *Head, walk *archive.Walk, w Window) error {
	open := h.open
	if open != nil {
		n := h.Plan().OpenValues()
		open = open[w.J*n : (w.J+1)*n]
	}
	plan := h.Plan().Single(w.J)
	if h.partial != nil {
		return b.addPlan(h, walk, plan, open)
	}
	if w.Columns != nil {
		b.narrow.set(plan, w.Columns)
		plan, open = b.narrow.plan, b.narrow.row(open)
	}
	if plan.HasRate() || h.replicas { // a measure before the window matters
		return b.addPlan(h, walk, plan, open)
	}
	g := plan.Granularities[0]
	from := max(w.From, 0).Floor(g)
	e := entry{head: h, from: len(b.measures)}
	if from <= h.earliest.Floor(g) {
		from = 0
	}
	b.measures = h.AppendSorted(b.measures, from, w.To.Ceil(g))
	pending := Between(b.measures[e.from:], from, w.To.Ceil(g))
	b.measures = append(b.measures[:e.from], pending...)
	e.to = len(b.measures)
	series := carbonara.Series{Plan: plan, From: len(b.batch.Timestamps)}
	if e.start = from; h.continues() {
		b.addPending(e)
		if from == 0 {
			series.Previous, series.HasPrevious, series.Open = h.base, h.hasBase, open
		}
	} else {
		e.recomputed, e.start = true, max(from, h.earliest.Floor(g))
		if err := b.recompute(h, &e, e.start, walk, &series); err != nil {
			return err
		}
	}
	b.append(e, series)
	return nil
}

func (b *Batch) addPlan(h *Head, walk *archive.Walk, plan *carbonara.Plan, open []float64) error {
	e := entry{head: h, from: len(b.measures)}
	b.measures = h.AppendSorted(b.measures, 0, carbonara.MaxTimestamp)
	e.to = len(b.measures)
	series := carbonara.Series{Plan: plan, From: len(b.batch.Timestamps)}
	if h.continues() {
		b.addPending(e)
		series.Previous, series.HasPrevious, series.Open = h.base, h.hasBase, open
	} else {
		series.Since = h.affected()
		e.recomputed, e.start = true, plan.StartOf(series.Since)
		from := e.start
		if f := h.partial; f != nil && from < f.Before {
			e.start, from = plan.StartOf(f.Before), f.Before
			series.Open = f.Open(plan)
		}
		if err := b.recompute(h, &e, from, walk, &series); err != nil {
			return err
		}
	}
	b.append(e, series)
	return nil
}

// addPending appends the pending measures of an entry to the batch.
func (b *Batch) addPending(e entry) {
	b.batch.Grow(len(b.pending(e)))
	for _, m := range b.pending(e) {
		b.batch.Timestamps = append(b.batch.Timestamps, m.Timestamp)
		b.batch.Values = append(b.batch.Values, m.Value)
	}
}

// append ends the series of an entry.
func (b *Batch) append(e entry, series carbonara.Series) {
	series.To = len(b.batch.Timestamps)
	b.batch.Series = append(b.batch.Series, series)
	b.entries = append(b.entries, e)
}

// recompute appends the raw series from a timestamp on, with the pending measures merged in.
func (b *Batch) recompute(h *Head, e *entry, from carbonara.Timestamp, walk *archive.Walk,
	series *carbonara.Series) error {
	since := from
	if h.replicas {
		since -= min(since, replica.Reach)
	}
	if series.Plan.HasRate() || series.Open != nil {
		since = 0 // the measure before from is needed
	}
	end, err := b.raw.ReadAfterEnd(walk, h.metric.ID, func(carbonara.RawEnd) (carbonara.Timestamp, bool) {
		return since, true
	})
	b.corrupt += end.Corrupt
	if err != nil {
		return err
	}
	take := func(t carbonara.Timestamp, v float64) {
		if t < from {
			series.Previous, series.HasPrevious = carbonara.Measure{Timestamp: t, Value: v}, true
			return
		}
		b.batch.Timestamps = append(b.batch.Timestamps, t)
		b.batch.Values = append(b.batch.Values, v)
	}
	pending := b.pending(*e)
	b.batch.Grow(len(pending) + len(b.raw.Timestamps))
	if h.replicas {
		b.judge(e, from, series)
		return nil
	}
	b.raw.Merge(pending, take)
	return nil
}

// touchedTimes returns the timestamps whose groups are new or changed: the timestamps of the pending measures and,
// where differences count, of the measures that follow them.
func (b *Batch) touchedTimes(e entry, series *carbonara.Series) []carbonara.Timestamp {
	if e.head.replicas {
		return b.judged.touched[e.touched:e.touchedTo]
	}
	pending := b.pending(e)
	b.touched = b.touched[:0]
	all := b.batch.Timestamps[series.From:series.To]
	rate := series.Plan.HasRate()
	i := 0
	for _, m := range pending {
		for i < len(all) && all[i] < m.Timestamp {
			i++
		}
		b.touched = appendAscending(b.touched, m.Timestamp)
		if rate && i+1 < len(all) {
			b.touched = appendAscending(b.touched, all[i+1])
		}
	}
	return b.touched
}

// appendAscending appends t unless it is there. Out of order by one is possible: a follower, then a pending measure.
func appendAscending(times []carbonara.Timestamp, t carbonara.Timestamp) []carbonara.Timestamp {
	if n := len(times); n > 0 && times[n-1] >= t {
		return times
	}
	return append(times, t)
}
