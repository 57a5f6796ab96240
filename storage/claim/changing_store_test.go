package claim_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// A store that grows while it is copied is copied again, up to ten times.
func TestChangingStoreIsCopiedAgain(t *testing.T) {
	const log = storeDir + "/e1/000002.log"
	f := func(name string, copyStore func(vfs.FS) error) {
		for changes, fits := range map[int]bool{9: true, 10: false} {
			fs := vfs.NewMem()
			if err := fs.MkdirAll(storeDir+"/e1", 0o750); err != nil {
				t.Fatal(err)
			}
			write := func(path string) {
				file, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
				if err != nil {
					t.Fatal(err)
				}
				info, err := file.Stat()
				if err != nil {
					t.Fatal(err)
				}
				_, err = file.WriteAt([]byte("x"), info.Size())
				if err := errors.Join(err, file.Close()); err != nil {
					t.Fatal(err)
				}
			}
			write(log)
			write(storeDir + "/e1/MANIFEST-000001")
			opened := 0
			changing := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind == errorfs.OpOpen && op.Path == log {
					if opened++; opened <= changes {
						write(log)
					}
				}
				return nil
			}))
			err := copyStore(changing)
			if fits && err != nil || !fits && !errors.Is(err, claim.ErrUnstable) || opened != 10 {
				t.Errorf("%s of a store that changes %d times: %d copies, %v", name, changes, opened, err)
			}
		}
	}
	f("takeover", func(fs vfs.FS) error {
		_, err := claim.TakeOver(fs, storeDir, 2)
		return err
	})
	f("snapshot", func(fs vfs.FS) error {
		s, err := claim.TakeSnapshot(fs, storeDir)
		if err == nil {
			err = s.Close()
		}
		return err
	})
}
