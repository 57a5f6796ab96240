package claim_test

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// TakeOver returns a folder that survives a power failure. Another process may have made the store's folder and ended
// before that was durable, or an earlier call could not make the epoch's name durable.
func TestTakenFolderIsDurable(t *testing.T) {
	for kind, failing := range map[string]bool{"made by another process": false, "after a sync that failed": true} {
		disk := vfs.NewCrashableMem()
		fatal.If(t, disk.MkdirAll("data/sacks", 0o700))
		for _, dir := range []string{"", "data"} {
			fatal.If(t, claim.SyncFolder(disk, dir))
		}
		fatal.If(t, disk.MkdirAll("data/sacks/000", 0o700))
		fs := errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if failing && op.Kind == errorfs.OpFileSync && op.Path == "data/sacks/000" {
				failing = false
				return errorfs.ErrInjected
			}
			return nil
		}))
		path, err := claim.TakeOver(fs, "data", "sacks/000", 2)
		if err != nil {
			if path, err = claim.TakeOver(fs, "data", "sacks/000", 2); err == nil {
				fatal.If(t, claim.SyncFolder(disk, "data/sacks"))
			}
		}
		fatal.If(t, err)
		if _, err := disk.CrashClone(vfs.CrashCloneCfg{}).Stat(path); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}
