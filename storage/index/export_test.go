package index

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// EachResource calls f for the live resources of a type, or of any as "generic", in the order of their IDs, until f
// returns false. They come without their metrics, which AddMetrics reads; f may keep them. It returns a
// model.ErrNotFound for an unknown type.
func (s *Store) EachResource(ctx context.Context, resourceType string, f func(*model.Resource) bool) error {
	return s.EachRevision(ctx, resourceType, func(r *model.Resource) bool { return r.Revision != 0 || f(r) })
}

// ListResources returns up to limit (0: all) resources of any type, with their metrics, in the order of their IDs, from
// after marker (zero: from the start).
func (s *Store) ListResources(ctx context.Context, limit int, marker uuid.UUID) ([]*model.Resource, error) {
	var resources []*model.Resource
	var from []byte
	if marker != uuid.Nil {
		from = append(keyspace.IDKey(keyspace.Resource, marker), 0)
	}
	before := s.policyTable.current.Load().types
	var decoder *records.Decoder
	err := s.log.Scan(ctx, []byte{keyspace.Resource}, from, func(key, value []byte) (bool, error) {
		if decoder == nil { // the iterator is open now
			decoder = s.Decoder(before)
		}
		id, _ := keyspace.LastID(key)
		r, err := decoder.Decode(id, value)
		if s.log.SkipCorrupt(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		resources = append(resources, r)
		return limit == 0 || len(resources) < limit, nil
	})
	if err != nil {
		return nil, fmt.Errorf("index: list resources: %w", err)
	}
	return resources, s.AddMetrics(ctx, resources...)
}
