package engine

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/objstorage/objstorageprovider"
	"github.com/cockroachdb/pebble/v2/sstable"
	"github.com/cockroachdb/pebble/v2/vfs"
)

// Tables brings changes into an open store as tables of their own. A large batch is written twice, to a log and by a
// flush, and lies in memory until that; a table is written once, compressed, and is in the store at once.
type Tables struct {
	db      *pebble.DB
	fs      vfs.FS
	dir     string
	options sstable.WriterOptions
	files   atomic.Uint64
}

// NewTables returns what brings tables into db, which Open opened in dir with the same options.
func NewTables(db *pebble.DB, dir string, options Options) *Tables {
	options.EnsureDefaults()
	o := &pebble.Options{FormatMajorVersion: FormatVersion, Merger: options.Merger}
	options.setLevels(o)
	o.EnsureDefaults()
	return &Tables{db: db, fs: options.FS, dir: dir,
		options: o.MakeWriterOptions(0, FormatVersion.MaxTableFormat())}
}

// Add makes what write writes, keys ascending, each once, a part of the store. When it returns nil, that is durable,
// and who reads sees all of it; before, and after an error, nothing.
func (t *Tables) Add(ctx context.Context, write func(*sstable.Writer) error) (err error) {
	// Pebble removes files of such names when it opens a store.
	path := t.fs.PathJoin(t.dir, fmt.Sprintf("temporary.%06d.dbtmp", t.files.Add(1)))
	file, err := t.fs.Create(path, vfs.WriteCategoryUnspecified)
	if err != nil {
		return err
	}
	table := sstable.NewWriter(objstorageprovider.NewFileWritable(file), t.options)
	err = write(table)
	if err = errors.Join(err, table.Close()); err == nil {
		err = t.db.Ingest(ctx, []string{path}) // it removes the file
	}
	if err != nil {
		return errors.Join(err, t.fs.Remove(path))
	}
	return nil
}
