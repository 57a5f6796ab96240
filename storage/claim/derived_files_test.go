package claim_test

import (
	"errors"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A derived file goes with its store to another process, also after a crash.
func TestDerivedFilesStay(t *testing.T) {
	for _, closed := range []bool{true, false} {
		fs := vfs.NewCrashableMem()
		path, err := claim.TakeOver(fs, "", "index", 1)
		fatal.If(t, err)
		store, err := index.Open(path, index.Options{FS: fs})
		fatal.If(t, err)
		fatal.If(t, store.WriteDerived("some", func(w io.Writer) error {
			_, err := w.Write([]byte("labels"))
			return err
		}))
		left := fs
		if !closed {
			left = fs.CrashClone(vfs.CrashCloneCfg{})
		}
		fatal.If(t, store.Close())
		if closed {
			fatal.If(t, claim.MarkClosed(fs, "index", 1))
		}
		path, err = claim.TakeOver(left, "", "index", 2)
		fatal.If(t, err)
		store, err = index.Open(path, index.Options{FS: left})
		fatal.If(t, err)
		file, size, err := store.OpenDerived("some")
		fatal.If(t, err)
		content, err := io.ReadAll(file)
		fatal.If(t, errors.Join(err, file.Close(), store.Close()))
		if string(content) != "labels" || size != int64(len(content)) {
			t.Errorf("closed %v: %q, of %d bytes", closed, content, size)
		}
		if err := store.WriteDerived("some", nil); err == nil {
			t.Error("a closed store writes a file")
		}
	}
}
