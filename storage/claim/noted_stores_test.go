package claim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store of which the folder and all claims are gone is missed; one that was never open, was removed in order or was
// given up is not.
func TestVanishedStoreIsMissed(t *testing.T) {
	const root, name, dir = "data", "incoming/a.1", "data/incoming/a.1"
	format := claim.Format{Store: 4, Pebble: 24}
	fs := vfs.NewMem()
	take := func(epoch uint64) {
		t.Helper()
		if _, err := claim.TakeOver(fs, root, name, epoch); err != nil {
			t.Fatal(err)
		}
		fatal.If(t, claim.NoteStore(fs, root, name, format))
		makeManifest(t, fs, dir, epoch)
		fatal.If(t, claim.MarkOpened(fs, root, name, epoch))
	}
	vanish := func() {
		t.Helper()
		fatal.If(t, errors.Join(fs.RemoveAll(dir), fs.RemoveAll("data/claims/"+name)))
	}
	missing := func(want bool) {
		t.Helper()
		left := claim.ClosedState{}
		for _, left := range []*claim.ClosedState{nil, &left} {
			if _, err := claim.HighestFolder(fs, root, name, left); errors.Is(err, claim.ErrMissing) != want {
				t.Errorf("given back as %v: %v", left, err)
			}
		}
		if err := claim.Check(fs, root, name); errors.Is(err, claim.ErrMissing) != want {
			t.Error(err)
		}
		known, err := claim.Known(fs, root, "incoming")
		if err != nil || slices.Contains(known, name) != want {
			t.Error(known, err)
		}
	}
	missing(false)
	take(1)
	if err := claim.Check(fs, root, name); err != nil {
		t.Error(err)
	}
	vanish()
	missing(true)
	fatal.If(t, claim.Forget(fs, root, name))
	missing(false)
	take(1)
	fatal.If(t, claim.Remove(fs, root, name))
	vanish()
	missing(false)
}

// The formats of a store are known without it, however it is written later.
func TestLaterFormat(t *testing.T) {
	fs := vfs.NewMem()
	note := func(store, pebble int) {
		t.Helper()
		fatal.If(t, claim.NoteStore(fs, "data", "index", claim.Format{Store: store, Pebble: pebble}))
	}
	later := func(store, pebble int, want bool) {
		t.Helper()
		err := claim.CheckFormat(fs, "data", "index", claim.Format{Store: store, Pebble: pebble})
		if errors.Is(err, storage.ErrLaterFormat) != want {
			t.Errorf("%d.%d: %v", store, pebble, err)
		}
	}
	later(0, 0, false)
	note(4, 24)
	later(4, 24, false)
	later(5, 25, false)
	later(3, 24, true)
	later(4, 23, true)
	note(10, 24)
	later(9, 24, true)
	later(10, 24, false)
	note(4, 24) // by a program that was started before
	later(9, 24, true)
}
