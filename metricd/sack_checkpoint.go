package metricd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
)

// checkpoint makes the archives of the sack hold all that its heads hold.
func (s *sack) checkpoint(ctx context.Context) error {
	s.work.Lock()
	defer s.work.Unlock()
	return s.checkpointLocked(ctx)
}

// checkpointLocked is checkpoint with work held. Reads go on meanwhile.
func (s *sack) checkpointLocked(ctx context.Context) (err error) {
	if s.view.IsClosed() {
		return nil
	}
	if !s.heads.AnyDirty() && len(s.intake.Quarantined()) == 0 {
		s.intake.Apply()
		return s.acknowledge()
	}
	started := time.Now()
	if !s.intake.WasAlone() {
		s.hear()
		s.heads.Settle()
	}
	s.chooseCounters(ctx)
	b := s.parent.getBatch()
	defer s.parent.putBatch(b)
	recent := s.view.Parts()
	c := s.store.NewCheckpointWithSize(s.checkpointBytes + s.checkpointBytes/8)
	defer c.Close()
	if err := s.heads.Write(ctx, c, b, s.parent.resamplers, recent.Note); err != nil {
		return fmt.Errorf("metricd: checkpoint sack %d: %w", s.number, err)
	}
	for _, block := range s.intake.Quarantined() {
		c.Quarantine(block.Source, block.Sequence, block.Block)
	}
	s.intake.EachMark(c.SetMark)
	c.SetTime(started)
	bytes, groups, measures := c.Bytes(), c.Groups(), s.heads.Pending()
	written, corrupt := b.Written()
	err = s.commit(c, nil, &always, func() {
		recent.Checkpointed(written)
		s.heads.Checkpointed(b)
		s.intake.Apply()
	})
	if err != nil {
		return fmt.Errorf("metricd: checkpoint sack %d: %w", s.number, err)
	}
	s.checkpointBytes = bytes
	figures := s.parent.instruments
	figures.corrupt.Add(float64(corrupt))
	figures.checkpointSeconds.Observe(time.Since(started).Seconds())
	figures.checkpointMeasures.Observe(float64(measures))
	figures.checkpointBytes.Add(float64(bytes))
	figures.checkpointGroups.Add(float64(groups))
	return s.acknowledge()
}

// chooseCounters tells the index which series look like counters by their first measures, and has their heads follow
// if it moves them: there is nothing to rebuild then. If the index is away, it is told before a later checkpoint.
func (s *sack) chooseCounters(ctx context.Context) {
	s.growing = append(s.growing, s.heads.Growing()...)
	slices.SortFunc(s.growing, model.CompareIDs)
	s.growing = slices.Compact(s.growing)
	if len(s.growing) == 0 {
		return
	}
	index, found := s.parent.options.Index, make([]*model.Metric, len(s.growing))
	err := index.Growing(ctx, s.growing)
	if err == nil {
		err = index.Find(ctx, s.growing, found)
	}
	if errors.Is(err, model.ErrUnavailable) || ctx.Err() != nil {
		return
	}
	if err != nil {
		s.parent.options.Logger.Error("series that look like counters keep their archive policy", "sack", s.number,
			"series", len(s.growing), "error", err)
	}
	s.growing = nil
	for _, m := range found {
		if m != nil {
			s.heads.Follow(m)
		}
	}
}

// getBatch returns memory for a checkpoint. In a process with little to do one is kept apart from the pool, where each
// core would have its own, until a collection or two.
func (p *Metricd) getBatch() *heads.Batch {
	if b := p.spare.Swap(nil); b != nil {
		return b
	}
	return p.checkpoints.Get().(*heads.Batch)
}

// putBatch takes back the memory that getBatch returned.
func (p *Metricd) putBatch(b *heads.Batch) {
	if measures := b.Release(); measures > spareMeasures || !p.spare.CompareAndSwap(nil, b) {
		p.checkpoints.Put(b)
	}
}

// spareMeasures is how many measures a batch has room for that is kept, at most.
const spareMeasures = 256 << 10
