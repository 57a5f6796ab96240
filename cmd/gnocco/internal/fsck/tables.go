package fsck

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
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
		if err := verifyTable(path); err != nil {
			damaged++
			c.damage(store, "table %s is damaged: %v", filepath.Base(path), err)
		}
	}
	return damaged
}

func verifyTable(path string) (err error) {
	defer func() { // Pebble's reader trusts what its footer points to
		if p := recover(); p != nil {
			err = fmt.Errorf("unreadable: %v", p)
		}
	}()
	file, err := vfs.Default.Open(path)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	filter, merger := bloom.FilterPolicy(10), archive.NewMerger()
	reader, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{
		Comparer: pebble.DefaultComparer, Filters: map[string]sstable.FilterPolicy{filter.Name(): filter},
		Mergers: map[string]*pebble.Merger{merger.Name: merger, pebble.DefaultMerger.Name: pebble.DefaultMerger}})
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	return errors.Join(reader.ValidateBlockChecksums(), reader.Close())
}
