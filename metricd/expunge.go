package metricd

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// expungeLimit is the number of deleted metrics looked at in one go, expungeBatch of those expunged at a time.
const (
	expungeLimit = 100_000
	expungeBatch = 1000

	maxExpungeWait = 16 // in intervals
)

// expungeLoop removes what is left of deleted metrics. After each failure it waits for twice as long as before, for
// maxExpungeWait intervals at most.
func (p *Metricd) expungeLoop(ctx context.Context) {
	wait := p.options.ExpungeInterval
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for ; ; timer.Reset(wait) {
		select {
		case <-ctx.Done():
			return
		case <-timer.C:
		}
		err := p.Expunge(ctx)
		switch {
		case ctx.Err() != nil:
			return
		case err == nil:
			wait = p.options.ExpungeInterval
			continue
		}
		wait = min(2*wait, maxExpungeWait*p.options.ExpungeInterval)
		level := slog.LevelError
		if errors.Is(err, model.ErrUnavailable) { // the index has no holder, or this process has lost a sack
			level = slog.LevelWarn
		}
		p.options.Logger.Log(ctx, level, "expunge failed; trying again", "wait", wait, "error", err)
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
	return s.commit(c, ids, &always, func() {
		for _, id := range ids {
			s.heads.Drop(id)
		}
	})
}
