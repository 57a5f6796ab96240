package archive

import (
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/bloom"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// VerifyTable verifies the checksum of every block of a table, of a sack or of any other store.
func VerifyTable(fs vfs.FS, path string) (err error) {
	defer func() { // Pebble's reader trusts what its footer points to
		if p := recover(); p != nil {
			err = fmt.Errorf("unreadable: %v", p)
		}
	}()
	file, err := fs.Open(path)
	if err != nil {
		return err
	}
	readable, err := sstable.NewSimpleReadable(file)
	if err != nil {
		return errors.Join(err, file.Close())
	}
	filter, merger := bloom.FilterPolicy(10), NewMerger()
	reader, err := sstable.NewReader(context.Background(), readable, sstable.ReaderOptions{
		Comparer: pebble.DefaultComparer, Filters: map[string]sstable.FilterPolicy{filter.Name(): filter},
		Mergers: map[string]*pebble.Merger{merger.Name: merger, pebble.DefaultMerger.Name: pebble.DefaultMerger}})
	if err != nil {
		return errors.Join(err, readable.Close())
	}
	return errors.Join(reader.ValidateBlockChecksums(), reader.Close())
}
