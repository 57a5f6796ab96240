package index

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// Revive takes the end of resources whose metrics got a measure that is no older: newest has its timestamp, by
// resource. Each that was ended begins a new revision at the given time.
func (s *Store) Revive(ctx context.Context, newest map[uuid.UUID]carbonara.Timestamp, at carbonara.Timestamp) error {
	for id, measure := range newest {
		_, err := s.UpdateResource(ctx, model.GenericType, id, at, func(r *model.Resource) (*MetricSet, error) {
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

// endOf returns when a resource ended, nil if it did not, and whether it exists.
func (s *Store) endOf(resource uuid.UUID) (end *carbonara.Timestamp, exists bool, err error) {
	value, closer, err := s.db.Get(keyspace.IDKey(keyspace.Resource, resource))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("index: read resource %s: %w", resource, err)
	}
	defer closer.Close()
	return records.EndOf(value), true, nil
}
