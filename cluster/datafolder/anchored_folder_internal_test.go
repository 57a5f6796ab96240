package datafolder

import (
	"context"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/fulldisk"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// No change of a data folder whose mount went makes anything below the mount point. An empty folder in the place of the
// right one stands for it.
func TestNothingIsMadeBelowTheMountPoint(t *testing.T) {
	for _, below := range []string{"", "data"} { // the data folder is the mount's root, or a folder in it
		mount := filepath.Join(t.TempDir(), "mount")
		fatal.If(t, os.Mkdir(mount, 0o750))
		f, _, _, err := Enter(filepath.Join(mount, below), Terms{Sacks: 2, Coordination: CoordinationFile, Make: true})
		fatal.If(t, err)
		fs := f.Anchored(vfs.Default)
		gone := mount + ".gone"
		do := func() (did int) {
			ended, end := context.WithCancel(t.Context())
			end()
			reserve := fulldisk.NewReserveFile(f.Place(""), 1<<10, slog.New(slog.DiscardHandler))
			for _, step := range []func() error{
				func() error { _, err := claim.TakeOver(fs, f.Path, "sacks/001", 7); return err },
				func() error { return claim.NoteStore(fs, f.Path, "sacks/001", FormatOf("sacks/001")) },
				func() error { return claim.MarkOpened(fs, f.Path, "sacks/001", 7) },
				func() error { return fs.MkdirAll(filepath.Join(f.Path, "index/e1"), 0o750) },
				func() error { _, _, err := f.EnsureClock(uuid.UUID{1}, 1); return err },
				func() error { return f.KeepReading(uuid.UUID{1}, 1) },
				func() error {
					reserve.Reconcile(ended)
					_, err := os.Stat(f.Place("reserve"))
					return err
				},
			} {
				if step() == nil {
					did++
				}
			}
			return did
		}
		fatal.If(t, os.Rename(mount, gone), os.Mkdir(mount, 0o750))
		do()
		entries, err := os.ReadDir(mount)
		if err != nil || len(entries) > 0 {
			t.Errorf("below the mount point: %v, %v", entries, err)
		}
		fatal.If(t, os.Remove(mount), os.Rename(gone, mount))
		if did := do(); did < 7 {
			t.Errorf("%d of 7 with the mount in place", did)
		}
		fatal.If(t, f.Release())
	}
}
