package index

import (
	"context"
	"fmt"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// PutBoard keeps a board, which replaces one of the same ID. It is durable when PutBoard returns.
func (s *documents) PutBoard(ctx context.Context, b *model.Board) error {
	return s.log.Write(ctx, func(c *commits.Change) error {
		return records.SetJSON(c.Batch, keyspace.IDKey(keyspace.Board, b.ID), b)
	})
}

// DeleteBoard removes a board if there is one of this ID.
func (s *documents) DeleteBoard(ctx context.Context, id uuid.UUID) error {
	return s.log.Write(ctx, func(c *commits.Change) error {
		return c.Batch.Delete(keyspace.IDKey(keyspace.Board, id), nil)
	})
}

// Board returns one, or a model.ErrNotFound.
func (s *documents) Board(id uuid.UUID) (*model.Board, error) {
	value, err := s.log.Get(keyspace.IDKey(keyspace.Board, id))
	if err != nil {
		return nil, err
	}
	if value == nil {
		return nil, model.NotFound(model.NounBoard, id.String())
	}
	b := new(model.Board)
	if err := records.DecodeJSON(value, b); err != nil {
		return nil, fmt.Errorf("board %s: %w", id, err)
	}
	return b, nil
}

// Boards calls f with the boards after one (zero: all), the first saved first, until f returns false.
func (s *documents) Boards(ctx context.Context, after uuid.UUID, f func(*model.Board) bool) error {
	return s.log.Scan(ctx, []byte{keyspace.Board}, keyspace.IDKey(keyspace.Board, after),
		func(key, value []byte) (bool, error) {
			id, ok := keyspace.LastID(key)
			if !ok || id == after {
				return true, nil
			}
			b := new(model.Board)
			if err := records.DecodeJSON(value, b); err != nil {
				s.log.SkipCorrupt(fmt.Errorf("board %s: %w", id, err))
				return true, nil
			}
			return f(b), nil
		})
}
