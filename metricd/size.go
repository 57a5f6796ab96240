package metricd

import (
	"context"

	"github.com/google/uuid"

	"gnocco/storage/archive"
)

// Sizes returns what metrics take in their sacks' stores, which must be held. Measures that are in no checkpoint yet do not count.
func (p *Metricd) Sizes(ctx context.Context, metrics []uuid.UUID) ([]archive.Size, error) {
	sizes := make([]archive.Size, len(metrics))
	for i, metric := range metrics {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		s, err := p.sackOf(metric)
		if err != nil {
			return nil, err
		}
		if sizes[i], err = s.size(metric); err != nil {
			return nil, err
		}
	}
	return sizes, nil
}

func (s *sack) size(metric uuid.UUID) (archive.Size, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if s.closed {
		return archive.Size{}, notOwned(s.number)
	}
	return s.store.Size(metric)
}
