package index

import (
	"context"
	"errors"

	"github.com/google/uuid"

	"gnocco/model"
)

// Find sets found[i] to the metric ids[i], nil for one that is unknown or marked deleted. A value that does not decode
// is reported and counts as unknown; any other failure is returned, so that nobody takes it for an answer.
func (s *Store) Find(_ context.Context, ids []uuid.UUID, found []*model.Metric) error {
	for i, id := range ids {
		m, err := s.Metric(id)
		if err != nil && !errors.Is(err, model.ErrNotFound) && !s.skipCorrupt(err) {
			return err
		}
		found[i] = m
	}
	return nil
}
