package datafolder_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store that was closed, changed and closed again is taken over after a power cut: no earlier mark comes back.
func TestAtRestSurvivesAPowerCut(t *testing.T) {
	const dir = "data/incoming/7"
	fs := vfs.NewCrashableMem()
	change := func() {
		t.Helper()
		db, err := engine.Open(claim.Folder(fs, dir, 1), engine.Options{FS: fs})
		fatal.If(t, errors.Join(err, db.Close(), datafolder.AtRest(fs, claim.Folder(fs, dir, 1))))
	}
	if _, err := claim.TakeOver(fs, "data", "incoming/7", 1); err != nil {
		t.Fatal(err)
	}
	change()
	fatal.If(t, claim.SyncFolder(fs, dir))
	change()
	if _, err := claim.TakeOver(fs.CrashClone(vfs.CrashCloneCfg{}), "data", "incoming/7", 2); err != nil {
		t.Error(err)
	}
}
