package index_test

import (
	"context"
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// Boards stay over a restart, in the order in which they were saved, until they are replaced or deleted.
func TestBoards(t *testing.T) {
	ctx, fs := context.Background(), vfs.NewMem()
	open := func() *index.Store {
		t.Helper()
		s, err := index.Open("index", index.Options{FS: fs, SkipDefaults: true})
		fatal.If(t, err)
		return s
	}
	s := open()
	var ids []uuid.UUID
	for _, name := range []string{"a", "b", "c"} {
		b := &model.Board{ID: uuid.Must(uuid.NewV7()), Name: name, Owner: "jd", Shared: name == "b",
			Panels: []model.Panel{{Title: "Up", View: "explore?q=up"}}}
		ids = append(ids, b.ID)
		fatal.If(t, s.PutBoard(ctx, b))
		if b.Name += "2"; name == "b" {
			fatal.If(t, s.PutBoard(ctx, b))
		}
	}
	fatal.If(t, errors.Join(s.DeleteBoard(ctx, ids[0]), s.Close()))
	s = open()
	defer s.Close()
	list := func(after uuid.UUID) (names string) {
		t.Helper()
		fatal.If(t, s.Boards(ctx, after, func(b *model.Board) bool {
			names += b.Name + " "
			return true
		}))
		return names
	}
	if all, rest := list(uuid.Nil), list(ids[1]); all != "b2 c " || rest != "c " {
		t.Errorf("all %q, after b %q", all, rest)
	}
	if _, err := s.Board(ids[0]); !errors.Is(err, model.ErrNotFound) {
		t.Errorf("a deleted board: %v", err)
	}
	if b, err := s.Board(ids[1]); err != nil || b.Owner != "jd" || !b.Shared || b.Panels[0].View != "explore?q=up" {
		t.Errorf("%+v, %v", b, err)
	}
}
