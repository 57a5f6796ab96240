package inspect

import (
	"errors"
	"fmt"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"gnocco/internal/server"
	"gnocco/model"
	"gnocco/storage/archive"
	"gnocco/storage/claim"
	"gnocco/storage/engine"
	"gnocco/storage/index"
)

// Data is a data folder that no server holds. Close gives it back.
type Data struct {
	folder  *server.Folder
	cluster server.Cluster
	index   *index.Store // nil until it is asked for
}

// Open takes the data folder at path.
func Open(path string) (*Data, error) {
	folder, err := server.HoldFolder(path)
	if err != nil {
		return nil, err
	}
	cluster, err := folder.ReadCluster()
	if err != nil {
		return nil, errors.Join(err, folder.Release())
	}
	return &Data{folder: folder, cluster: cluster}, nil
}

// Close closes what was opened.
func (d *Data) Close() error {
	var err error
	if d.index != nil {
		err = d.index.Close()
	}
	return errors.Join(err, d.folder.Release())
}

// openIndex opens a copy of the index in memory.
func (d *Data) openIndex() (*index.Store, error) {
	if d.index != nil {
		return d.index, nil
	}
	memory := vfs.NewMem()
	dir, err := current(d.folder.IndexDir())
	if err != nil {
		return nil, err
	}
	if dir == "" {
		return nil, fmt.Errorf("inspect: no index in %s", d.folder.IndexDir())
	}
	if ok, err := vfs.Clone(vfs.Default, memory, dir, "index"); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("inspect: no index in %s", dir), err)
	}
	d.index, err = index.Open("index", index.Options{FS: memory, SkipDefaults: true})
	return d.index, err
}

// current returns the folder of a store's newest epoch, "" if there is none.
func current(dir string) (string, error) {
	path, _, err := claim.Current(vfs.Default, dir)
	return path, err
}

// sackDir returns the folder of a sack's store: that of its newest epoch. It is "" if the sack has none.
func (d *Data) sackDir(sack int) (string, error) {
	return current(filepath.Join(d.folder.SacksDir(), fmt.Sprintf("%03d", sack)))
}

// inSack calls f with the store of a sack, if it has one.
func (d *Data) inSack(sack int, f func(*archive.Store) error) error {
	dir, err := d.sackDir(sack)
	if err != nil || dir == "" {
		return err
	}
	store, err := archive.Open(dir, archive.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	return errors.Join(f(store), store.Close())
}

// inMetricSack is inSack for the sack of a metric.
func (d *Data) inMetricSack(metric uuid.UUID, f func(*archive.Store) error) error {
	return d.inSack(model.Sack(metric, d.cluster.Sacks), f)
}

// inStore calls f with a store that has no merger.
func inStore(dir string, f func(*pebble.DB) error) error {
	db, err := engine.Open(dir, engine.Options{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("inspect: open %s: %w", dir, err)
	}
	return errors.Join(f(db), db.Close())
}

// each calls f with every key and value between the bounds, nil for no bound.
func each(db *pebble.DB, lower, upper []byte, f func(key, value []byte) error) error {
	iter, err := db.NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return err
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err == nil {
			err = f(iter.Key(), value)
		}
		if err != nil {
			return errors.Join(err, iter.Close())
		}
	}
	return errors.Join(iter.Error(), iter.Close())
}
