package metricd

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"
)

// expungeLimit is the number of deleted metrics looked at in one go, expungeBatch of those expunged at a time.
const (
	expungeLimit = 100_000
	expungeBatch = 1000
)

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

// Expunge removes the archives of all deleted metrics of the sacks that are open, then the metrics from the index.
func (p *Metricd) Expunge(ctx context.Context) error {
	ids, err := p.options.Index.DeletedMetrics(ctx, expungeLimit)
	if err != nil {
		return err
	}
	ids = slices.DeleteFunc(ids, func(id uuid.UUID) bool {
		_, err := p.sackOf(id)
		return err != nil
	})
	for batch := range slices.Chunk(ids, expungeBatch) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err := p.expunge(ctx, batch); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (p *Metricd) expunge(ctx context.Context, ids []uuid.UUID) error {
	bySack := make(map[*sack][]uuid.UUID)
	for _, id := range ids {
		s, err := p.sackOf(id)
		if err != nil {
			return err
		}
		bySack[s] = append(bySack[s], id)
	}
	for s, ids := range bySack {
		if err := s.expunge(ids); err != nil {
			return err
		}
	}
	if err := p.options.Index.Expunge(ctx, ids...); err != nil {
		return err
	}
	p.instruments.expunged.Add(float64(len(ids)))
	return nil
}

func (s *sack) expunge(ids []uuid.UUID) error {
	s.work.Lock()
	defer s.work.Unlock()
	if s.view.IsClosed() {
		return notOwned(s.number)
	}
	c := s.store.NewCheckpoint()
	for _, id := range ids {
		c.Delete(id)
	}
	return s.view.Commit(c, func() {
		for _, id := range ids {
			s.heads.Drop(id)
		}
	})
}
