package search

import (
	"fmt"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// ReadResource reads a resource without its metrics, and also returns its stored value. Both need not be durable yet.
func (s *Resources) ReadResource(resourceType string, id uuid.UUID) (*model.Resource, []byte, error) {
	value, err := s.log.Get(keyspace.IDKey(keyspace.Resource, id))
	if err != nil {
		return nil, nil, fmt.Errorf("index: read resource %s: %w", id, err)
	}
	if value == nil {
		return nil, nil, model.NotFound(model.NounResource, id.String())
	}
	r, err := s.Decoder(nil).Decode(id, value)
	if err != nil {
		// Perhaps it was deleted since, and then its type.
		if exists, existsErr := s.log.Has(keyspace.IDKey(keyspace.Resource, id)); existsErr == nil && !exists {
			err = model.NotFound(model.NounResource, id.String())
		}
		return nil, nil, err
	}
	if resourceType != model.GenericType && r.Type != resourceType {
		return nil, nil, model.NotFound(model.NounResource, id.String())
	}
	return r, value, nil
}

// Decoder returns a decoder of resources by their types as they are now, or were. It must be asked for after
// the resources were found: a type is there before its resources. Types that are gone since are looked for in before,
// read before the resources were found; nil for none.
func (s *Resources) Decoder(before map[string]*model.ResourceType) *records.Decoder {
	d := &records.Decoder{Types: s.types()}
	if before != nil {
		d.Before = before
	}
	return d
}
