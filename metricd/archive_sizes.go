package metricd

import (
	"context"

	"gnocco/model"

	"github.com/google/uuid"
)

// Sizes returns what metrics take in their sacks' stores, which must be held. Measures that are in no checkpoint yet take
// nothing; those that were dropped count.
func (p *Metricd) Sizes(ctx context.Context, metrics []uuid.UUID) ([]model.ArchiveSize, error) {
	sizes := make([]model.ArchiveSize, len(metrics))
	for i, metric := range metrics {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s, err := p.sackOf(metric)
		if err != nil {
			return nil, err
		}
		if sizes[i], err = s.size(metric); err != nil {
			return nil, s.error(err)
		}
	}
	return sizes, nil
}

func (s *sack) size(metric uuid.UUID) (model.ArchiveSize, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return model.ArchiveSize{}, notOwned(s.number)
	}
	size, err := s.store.Size(metric)
	if h := s.heads[metric]; h != nil {
		size.Dropped += h.dropped
	}
	return size, err
}
