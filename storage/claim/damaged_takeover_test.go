package claim_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// openEpoch opens a store's folder of an epoch, after taking it over.
func openEpoch(fs vfs.FS, epoch uint64) (*pebble.DB, error) {
	path, err := claim.TakeOver(fs, "", "index", epoch)
	if err == nil {
		err = claim.NoteStore(fs, "", "index", claim.Format{Store: 1, Pebble: 1})
	}
	if err != nil {
		return nil, err
	}
	return engine.Open(path, engine.Options{FS: fs, Fail: func(error) {}})
}

// flipAt turns a bit of a file.
func flipAt(t *testing.T, fs vfs.FS, path string, offset int64) {
	t.Helper()
	file, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
	fatal.If(t, err)
	b := make([]byte, 1)
	_, err = file.ReadAt(b, offset)
	b[0] ^= 4
	_, writeErr := file.WriteAt(b, offset)
	fatal.If(t, errors.Join(err, writeErr, file.Close()))
}

// newest returns the path of the last file of a folder whose name matches.
func newest(t *testing.T, fs vfs.FS, dir, pattern string) string {
	t.Helper()
	names, err := fs.List(dir)
	fatal.If(t, err)
	slices.Sort(names)
	for _, name := range slices.Backward(names) {
		if len(name) == len(pattern) && (name[6:] == pattern[6:] || name[:6] == pattern[:6]) {
			return fs.PathJoin(dir, name)
		}
	}
	t.Fatalf("%s: %v", dir, names)
	return ""
}

// The holder after next also compares a holder's record, whether the folder was renamed or copied on the way. Epochs go
// only when a later one was opened.
func TestRecordOutlivesTakeovers(t *testing.T) {
	for _, closed := range []bool{true, false} {
		t.Run(fmt.Sprintf("closed=%v", closed), func(t *testing.T) {
			fs := engine.NewRecorder(vfs.NewMem())
			db, err := openEpoch(fs, 1)
			fatal.If(t, err)
			for i := range 5 {
				fatal.If(t, db.Set(fmt.Appendf(nil, "key %d", i), []byte("value"), pebble.Sync))
			}
			fatal.If(t, fs.Record())
			killed := vfs.FS(vfs.NewMem())
			if !closed {
				if _, err := vfs.Clone(fs, killed, "index", "index"); err != nil {
					t.Fatal(err)
				}
			}
			fatal.If(t, db.Close())
			if closed {
				fatal.If(t, claim.MarkClosed(fs, "index", 1))
				killed = fs.FS
			}
			// One takes it over, and ends before it opens the store.
			fs = engine.NewRecorder(killed)
			if _, err := claim.TakeOver(fs, "", "index", 2); err != nil {
				t.Fatal(err)
			}
			log := newest(t, fs, "index/e2", "000000.log")
			flipAt(t, killed, log, 40)
			if db, err := openEpoch(fs, 3); !errors.Is(err, storage.ErrCorrupt) {
				t.Fatal("a damaged log is not noticed:", db, err)
			}
			if err := claim.RemoveOld(fs, "index", 3); err == nil {
				t.Error("earlier epochs were removed, and the store was not opened")
			}
			flipAt(t, killed, fs.PathJoin("index/e3", fs.PathBase(log)), 40) // the copy
			db, err = openEpoch(fs, 3)
			fatal.If(t, err)
			if _, closer, err := db.Get([]byte("key 4")); err != nil {
				t.Error(err)
			} else if err := closer.Close(); err != nil {
				t.Fatal(err)
			}
			if err := claim.RemoveOld(fs, "index", 3); err != nil {
				t.Error(err)
			}
			if names, err := fs.List("index"); err != nil || slices.Contains(names, "e2") ||
				slices.Contains(names, "e2.written") {
				t.Error(names, err)
			}
			fatal.If(t, db.Close())
		})
	}
}

// A store that was opened with a tail that nothing proves keeps the logs of the epoch before, once.
func TestUnprovenLogsAreKept(t *testing.T) {
	memory := vfs.FS(vfs.NewMem())
	fs := engine.NewRecorder(memory)
	for epoch := uint64(1); epoch < 7; epoch += 2 {
		db, err := openEpoch(fs, epoch)
		fatal.If(t, err)
		fatal.If(t, db.Set([]byte("key"), fmt.Append(nil, epoch), pebble.Sync))
		// Killed, before it was recorded.
		killed := vfs.FS(vfs.NewMem())
		if _, err := vfs.Clone(memory, killed, "index", "index"); err != nil {
			t.Fatal(err)
		}
		fatal.If(t, db.Close())
		memory, fs = killed, engine.NewRecorder(killed)
		path, _, err := claim.Current(fs, "index")
		fatal.If(t, err)
		flipAt(t, memory, newest(t, fs, path, "000000.log"), 25)
		if db, err = openEpoch(fs, epoch+1); err != nil {
			t.Fatal(err)
		}
		fatal.If(t, claim.RemoveOld(fs, "index", epoch+1))
		fatal.If(t, db.Close())
		fatal.If(t, claim.MarkClosed(fs, "index", epoch+1))
		names, err := fs.List("index")
		fatal.If(t, err)
		slices.Sort(names)
		kept := fmt.Sprintf("unproven-e%d", epoch)
		if len(names) != 4 || names[3] != kept {
			t.Errorf("epoch %d: %v", epoch, names)
		}
		if log := newest(t, fs, fs.PathJoin("index", kept), "000000.log"); log == "" {
			t.Error("no log is kept")
		}
	}
}

// The tables of a manifest that does not decode to its end are also kept.
func TestTablesOfUnprovenManifestAreKept(t *testing.T) {
	memory := vfs.NewMem()
	db, err := openEpoch(memory, 1)
	fatal.If(t, err)
	fatal.If(t, errors.Join(db.Set([]byte("key"), nil, pebble.Sync), db.Flush()))
	killed := vfs.NewMem() // before it was recorded
	if _, err := vfs.Clone(memory, killed, "index", "index"); err != nil {
		t.Fatal(err)
	}
	fatal.If(t, db.Close())
	manifest := newest(t, killed, "index/e1", "MANIFEST-000000")
	info, err := killed.Stat(manifest)
	fatal.If(t, err)
	flipAt(t, killed, manifest, info.Size()-1)
	fs := engine.NewRecorder(killed)
	if db, err = openEpoch(fs, 2); err != nil {
		t.Fatal(err)
	}
	fatal.If(t, errors.Join(claim.RemoveOld(fs, "index", 2), db.Close()))
	newest(t, fs, "index/unproven-e1", "000000.sst")
}
