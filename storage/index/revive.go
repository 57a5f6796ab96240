package index

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
)

// Revive takes the end of resources whose metrics got a measure that is no older: newest has its timestamp, by
// resource. Each that was ended begins a new revision at the given time.
func (s *Store) Revive(ctx context.Context, newest map[uuid.UUID]carbonara.Timestamp, at carbonara.Timestamp) error {
	for id, measure := range newest {
		_, err := s.UpdateResource(ctx, model.GenericType, id, at, func(r *model.Resource) (*metrics.Set, error) {
			if r.EndedAt != nil && *r.EndedAt <= measure {
				r.EndedAt = nil
			}
			return nil, nil
		})
		if err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
	}
	return nil
}
