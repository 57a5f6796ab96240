package metrics

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// endedResources says which resources may have ended, by two bits each of a fixed table: few metrics that are looked up
// need a look at their resource. Bits stay when a resource is revived or gone; of 100,000 ended resources one in thirty
// others is taken for one.
type endedResources struct {
	read sync.Once // what was ended before the store was opened, at the first look
	bits [1 << 14]atomic.Uint64
}

func (e *endedResources) places(id uuid.UUID) [2]uint64 {
	h := (binary.LittleEndian.Uint64(id[:8]) ^ binary.LittleEndian.Uint64(id[8:])) * 0x9e3779b97f4a7c15
	return [2]uint64{h >> 44, h >> 24 & (1<<20 - 1)}
}

// add is called before a change that ends the resource is committed.
func (e *endedResources) add(id uuid.UUID) {
	for _, p := range e.places(id) {
		e.bits[p/64].Or(1 << (p % 64))
	}
}

func (e *endedResources) may(id uuid.UUID) bool {
	for _, p := range e.places(id) {
		if e.bits[p/64].Load()&(1<<(p%64)) == 0 {
			return false
		}
	}
	return true
}

// mayHaveEnded reports whether a resource may have ended.
func (s *Table) mayHaveEnded(id uuid.UUID) bool {
	s.ended.read.Do(func() {
		err := s.log.Scan(context.Background(), []byte{keyspace.Field, keyspace.FieldEnded}, nil,
			func(key, _ []byte) (bool, error) {
				if ended, ok := keyspace.LastID(key); ok {
					s.ended.add(ended)
				}
				return true, nil
			})
		if err == nil {
			return
		}
		s.logger.Error("index: resources that ended are not read", "error", err)
		for i := range s.ended.bits {
			s.ended.bits[i].Store(^uint64(0)) // any may have
		}
	})
	return s.ended.may(id)
}

// endOf returns when a resource ended, nil if it did not, and whether it exists.
func (s *Table) endOf(resource uuid.UUID) (end *carbonara.Timestamp, exists bool, err error) {
	value, closer, err := s.log.DB.Get(keyspace.IDKey(keyspace.Resource, resource))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, fmt.Errorf("index: read resource %s: %w", resource, err)
	}
	defer closer.Close()
	return records.EndOf(value), true, nil
}
