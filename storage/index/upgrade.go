package index

import (
	"context"

	"github.com/cockroachdb/pebble/v2"

	"gnocco/model"
)

// upgrade brings a store of format version 1 to the present one: resources, all generic, get the key under their type.
// A crash on the way does no harm: the version comes last, and until then all is written again.
func (s *Store) upgrade() error {
	const keysPerBatch = 10_000
	b := s.db.NewBatch()
	defer func() { b.Close() }()
	flush := func() error {
		if err := b.Commit(pebble.NoSync); err != nil {
			return err
		}
		if err := b.Close(); err != nil {
			return err
		}
		b = s.db.NewBatch()
		return nil
	}
	err := s.scan(context.Background(), []byte{prefixResource}, nil, func(key, _ []byte) (bool, error) {
		id, ok := lastID(key)
		if !ok {
			return true, nil
		}
		if err := b.Set(typeResourceKey(model.GenericType, id), nil, nil); err != nil {
			return false, err
		}
		if b.Count() < keysPerBatch {
			return true, nil
		}
		return true, flush()
	})
	if err != nil {
		return err
	}
	if err := b.Set(keyVersion, []byte{formatVersion}, nil); err != nil {
		return err
	}
	return b.Commit(pebble.Sync)
}
