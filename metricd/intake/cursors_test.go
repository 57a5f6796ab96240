package intake_test

import (
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A cursor outlives its store's attachment, until a checkpoint has its measures and nobody waits for the store.
func TestCursors(t *testing.T) {
	known := &intake.Sources{Complete: true, Waited: []string{"a"}}
	in := intake.New(intake.Options{Sources: func() *intake.Sources { return known }})
	asked := 0
	attach := func(id string) *intake.Cursor {
		t.Helper()
		c, err := in.Attach(id, func(string) (uint64, error) { asked++; return 7, nil })
		fatal.If(t, err)
		return c
	}
	requireMarks := func(want ...string) {
		t.Helper()
		var marks []string
		in.EachMark(func(id string, read uint64) { marks = append(marks, id) })
		slices.Sort(marks)
		if !slices.Equal(marks, want) {
			t.Errorf("marks of %v are to be written, want %v", marks, want)
		}
	}
	a, b := attach("a"), attach("b")
	if a.Read() != 7 || a.Applied() != 7 {
		t.Errorf("a store begins at %d and %d, want its mark", a.Read(), a.Applied())
	}
	requireMarks()
	a.Advance(&incoming.Record{Sequence: 8})
	b.Advance(&incoming.Record{Sequence: 9})
	requireMarks("a", "b")
	in.Detach(b)
	if attach("b") != b {
		t.Error("a store that comes back has another position before a checkpoint")
	}
	in.Detach(a)
	in.Detach(b)
	in.Quarantine(a, &incoming.Record{Sequence: 10}, []byte("x"))
	if kept := in.Quarantined(); len(kept) != 1 || kept[0].Sequence != 10 || kept[0].Source != "a" {
		t.Errorf("quarantined: %v", kept)
	}
	in.Apply()
	requireMarks()
	if a.Applied() != 10 || len(in.Quarantined()) != 0 {
		t.Errorf("a checkpoint left sequence %d, %d blocks", a.Applied(), len(in.Quarantined()))
	}
	asked = 0
	if attach("a") != a || attach("b") == b || asked != 1 {
		t.Error("a checkpoint forgets stores that are gone, except those that are waited for")
	}
}
