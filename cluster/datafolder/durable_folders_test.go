package datafolder_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A process syncs the names of folders that it finds, beside those that it makes: their maker may have ended before.
func TestFoldersThatAreThereAreSynced(t *testing.T) {
	synced := make(map[string]bool)
	disk := vfs.Default
	defer func() { vfs.Default = disk }()
	vfs.Default = errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync {
			synced[op.Path] = true
		}
		return nil
	}))
	id := uuid.New()
	parent := t.TempDir()
	path := filepath.Join(parent, "data")
	own := filepath.Join(path, "clocks", "latest."+id.String())
	use := func() {
		clear(synced)
		folder, err := datafolder.Share(path)
		fatal.If(t, err)
		_, _, err = folder.EnsureClusterFile(4, datafolder.CoordinationFile, "")
		fatal.If(t, err)
		_, _, err = folder.EnsureClock(id, 1)
		fatal.If(t, err)
		fatal.If(t, folder.KeepReading(id, 2))
		fatal.If(t, folder.Release())
		for _, dir := range []string{parent, path, filepath.Join(path, "clocks"), own, filepath.Join(own, "readings")} {
			if !synced[dir] {
				t.Errorf("%s was not synced", dir)
			}
		}
	}
	use()
	use()
	fatal.If(t, os.RemoveAll(filepath.Join(own, "readings")))
	use()
}
