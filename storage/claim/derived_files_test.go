package claim_test

import (
	"errors"
	"io"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/index"
)

// A derived file goes with its store to another process, also after a crash.
func TestDerivedFilesStay(t *testing.T) {
	for _, closed := range []bool{true, false} {
		fs := vfs.NewCrashableMem()
		path, err := claim.TakeOver(fs, "index", 1)
		must(t, err)
		store, err := index.Open(path, index.Options{FS: fs})
		must(t, err)
		must(t, store.WriteDerived("some", func(w io.Writer) error { _, err := w.Write([]byte("labels")); return err }))
		left := fs
		if !closed {
			left = fs.CrashClone(vfs.CrashCloneCfg{})
		}
		must(t, store.Close())
		if closed {
			must(t, claim.MarkClosed(fs, "index", 1))
		}
		path, err = claim.TakeOver(left, "index", 2)
		must(t, err)
		store, err = index.Open(path, index.Options{FS: left})
		must(t, err)
		file, size, err := store.OpenDerived("some")
		must(t, err)
		content, err := io.ReadAll(file)
		must(t, errors.Join(err, file.Close(), store.Close()))
		if string(content) != "labels" || size != int64(len(content)) {
			t.Errorf("closed %v: %q, of %d bytes", closed, content, size)
		}
		if err := store.WriteDerived("some", nil); err == nil {
			t.Error("a closed store writes a file")
		}
	}
}
