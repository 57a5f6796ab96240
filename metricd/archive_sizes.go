package metricd

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// Sizes returns what metrics take in their sacks' stores, which must be held. Measures that are in no checkpoint yet
// take nothing; those that were dropped or late count.
func (p *Metricd) Sizes(ctx context.Context, metrics []uuid.UUID) ([]model.ArchiveSize, error) {
	return eachMetric(ctx, p, metrics, (*sack).size)
}

func (s *sack) size(metric uuid.UUID) (model.ArchiveSize, error) {
	size, err := s.store.Size(metric)
	if h := s.heads.Of(metric); h != nil {
		dropped, late := h.Counts()
		size.Dropped += dropped
		size.Late += late
	}
	return size, err
}
