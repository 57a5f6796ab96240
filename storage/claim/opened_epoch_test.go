package claim_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store that was open and has no folder is damaged, also if its holder was killed. One that was never open is made.
func TestRemovedFolderIsMissed(t *testing.T) {
	const root, name, dir = "data", "sacks/007", "data/sacks/007"
	fs := vfs.NewMem()
	take := func(epoch uint64) {
		t.Helper()
		if _, err := claim.TakeOver(fs, root, name, epoch); err != nil {
			t.Fatal(err)
		}
	}
	open := func(epoch uint64) {
		t.Helper()
		take(epoch)
		makeManifest(t, fs, dir, epoch)
		fatal.If(t, claim.MarkOpened(fs, root, name, epoch))
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
		fatal.If(t, fs.RemoveAll(path))
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
	fatal.If(t, claim.Forget(fs, root, name))
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
	fatal.If(t, claim.Remove(fs, root, name))
	highest(0)
	if left, err := claim.ClosedStateOf(fs, root, name, 6); err != nil || left != (claim.ClosedState{}) {
		t.Error(left, err)
	}
}

// removal is a file system that shows what a power cut would leave when a folder is removed with all in it.
type removal struct {
	*vfs.MemFS
	left *vfs.MemFS
}

func (r *removal) RemoveAll(name string) error {
	r.left = r.CrashClone(vfs.CrashCloneCfg{})
	return r.MemFS.RemoveAll(name)
}

// A power cut during a removal does not bring back the name of a store whose files are gone.
func TestRemovedStoreStaysRemoved(t *testing.T) {
	const root, name, dir = "data", "incoming/7", "data/incoming/7"
	fs := &removal{MemFS: vfs.NewCrashableMem()}
	fatal.If(t, errors.Join(fs.MkdirAll(root, 0o750), claim.SyncFolder(fs, "")))
	if _, err := claim.TakeOver(fs, root, name, 1); err != nil {
		t.Fatal(err)
	}
	makeManifest(t, fs, dir, 1)
	fatal.If(t, errors.Join(claim.MarkOpened(fs, root, name, 1), claim.MarkClosed(fs, dir, 1),
		claim.SyncFolder(fs, dir)))
	fatal.If(t, claim.Remove(fs, root, name))
	if names, err := fs.left.List(dir); err != nil || slices.Contains(names, "e1") {
		t.Errorf("left are %q, %v", names, err)
	}
}

func makeManifest(t *testing.T, fs vfs.FS, dir string, epoch uint64) {
	t.Helper()
	path := fs.PathJoin(claim.Folder(fs, dir, epoch), "MANIFEST-000001")
	file, err := fs.Create(path, vfs.WriteCategoryUnspecified)
	fatal.If(t, errors.Join(err, file.Close()))
}

// A folder that lost all its files, with the record of them, is missing if the store was open before, at that epoch or
// an earlier one. A folder that was made and never opened is empty, and in order.
func TestEmptiedFolderIsMissed(t *testing.T) {
	const root, name, dir = "data", "sacks/007", "data/sacks/007"
	fs := vfs.NewMem()
	missing := func(fs vfs.FS, want bool) {
		t.Helper()
		for _, left := range []*claim.ClosedState{nil, {Epoch: 1}} {
			if _, err := claim.HighestFolder(fs, root, name, left); errors.Is(err, claim.ErrMissing) != want ||
				!want && err != nil {
				t.Errorf("given back as %v: %v", left, err)
			}
		}
		if err := claim.Check(fs, root, name); errors.Is(err, claim.ErrMissing) != want || !want && err != nil {
			t.Error(err)
		}
	}
	take := func(epoch uint64) {
		t.Helper()
		if _, err := claim.TakeOver(fs, root, name, epoch); err != nil {
			t.Fatal(err)
		}
	}
	empty := func(epoch uint64) {
		t.Helper()
		path := claim.Folder(fs, dir, epoch)
		fatal.If(t, errors.Join(fs.RemoveAll(path), fs.MkdirAll(path, 0o700)))
	}
	take(1)
	fatal.If(t, claim.NoteStore(fs, root, name, claim.Format{Store: 1, Pebble: 1}))
	missing(fs, false)
	take(2) // of a holder that died before it opened the store
	missing(fs, false)
	makeManifest(t, fs, dir, 2)
	fatal.If(t, claim.MarkOpened(fs, root, name, 2))
	missing(fs, false)
	backup := vfs.NewMem()
	if _, err := vfs.Clone(fs, backup, root, root); err != nil {
		t.Fatal(err)
	}
	empty(2)
	missing(fs, true)
	makeManifest(t, fs, dir, 2)
	take(3)
	fatal.If(t, claim.RemoveOld(fs, dir, 3))
	missing(fs, false)
	empty(3) // before it was opened at that epoch
	missing(fs, true)

	missing(backup, false) // put back as a whole

	if err := claim.Forget(fs, root, name); err != nil { // given up
		t.Fatal(err)
	}
	missing(fs, false)
}
