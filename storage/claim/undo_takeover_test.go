package claim_test

import (
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A takeover that is undone leaves the store as it was found, so that the next one begins from the same, however the
// store was left, and with any other files there.
func TestUndoTakeOver(t *testing.T) {
	list := func(t *testing.T, fs vfs.FS) []string {
		t.Helper()
		names, err := fs.List(storeDir)
		fatal.If(t, err)
		slices.Sort(names)
		return names
	}
	open := func(t *testing.T, fs vfs.FS, epoch uint64, closed bool) {
		t.Helper()
		dir, err := claim.TakeOver(fs, "data", storeName, epoch)
		fatal.If(t, err)
		db := openStore(t, fs, dir)
		fill(t, db, "a")
		fatal.If(t, db.Close())
		if closed {
			fatal.If(t, claim.MarkClosed(fs, storeDir, epoch))
		}
	}
	for name, prepare := range map[string]func(t *testing.T, fs vfs.FS){
		"killed":                     func(t *testing.T, fs vfs.FS) { open(t, fs, 1, false) },
		"closed":                     func(t *testing.T, fs vfs.FS) { open(t, fs, 1, true) },
		"killed, with older epochs":  func(t *testing.T, fs vfs.FS) { open(t, fs, 1, false); open(t, fs, 2, false) },
		"closed, with older epochs":  func(t *testing.T, fs vfs.FS) { open(t, fs, 1, false); open(t, fs, 2, true) },
		"killed, after a closed one": func(t *testing.T, fs vfs.FS) { open(t, fs, 1, true); open(t, fs, 2, false) },
	} {
		t.Run(name, func(t *testing.T) {
			fs := vfs.NewMem()
			prepare(t, fs)
			before := list(t, fs)
			for epoch := uint64(7); epoch < 9; epoch++ {
				dir, err := claim.TakeOver(fs, "data", storeName, epoch)
				fatal.If(t, err)
				fatal.If(t, claim.UndoTakeOver(fs, storeDir, epoch))
				if after := list(t, fs); !slices.Equal(after, before) {
					t.Fatalf("undone at %s: %v, was %v", dir, after, before)
				}
			}
			if err := claim.UndoTakeOver(fs, storeDir, 9); err != nil { // that made nothing
				t.Fatal(err)
			}
			dir, err := claim.TakeOver(fs, "data", storeName, 9)
			fatal.If(t, err)
			db := openStore(t, fs, dir)
			defer db.Close()
			if n := keys(t, db, "a"); n != 60 {
				t.Errorf("%d keys", n)
			}
		})
	}
}
