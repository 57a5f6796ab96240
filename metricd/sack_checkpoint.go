package metricd

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// checkpoint makes the archives of the sack hold all that its heads hold.
func (s *sack) checkpoint(ctx context.Context) error {
	s.work.Lock()
	defer s.work.Unlock()
	return s.checkpointLocked(ctx)
}

// checkpointLocked is checkpoint with work held. Reads go on meanwhile.
func (s *sack) checkpointLocked(ctx context.Context) (err error) {
	if s.closed {
		return nil
	}
	if len(s.dirty) == 0 && len(s.corrupted) == 0 {
		s.intake.Apply()
		return s.acknowledge()
	}
	started := time.Now()
	s.settleDirty()
	b := s.parent.takeBatch()
	defer s.parent.giveBatch(b)
	c := s.store.NewCheckpointWithSize(s.checkpointBytes + s.checkpointBytes/8)
	defer c.Close()
	if err := s.writeHeads(ctx, c, b); err != nil {
		return fmt.Errorf("metricd: checkpoint sack %d: %w", s.number, err)
	}
	s.write(c)
	c.SetTime(started)
	bytes, groups, measures := c.Bytes(), c.Groups(), s.pending
	if err := s.commit(c, func() { s.finishCheckpoint(&b.written, &b.overlay) }); err != nil {
		return fmt.Errorf("metricd: checkpoint sack %d: %w", s.number, err)
	}
	s.checkpointBytes = bytes
	figures := s.parent.instruments
	figures.corrupt.Add(float64(b.written.corrupt))
	figures.checkpointSeconds.Observe(time.Since(started).Seconds())
	figures.checkpointMeasures.Observe(float64(measures))
	figures.checkpointBytes.Add(float64(bytes))
	figures.checkpointGroups.Add(float64(groups))
	return s.acknowledge()
}

// takeBatch returns memory for a checkpoint. In a process with little to do one is kept apart from the pool, where each
// core would have its own, until a collection or two.
func (p *Metricd) takeBatch() *batch {
	if b := p.spare.Swap(nil); b != nil {
		return b
	}
	return p.checkpoints.Get().(*batch)
}

// giveBatch takes back what takeBatch gave.
func (p *Metricd) giveBatch(b *batch) {
	b.result.Release() // other sacks can use what it borrowed
	b.written.reset()
	if cap(b.measures) > spareMeasures || !p.spare.CompareAndSwap(nil, b) {
		p.checkpoints.Put(b)
	}
}

// spareMeasures is how many measures a batch has room for that is kept, at most.
const spareMeasures = 256 << 10

// writeHeads resamples what is pending in heads, and puts it into the checkpoint. The heads stay as they are.
func (s *sack) writeHeads(ctx context.Context, c *archive.Checkpoint, b *batch) (err error) {
	resampler := s.parent.options.Resampler
	walk := s.store.Walk() // the store as it was before
	defer func() { err = errors.Join(err, walk.Close()) }()
	carbonara.GatherBy(s.dirty, (*head).plan)
	b.reset(resampler)
	for i, h := range s.dirty {
		if h.pending.Len() > 0 {
			if err := b.add(h, &walk); err != nil {
				return err
			}
		}
		if len(b.batch.Timestamps) < s.parent.options.BatchMeasures && i+1 < len(s.dirty) || len(b.entries) == 0 {
			continue
		}
		if err := b.resample(ctx, resampler, s.parent.reader); err != nil {
			return err
		}
		if err := s.writeBatch(c, b, &walk); err != nil {
			return err
		}
		b.reset(resampler)
	}
	return nil
}

// writeBatch puts what the resampler answered into the checkpoint.
func (s *sack) writeBatch(c *archive.Checkpoint, b *batch, walk *archive.Walk) error {
	for i, e := range b.entries {
		series, h := &b.batch.Series[i], e.head
		for j := range h.plan().Granularities {
			if err := writeGroups(c, b, walk, e, series, b.result.Groups(i, j)); err != nil {
				return err
			}
		}
		b.raw.set(b.pending(e))
		present := carbonara.MaxTimestamp
		if h.judge.HasAhead() {
			present = h.judge.Present()
		}
		c.AppendRawAhead(h.metric.ID, h.judge.KeepFrom(), present, b.raw.timestamps, b.raw.values)
	}
	s.note(b)
	return nil
}

// write puts the rest into the checkpoint: what is not in groups, and how far the sources were read.
func (s *sack) write(c *archive.Checkpoint) {
	for _, h := range s.dirty {
		s.writeUnsettled(c, h)
		c.AddDropped(h.metric.ID, h.dropped)
		c.AddLate(h.metric.ID, h.late)
	}
	for _, block := range s.corrupted {
		c.Quarantine(block.source, block.sequence, block.data)
	}
	s.intake.EachMark(c.SetMark)
}

// writeGroups writes the new and changed groups of one granularity and removes the splits that they make expire.
func writeGroups(c *archive.Checkpoint, b *batch, walk *archive.Walk, e entry, series *carbonara.Series,
	groups *carbonara.Groups) error {
	h := e.head
	timespan := h.timespan(groups.Granularity)
	newest := h.judge.Present().Floor(groups.Granularity)
	from := 0
	if timespan > 0 {
		from = groups.Search(archive.OldestKept(newest, timespan))
	}
	if e.recomputed {
		writeTouched(c, b, e, series, groups, from)
	} else {
		kept := groups
		if from > 0 {
			slice := groups.Slice(from, groups.Len())
			kept = &slice
		}
		c.PutGroups(h.metric.ID, kept)
	}
	if timespan > 0 && h.hasBase {
		return expire(c, walk, h, groups.Granularity, timespan, newest)
	}
	return nil
}

// writeTouched writes runs of consecutive rows that a pending measure changed, from row on.
func writeTouched(c *archive.Checkpoint, b *batch, e entry, series *carbonara.Series,
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
			part := groups.Slice(run, row)
			c.PutGroups(e.head.metric.ID, &part)
		}
		run = row + 1
	}
}

// finishCheckpoint empties the heads, on top of new open groups, and advances the cursors. work and mu are held.
func (s *sack) finishCheckpoint(w *written, scratch *carbonara.Groups) {
	for i := range w.recent {
		w.recent[i].overlay(scratch)
	}
	for i, h := range w.heads {
		for j := range h.plan().Granularities {
			if r := s.recent.find(h, j); r != nil {
				r.checkpointed()
				s.recent.count(r)
			}
		}
		s.bytes -= h.pending.Bytes()
		h.checkpointed(w.openRows(i))
		s.bytes += h.pending.Bytes()
	}
	for _, h := range s.dirty {
		h.dropped, h.late, h.dirty, h.unsettledStored = 0, 0, false, !h.judge.IsSettled()
		s.keepsUnsettled = s.keepsUnsettled || h.unsettledStored
	}
	s.dirty, s.corrupted, s.pending = s.dirty[:0], nil, 0
	s.intake.Apply()
	s.forget()
}

// forget drops heads while they leave less than a quarter of their memory to measures: first those that were not used
// since the last checkpoint, then any. Which ones is chance, so that of metrics that come in turn some are there the
// next time.
func (s *sack) forget() {
	excess := len(s.heads) - s.memoryForHeads()/4*3/headBytes
	for range 2 {
		for id, h := range s.heads {
			if excess > 0 && !h.used || h.judge.HasMuchAhead() {
				s.dropHead(id, h)
				excess--
			}
			h.used = false
		}
	}
}
