package metricd

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// contentBytes is from where on a part of a metric's content ends.
const contentBytes = 512 << 10

// Content returns a part of the content of a metric's archive, or puts one into it. Its sack must be held. The put is
// durable, and a repetition changes nothing. The error is a model.BackfillError if the metric does not take the part.
func (p *Metricd) Content(ctx context.Context, r *model.ContentRequest) (c model.Content, err error) {
	s, err := p.sackOf(r.Metric)
	if err != nil {
		return c, err
	}
	if err := p.slots.Acquire(ctx, 1); err != nil {
		return c, err
	}
	defer p.slots.Release(1)
	c, err = s.content(ctx, r)
	return c, s.error(err)
}

func (s *sack) content(ctx context.Context, r *model.ContentRequest) (c model.Content, err error) {
	s.work.Lock()
	defer s.work.Unlock()
	if s.view.IsClosed() {
		return c, notOwned(s.number)
	}
	found := make([]*model.Metric, 1)
	if err := s.parent.options.Index.Find(ctx, []uuid.UUID{r.Metric}, found); err != nil {
		return c, err
	}
	if found[0] == nil {
		return c, model.BackfillRefused("metric %s does not exist", r.Metric)
	}
	if s.heads.IsDirty(r.Metric) {
		if err := s.checkpointLocked(ctx); err != nil {
			return c, err
		}
	}
	if r.Put == nil {
		return s.store.Content(r.Metric, r.Token, contentBytes)
	}
	checkpoint := s.store.NewCheckpoint()
	defer checkpoint.Close()
	c.Written, err = checkpoint.PutContent(r.Metric, r.Put, found[0].ArchivePolicy.Plan())
	if err != nil || c.Written == 0 {
		return c, err
	}
	// The head is empty since the checkpoint; the next one begins with the archive as it is now.
	return c, s.view.Commit(checkpoint, func() { s.heads.Drop(r.Metric) })
}
