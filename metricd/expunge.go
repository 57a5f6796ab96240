package metricd

import (
	"context"
	"fmt"
	"time"

	"github.com/google/uuid"
)

// expungeBatch is the number of metrics that are expunged at a time.
const expungeBatch = 1000

// expungeLoop removes what is left of deleted metrics.
func (p *Metricd) expungeLoop(ctx context.Context) {
	tick := time.NewTicker(p.options.ExpungeInterval)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		if err := p.Expunge(ctx); err != nil && ctx.Err() == nil {
			p.options.Logger.Error("expunge failed; trying again", "error", err)
		}
	}
}

// Expunge removes the archives of all deleted metrics, then the metrics from the index.
func (p *Metricd) Expunge(ctx context.Context) error {
	for ctx.Err() == nil {
		ids, err := p.options.Index.DeletedMetrics(ctx, expungeBatch)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return nil
		}
		bySack := make(map[*sack][]uuid.UUID)
		for _, id := range ids {
			bySack[p.sackOf(id)] = append(bySack[p.sackOf(id)], id)
		}
		for s, ids := range bySack {
			if err := s.expunge(ids); err != nil {
				return err
			}
		}
		if err := p.options.Index.Expunge(ctx, ids...); err != nil {
			return err
		}
		p.metrics.expunged.Add(float64(len(ids)))
	}
	return ctx.Err()
}

func (s *sack) expunge(ids []uuid.UUID) error {
	s.work.Lock()
	defer s.work.Unlock()
	// What the heads hold of them goes first: a checkpoint must not bring back what is deleted below.
	s.mu.Lock()
	for _, id := range ids {
		if h := s.heads[id]; h != nil {
			s.pending -= len(h.pending)
			h.pending, h.dropped = nil, 0
			delete(s.heads, id)
		}
	}
	s.mu.Unlock()
	c := s.store.NewCheckpoint()
	for _, id := range ids {
		if err := c.Delete(id); err != nil {
			c.Close()
			return fmt.Errorf("metricd: expunge from sack %d: %w", s.number, err)
		}
	}
	return c.Commit()
}
