package fsck

import (
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/archive"
)

// tables verifies the checksum of every block of every table in a store's folder, also of those that no read would
// meet. It returns how many tables are damaged.
func (c *check) tables(store, dir string) (damaged int) {
	paths, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		panic(err) // the pattern is ours
	}
	slices.Sort(paths)
	for _, path := range paths {
		if err := archive.VerifyTable(vfs.Default, path); err != nil {
			damaged++
			c.damage(store, "table %s is damaged: %v", filepath.Base(path), err)
		}
	}
	return damaged
}
