package claim_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store that grows while it is copied is copied again, up to ten times.
func TestChangingStoreIsCopiedAgain(t *testing.T) {
	const log = storeDir + "/e1/000002.log"
	f := func(name string, copyStore func(vfs.FS) error) {
		for changes, fits := range map[int]bool{9: true, 10: false} {
			fs := vfs.NewMem()
			fatal.If(t, fs.MkdirAll(storeDir+"/e1", 0o750))
			write := func(path string) {
				file, err := fs.OpenReadWrite(path, vfs.WriteCategoryUnspecified)
				fatal.If(t, err)
				info, err := file.Stat()
				fatal.If(t, err)
				_, err = file.WriteAt([]byte("x"), info.Size())
				fatal.If(t, errors.Join(err, file.Close()))
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
		_, err := claim.TakeOver(fs, "data", storeName, 2)
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

// Only the newest log may grow.
func TestGrowingSnapshot(t *testing.T) {
	f := func(grows string, fits bool) {
		t.Helper()
		fs := vfs.NewMem()
		write := func(name string) {
			file, err := fs.OpenReadWrite(storeDir+"/e1/"+name, vfs.WriteCategoryUnspecified)
			if err != nil {
				file, err = fs.Create(storeDir+"/e1/"+name, vfs.WriteCategoryUnspecified)
			}
			fatal.If(t, err)
			info, err := file.Stat()
			fatal.If(t, err)
			_, err = file.WriteAt([]byte("x"), info.Size())
			fatal.If(t, errors.Join(err, file.Close()))
		}
		fatal.If(t, fs.MkdirAll(storeDir+"/e1", 0o750))
		for _, name := range []string{"999999.log", "1000000.log", "000007.log", "MANIFEST-000001", "000002.sst"} {
			write(name)
		}
		changing := errorfs.Wrap(fs, errorfs.InjectorFunc(func(op errorfs.Op) error {
			if op.Kind == errorfs.OpOpen && op.Path == storeDir+"/e1/1000000.log" {
				write(grows)
			}
			return nil
		}))
		s, err := claim.TakeGrowingSnapshot(changing, storeDir)
		if fits && err != nil || !fits && !errors.Is(err, claim.ErrUnstable) {
			t.Errorf("%s grows: %v", grows, err)
		}
		if err == nil {
			if err := s.Close(); err != nil {
				t.Error(err)
			}
		}
	}
	f("1000000.log", true)
	f("999999.log", false)
	f("000007.log", false)
	f("MANIFEST-000001", false)
	f("000003.sst", false)
}
