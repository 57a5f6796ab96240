package claim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// A store that was open and has no folder is damaged, also if its holder was killed. One that was never open is made.
func TestRemovedFolderIsMissed(t *testing.T) {
	const root, name, dir = "data", "sacks/007", "data/sacks/007"
	fs := vfs.NewMem()
	take := func(epoch uint64) {
		t.Helper()
		if _, err := claim.TakeOver(fs, dir, epoch); err != nil {
			t.Fatal(err)
		}
	}
	open := func(epoch uint64) {
		t.Helper()
		take(epoch)
		if err := claim.MarkOpened(fs, root, name, epoch); err != nil {
			t.Fatal(err)
		}
	}
	highest := func(want uint64) {
		t.Helper()
		if got, err := claim.HighestFolder(fs, root, name, nil); got != want || err != nil {
			t.Errorf("%d, %v, want %d", got, err, want)
		}
		if err := claim.Check(fs, root, name); err != nil {
			t.Error(err)
		}
	}
	missed := func() {
		t.Helper()
		if got, err := claim.HighestFolder(fs, root, name, nil); !errors.Is(err, claim.ErrUnstable) {
			t.Errorf("%d, %v", got, err)
		}
		if err := claim.Check(fs, root, name); !errors.Is(err, claim.ErrUnstable) {
			t.Error(err)
		}
	}
	remove := func(path string) {
		t.Helper()
		if err := fs.RemoveAll(path); err != nil {
			t.Fatal(err)
		}
	}
	highest(0)
	take(1)
	remove(dir) // its holder died before it opened the store
	highest(0)
	open(2)
	open(3)
	highest(3)
	if names, err := fs.List("data/claims/" + name); err != nil || !slices.Equal(names, []string{"3.opened"}) {
		t.Error(names, err)
	}
	take(4) // and dies
	highest(4)
	remove(dir + "/e4")
	highest(3)
	remove(dir + "/e3")
	missed() // although epoch 2 is there
	remove(dir)
	missed()
	if err := claim.Forget(fs, root, name); err != nil {
		t.Fatal(err)
	}
	highest(0)

	// Removed under its holder, which then gives it back.
	open(5)
	remove(dir)
	left, err := claim.ClosedStateOf(fs, root, name, 5)
	if err != nil || left.Epoch != 5 {
		t.Error(left, err)
	}
	if _, err := claim.HighestFolder(fs, root, name, &left); !errors.Is(err, claim.ErrUnstable) {
		t.Error(err)
	}

	// Removed because nothing of it is needed any more.
	open(6)
	if err := claim.Remove(fs, root, name); err != nil {
		t.Fatal(err)
	}
	highest(0)
	if left, err := claim.ClosedStateOf(fs, root, name, 6); err != nil || left != (claim.ClosedState{}) {
		t.Error(left, err)
	}
}
