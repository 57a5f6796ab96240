package metricd

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
)

// contentBytes is from where on a part of a metric's content ends.
const contentBytes = 512 << 10

// Content returns a part of the content of a metric's archive, or puts one into it. Its sack must be held. The put is
// durable, and a repetition changes nothing. The error is a model.RefusedError if the metric does not take the part.
func (p *Metricd) Content(ctx context.Context, r *model.ContentRequest) (content model.Content, err error) {
	s, err := p.sackOf(r.Metric)
	if err != nil {
		return content, err
	}
	ids := []uuid.UUID{r.Metric}
	err = s.rewrite(ctx, ids, (*heads.Heads).IsDirty, &always, func(found []*model.Metric, c *archive.Checkpoint) (
		changed []uuid.UUID, err error) {
		if found[0] == nil {
			return nil, model.Refused("metric %s does not exist", r.Metric)
		}
		if r.Put == nil {
			content, err = s.store.Content(r.Metric, r.Token, contentBytes)
			return nil, err
		}
		content.Written, err = c.PutContent(r.Metric, r.Put, found[0].ArchivePolicy.Plan())
		if content.Written == 0 {
			return nil, err
		}
		return ids, err
	})
	return content, err
}
