package index

import (
	"context"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// PutBoard keeps a board, which replaces one of the same ID. It is durable when PutBoard returns.
func (s *documents) PutBoard(ctx context.Context, b *model.Board) error {
	return s.put(ctx, keyspace.Board, map[string]any{string(b.ID[:]): b})
}

// DeleteBoard removes a board if there is one of this ID.
func (s *documents) DeleteBoard(ctx context.Context, id uuid.UUID) error {
	return s.put(ctx, keyspace.Board, map[string]any{string(id[:]): nil})
}

// Board returns one, or a model.ErrNotFound.
func (s *documents) Board(id uuid.UUID) (*model.Board, error) {
	return read[model.Board](s.log, keyspace.Board, id, model.NounBoard)
}

// Boards calls f with the boards after one (zero: all), the first saved first, until f returns false.
func (s *documents) Boards(ctx context.Context, after uuid.UUID, f func(*model.Board) bool) error {
	return each(ctx, s.log, keyspace.Board, after, func(_ []byte, b *model.Board) bool { return f(b) })
}
