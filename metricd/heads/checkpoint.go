package heads

import (
	"context"
	"errors"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// Resamplers are what a checkpoint computes groups with.
type Resamplers struct {
	Many carbonara.Resampler     // for the measures of many heads
	Few  *carbonara.CPUResampler // where Many does not support a series
	// BatchMeasures are resampled together, more only of one metric, or where Many is faster for more.
	BatchMeasures int
}

// deviceMeasures fill a device.
const deviceMeasures = 1 << 20

// batchMeasures returns how many of the pending measures are resampled together: a batch for the CPU stays in its
// cache.
func (w *Resamplers) batchMeasures(pending int, plan *carbonara.Plan) int {
	if n := min(pending, deviceMeasures); n > w.BatchMeasures && carbonara.Accelerates(w.Many, plan, n, n, 1) {
		return deviceMeasures
	}
	return w.BatchMeasures
}

// Note is told of the groups at the j-th granularity that a checkpoint writes of a head. Those that start before start
// lack measures. The lock is held, by reads.
type Note func(h *Head, j int, start carbonara.Timestamp, groups *carbonara.Groups)

// Write resamples what is pending in heads, and puts it into a checkpoint. The heads stay as they are until
// Checkpointed, and are read meanwhile.
func (hs *Heads) Write(ctx context.Context, c *archive.Checkpoint, b *Batch, with Resamplers, note Note) (err error) {
	hs.gather()
	hs.RLock()
	defer hs.RUnlock()
	walk := hs.options.Store.Walk() // the store as it was before
	defer func() { err = errors.Join(err, walk.Close()) }()
	b.Reset(with.Many)
	most := 0
	for i, h := range hs.dirty {
		if len(b.entries) == 0 {
			most = with.batchMeasures(hs.pending, h.Plan())
		}
		if h.pending.Len() > 0 {
			if err := b.add(h, &walk); err != nil {
				return err
			}
		}
		if len(b.batch.Timestamps) < most && i+1 < len(hs.dirty) || len(b.entries) == 0 {
			continue
		}
		if err := b.Resample(ctx, with.Many, with.Few); err != nil {
			return err
		}
		if err := hs.writeBatch(c, b, &walk, note); err != nil {
			return err
		}
		b.Reset(with.Many)
	}
	for _, h := range hs.dirty {
		hs.writeUnsettled(c, h)
		c.AddDropped(h.metric.ID, h.dropped)
		c.AddLate(h.metric.ID, h.late)
	}
	return nil
}

// gather puts the heads of one plan side by side.
func (hs *Heads) gather() {
	hs.Lock()
	defer hs.Unlock()
	carbonara.GatherBy(hs.dirty, (*Head).Plan)
}

// writeBatch puts what the resampler answered into the checkpoint.
func (hs *Heads) writeBatch(c *archive.Checkpoint, b *Batch, walk *archive.Walk, note Note) error {
	for i, e := range b.entries {
		series, h := &b.batch.Series[i], e.head
		for j := range h.Plan().Granularities {
			if err := writeGroups(c, b, walk, e, series, b.result.Groups(i, j)); err != nil {
				return err
			}
		}
		b.raw.set(b.pending(e))
		present := carbonara.MaxTimestamp
		if h.HasAhead() {
			present = h.Present()
		}
		c.AppendRawAhead(h.metric.ID, h.KeepFrom(), present, h.replicas, b.raw.Timestamps, b.raw.Values)
	}
	b.note(note)
	return nil
}

// writeGroups writes the new and changed groups of one granularity and removes the splits that they make expire.
func writeGroups(c *archive.Checkpoint, b *Batch, walk *archive.Walk, e entry, series *carbonara.Series,
	groups *carbonara.Groups) error {
	h := e.head
	timespan := h.Timespan(groups.Granularity)
	newest := h.Present().Floor(groups.Granularity)
	from := 0
	if timespan > 0 {
		from = groups.Search(archive.OldestKept(newest, timespan))
	}
	if e.recomputed {
		writeTouched(c, b, e, series, groups, from)
	} else {
		kept := groups
		if from > 0 {
			kept = new(groups.Slice(from, groups.Len()))
		}
		c.PutGroups(h.metric.ID, kept)
	}
	if timespan > 0 && h.hasBase {
		return expire(c, walk, h, groups.Granularity, timespan, newest)
	}
	return nil
}

// writeTouched writes runs of consecutive rows that a pending measure changed, from row on.
func writeTouched(c *archive.Checkpoint, b *Batch, e entry, series *carbonara.Series,
	groups *carbonara.Groups, row int) {
	touched := b.touchedTimes(e, series)
	granularity := carbonara.Timestamp(groups.Granularity)
	run := row
	for ; row <= groups.Len(); row++ {
		if row < groups.Len() {
			start := groups.Starts[row]
			for len(touched) > 0 && touched[0] < start {
				touched = touched[1:]
			}
			if len(touched) > 0 && touched[0]-start < granularity {
				continue
			}
		}
		if run < row {
			c.PutGroups(e.head.metric.ID, new(groups.Slice(run, row)))
		}
		run = row + 1
	}
	if gone := b.goneGroups(e, groups); gone.Len() > 0 {
		c.PutGroups(e.head.metric.ID, gone)
	}
}

// Checkpointed empties the heads once a checkpoint is durable, on top of new open groups. The lock is held.
func (hs *Heads) Checkpointed(b *Batch) {
	w := &b.written
	for i, h := range w.heads {
		hs.bytes -= h.pending.Bytes()
		h.checkpointed(w.openRows(i))
		hs.bytes += h.pending.Bytes()
	}
	for _, h := range hs.dirty {
		h.dropped, h.late, h.dirty, h.unsettledStored = 0, 0, false, !h.IsSettled()
		hs.keepsUnsettled = hs.keepsUnsettled || h.unsettledStored
	}
	hs.dirty, hs.pending = hs.dirty[:0], 0
	hs.forget()
}

// written is what a checkpoint changes in heads once it is durable.
type written struct {
	heads   []*Head
	open    []float64 // rows of their newest groups
	ends    []int     // of each head's rows in open
	corrupt int       // stored operands met that do not decode
}

func (w *written) reset() {
	clear(w.heads)
	*w = written{heads: w.heads[:0], open: w.open[:0], ends: w.ends[:0]}
}

// openRows returns the rows of the i-th head, none if its plan does not continue groups.
func (w *written) openRows(i int) []float64 {
	from := 0
	if i > 0 {
		from = w.ends[i-1]
	}
	return w.open[from:w.ends[i]]
}

// Written returns the heads whose measures a checkpoint wrote, and how many stored operands did not decode.
func (b *Batch) Written() (heads []*Head, corrupt int) { return b.written.heads, b.written.corrupt }

// Release gives back borrowed memory, and forgets what was written. It reports for how many measures the batch has
// room.
func (b *Batch) Release() (measures int) {
	b.result.Release()
	b.written.reset()
	return cap(b.measures)
}

// note keeps what the heads need when the checkpoint is durable.
func (b *Batch) note(note Note) {
	w := &b.written
	w.corrupt += b.corrupt
	for i, e := range b.entries {
		for j := range e.head.Plan().Granularities {
			groups := b.result.Groups(i, j)
			if !e.head.Plan().HasPercentiles() {
				w.open = groups.AppendOpen(w.open)
			}
			note(e.head, j, e.start, groups)
		}
		w.heads, w.ends = append(w.heads, e.head), append(w.ends, len(w.open))
	}
}
