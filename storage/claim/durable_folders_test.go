package claim_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A process ends at any step of making stores, in a data folder of which only the name is durable. Stores that the next
// process makes survive the end of the power, in folders that either of them made.
func TestFoldersOfEndedProcessesAreDurable(t *testing.T) {
	names, format := []string{"index", "sacks/003", "sacks/004", "incoming/a"}, claim.Format{Store: 1, Pebble: 1}
	makeStores := func(fs vfs.FS, epoch uint64) error {
		for _, name := range names {
			if _, err := claim.TakeOver(fs, "data", name, epoch); err != nil {
				return err
			}
			if err := claim.NoteStore(fs, "data", name, format); err != nil {
				return err
			}
			if err := claim.MarkOpened(fs, "data", name, epoch); err != nil {
				return err
			}
		}
		return nil
	}
	for steps, ended := 0, true; ended; steps++ {
		disk := vfs.NewCrashableMem()
		fatal.If(t, disk.MkdirAll("data", 0o700))
		fatal.If(t, claim.SyncFolder(disk, ""))
		left := steps
		ended = makeStores(errorfs.Wrap(disk, errorfs.InjectorFunc(func(errorfs.Op) error {
			if left--; left < 0 {
				return errorfs.ErrInjected
			}
			return nil
		})), 1) != nil
		fatal.If(t, makeStores(disk, 2))
		kept := disk.CrashClone(vfs.CrashCloneCfg{})
		for _, name := range names {
			_, epoch, err := claim.Current(kept, "data/"+name)
			formats, noteErr := claim.NotedFormats(kept, "data", name)
			if err != nil || noteErr != nil || epoch != 2 || len(formats) != 1 {
				t.Fatalf("ended after %d steps: %s has epoch %d and formats %v: %v %v", steps, name, epoch, formats, err, noteErr)
			}
		}
	}
}

// A takeover makes all folders of its path durable that an earlier process has made.
func TestFoldersThatAreThereAreDurable(t *testing.T) {
	for _, made := range []string{"data/sacks", "data/sacks/000", "data/incoming/a", "data/index"} {
		disk := vfs.NewCrashableMem()
		fatal.If(t, disk.MkdirAll("data", 0o700))
		fatal.If(t, claim.SyncFolder(disk, ""))
		fatal.If(t, disk.MkdirAll(made, 0o700))
		for _, name := range []string{"sacks/000", "incoming/a", "index"} {
			path, err := claim.TakeOver(disk, "data", name, 1)
			fatal.If(t, err)
			if _, err := disk.CrashClone(vfs.CrashCloneCfg{}).Stat(path); err != nil {
				t.Errorf("where %s was: %v", made, err)
			}
		}
	}
}

// A member joins, claims, makes stores and leaves where nothing above its data folder can be reached.
func TestNothingAboveTheDataFolderIsTouched(t *testing.T) {
	const root = "above/data"
	disk := vfs.NewMem()
	fatal.If(t, disk.MkdirAll(root, 0o700))
	fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Path != root && !strings.HasPrefix(op.Path, root+"/") {
			return errorfs.ErrInjected
		}
		return nil
	}))
	coordinator, err := claim.NewFile(root, claim.Options{FS: fs})
	fatal.If(t, err)
	session, err := coordinator.Join(t.Context(), claim.Member{Node: "a"})
	fatal.If(t, err)
	for _, name := range []string{"index", "sacks/003", "sacks/004", "incoming/a"} {
		c, err := session.Claim(t.Context(), name)
		fatal.If(t, err)
		dir, err := claim.TakeOver(fs, root, name, c.Epoch)
		fatal.If(t, err)
		fatal.If(t, errors.Join(claim.NoteStore(fs, root, name, claim.Format{Store: 1, Pebble: 1}),
			claim.MarkOpened(fs, root, name, c.Epoch), claim.MarkClosed(fs, fs.PathDir(dir), c.Epoch),
			session.Release(t.Context(), c), claim.Remove(fs, root, name)))
	}
	fatal.If(t, session.Leave(t.Context()))
}
