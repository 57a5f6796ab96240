package search

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// EachRevision calls f for the resources of a type, or of any as "generic", in the order of their IDs, until f returns
// false: for the past states of each, oldest first, then for the live one. They come without their metrics, which
// AddMetrics reads; f may keep them. It returns a model.ErrNotFound for an unknown type.
func (s *Resources) EachRevision(ctx context.Context, resourceType string, f func(*model.Resource) bool) error {
	if s.types()[resourceType] == nil {
		return model.NotFound(model.NounResourceType, resourceType)
	}
	if err := s.log.Durable(s.eachRevision(ctx, resourceType, f)); err != nil {
		return fmt.Errorf("index: read resources: %w", err)
	}
	return nil
}

// eachRevision is EachRevision, on one state of the store. The resources need not be durable yet.
func (s *Resources) eachRevision(ctx context.Context, resourceType string, f func(*model.Resource) bool) (err error) {
	before := s.types()
	snapshot := s.log.DB.NewSnapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	decoder := s.Decoder(before)
	iterate := func(prefix []byte) (*pebble.Iterator, error) {
		return snapshot.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: prefix,
			UpperBound: keyspace.PrefixEnd(prefix)})
	}
	live, err := iterate([]byte{keyspace.Resource})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, live.Close()) }()
	past, err := iterate([]byte{keyspace.Revision})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, past.Close()) }()
	// visit calls f for the resource that live stands on, and its past.
	visit := func() (bool, error) {
		id, ok := keyspace.LastID(live.Key())
		if !ok {
			return true, nil
		}
		if more, err := s.pastStates(ctx, past, id, decoder, f); !more || err != nil {
			return false, err
		}
		value, err := live.ValueAndErr()
		if err != nil {
			return false, err
		}
		r, err := decoder.Decode(id, value)
		if s.log.SkipCorrupt(err) {
			return true, nil
		}
		return err == nil && f(r), err
	}
	if resourceType == model.GenericType {
		return keyspace.EachKey(ctx, live, visit)
	}
	ofType, err := iterate(keyspace.TypeResourcePrefix(resourceType))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ofType.Close()) }()
	var ids []uuid.UUID
	err = keyspace.EachKey(ctx, ofType, func() (bool, error) {
		id, _ := keyspace.LastID(ofType.Key())
		ids = append(ids, id)
		return true, nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(ids, model.CompareIDs)
	key := []byte{keyspace.Resource}
	for _, id := range ids {
		key = append(key[:1], id[:]...)
		// Where resources of the type lie close together this is one step. Elsewhere it skips all in between.
		if !live.SeekGE(key) || string(live.Key()) != string(key) {
			if err := live.Error(); err != nil {
				return err
			}
			continue
		}
		if more, err := visit(); err != nil || !more {
			return err
		}
	}
	return nil
}

// pastStates calls f for the past states of a resource, oldest first, until f returns false.
func (s *Resources) pastStates(
	ctx context.Context, iter *pebble.Iterator, id uuid.UUID, decoder *records.Decoder, f func(*model.Resource) bool,
) (more bool, err error) {
	prefix := keyspace.IDKey(keyspace.Revision, id)
	ofResource := func(key []byte) bool { return len(key) == len(prefix)+8 && bytes.HasPrefix(key, prefix) }
	for valid := iter.SeekGE(prefix); valid && ofResource(iter.Key()); valid = iter.Next() {
		if ctx.Err() != nil { // a resource may have any number of states
			return false, ctx.Err()
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return false, err
		}
		r, err := decoder.Decode(id, value)
		if s.log.SkipCorrupt(err) {
			continue
		}
		if err != nil {
			return false, err
		}
		r.Revision = binary.BigEndian.Uint64(iter.Key()[len(prefix):])
		if !f(r) {
			return false, nil
		}
	}
	return true, iter.Error()
}

// History returns the states of one resource of a type, or of any as "generic", oldest first, the live one last, or a
// model.ErrNotFound. They come without metrics.
func (s *Resources) History(ctx context.Context, resourceType string, id uuid.UUID) ([]*model.Resource, error) {
	states, err := s.readHistory(ctx, resourceType, id)
	return states, s.log.Durable(err)
}

func (s *Resources) readHistory(ctx context.Context, resourceType string,
	id uuid.UUID) (states []*model.Resource, err error) {
	before := s.types()
	snapshot := s.log.DB.NewSnapshot()
	defer func() { err = errors.Join(err, snapshot.Close()) }()
	value, closer, err := snapshot.Get(keyspace.IDKey(keyspace.Resource, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, model.NotFound(model.NounResource, id.String())
	}
	if err != nil {
		return nil, fmt.Errorf("index: read resource %s: %w", id, err)
	}
	decoder := s.Decoder(before)
	live, err := decoder.Decode(id, value)
	if err := errors.Join(err, closer.Close()); err != nil {
		return nil, err
	}
	if resourceType != model.GenericType && live.Type != resourceType {
		return nil, model.NotFound(model.NounResource, id.String())
	}
	prefix := keyspace.IDKey(keyspace.Revision, id)
	iter, err := snapshot.NewIterWithContext(ctx,
		&pebble.IterOptions{LowerBound: prefix, UpperBound: keyspace.PrefixEnd(prefix)})
	if err != nil {
		return nil, fmt.Errorf("index: read history of %s: %w", id, err)
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	_, err = s.pastStates(ctx, iter, id, decoder, func(r *model.Resource) bool {
		states = append(states, r)
		return true
	})
	return append(states, live), err
}
