package index

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// documents are values that the store keeps and does not look into: boards, quotas, the ledger, metadata of names,
// recording rules.
type documents struct{ log *commits.Log }

// each calls use with the keys, without kind, and the documents of a kind after one (zero: all), in order, until it
// returns false. Those that do not decode are left out.
func each[T any](ctx context.Context, log *commits.Log, kind byte, after uuid.UUID,
	use func(key []byte, v *T) bool) error {
	var from []byte
	if after != uuid.Nil {
		from = append(keyspace.IDKey(kind, after), 0)
	}
	return log.Scan(ctx, []byte{kind}, from, func(key, value []byte) (bool, error) {
		v := new(T)
		if err := records.DecodeJSON(value, v); err != nil {
			log.SkipCorrupt(fmt.Errorf("document %q: %w", key, err))
			return true, nil
		}
		return use(key[1:], v), nil
	})
}

// read returns the document of an ID, or a model.ErrNotFound.
func read[T any](log *commits.Log, kind byte, id uuid.UUID, noun string) (*T, error) {
	value, err := log.Get(keyspace.IDKey(kind, id))
	if err == nil && value == nil {
		return nil, model.NotFound(noun, id.String())
	}
	v := new(T)
	if err == nil {
		err = records.DecodeJSON(value, v)
	}
	if err != nil {
		return nil, fmt.Errorf("index: read %s %s: %w", noun, id, err)
	}
	return v, nil
}

// put keeps documents of a kind by their keys, all or none; nil removes one. They are durable when put returns.
func (s *documents) put(ctx context.Context, kind byte, values map[string]any) error {
	return s.log.Write(ctx, func(c *commits.Change) (err error) {
		for name, value := range values {
			key := keyspace.NameKey(kind, name)
			if err = errors.Join(err, records.SetJSON(c.Batch, key, value)); value == nil {
				err = errors.Join(err, c.Batch.Delete(key, nil))
			}
		}
		return err
	})
}

// PutRecording keeps documents of recording rules by their keys, all or none; nil removes one.
func (s *documents) PutRecording(ctx context.Context, values map[string]any) error {
	return s.put(ctx, keyspace.Recording, values)
}

// Recordings calls f with all documents of recording rules.
func (s *documents) Recordings(ctx context.Context, f func(key string, value json.RawMessage)) error {
	return each(ctx, s.log, keyspace.Recording, uuid.Nil, func(key []byte, value *json.RawMessage) bool {
		f(string(key), *value)
		return true
	})
}
