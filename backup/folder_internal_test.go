package backup

import (
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A backup makes the objects durable that it finds, beside those that it writes: their writer may have ended before.
func TestFoundObjectsAreSynced(t *testing.T) {
	synced := make(map[string]bool)
	disk := vfs.Default
	defer func() { vfs.Default = disk }()
	vfs.Default = errorfs.Wrap(disk, errorfs.InjectorFunc(func(op errorfs.Op) error {
		if op.Kind == errorfs.OpFileSync {
			synced[op.Path] = true
		}
		return nil
	}))
	parent := t.TempDir()
	dir := filepath.Join(parent, "repository")
	write := func(do func(f Storage) error) {
		f := Folder(dir)
		held, release, err := f.Lock(t.Context())
		fatal.If(t, err)
		_, err = f.List(held, objectsFolder)
		fatal.If(t, err)
		fatal.If(t, do(f))
		fatal.If(t, release())
	}
	write(func(f Storage) error { // and ends
		file, err := f.Spool()
		fatal.If(t, err)
		return f.Put(t.Context(), objectName("abcdef"), file)
	})
	for _, name := range []string{"a", "b"} {
		clear(synced)
		write(func(f Storage) error { return f.Commit(t.Context(), backupsFolder+"/"+name, nil) })
		objects := filepath.Join(dir, objectsFolder)
		for _, path := range []string{parent, dir, objects, filepath.Join(objects, "ab"), filepath.Join(dir, backupsFolder)} {
			if !synced[path] {
				t.Errorf("%s was not synced", path)
			}
		}
	}
}
