package offline

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
)

// Data is a data folder that no server holds. Close gives it back.
type Data struct {
	Path    string
	Cluster datafolder.ClusterFile

	folder   *datafolder.Folder
	index    *index.Store         // nil until it is asked for
	registry *prometheus.Registry // of index
}

// Open takes the data folder at path.
func Open(path string) (*Data, error) {
	folder, err := datafolder.Hold(path)
	if err != nil {
		return nil, err
	}
	cluster, err := folder.ReadClusterFile()
	if err != nil {
		return nil, errors.Join(err, folder.Release())
	}
	visitFiles(folder.Path)
	return &Data{Path: folder.Path, Cluster: cluster, folder: folder}, nil
}

// Close closes what was opened.
func (d *Data) Close() error {
	var err error
	if d.index != nil {
		err = d.index.Close()
	}
	return errors.Join(err, d.folder.Release())
}

// DamagedClocks returns the names of the damaged files of machines' clocks.
func (d *Data) DamagedClocks() ([]string, error) { return d.folder.DamagedClocks() }

// SetClockAside sets a damaged clock aside; the machine gets another one.
func (d *Data) SetClockAside(name string) error { return d.folder.SetClockAside(name) }

// IndexDir returns where the index lies, "" if there is none.
func (d *Data) IndexDir() (string, error) { return Current(d.folder.IndexDir()) }

// Current returns the folder of a store's newest epoch, "" if there is none, or one in which no store was made before a
// crash.
func Current(dir string) (string, error) {
	path, _, err := claim.Current(vfs.Default, dir)
	if err != nil || path == "" {
		return "", err
	}
	if store, err := pebble.Peek(path, vfs.Default); err == nil && !store.Exists {
		if _, err := engine.Check(vfs.Default, path); err == nil {
			return "", nil
		}
	}
	return path, nil // damage shows when it is opened
}

// Index returns the index, opened on a copy in memory.
func (d *Data) Index() (*index.Store, error) {
	if d.index != nil {
		return d.index, nil
	}
	dir, err := d.IndexDir()
	if err != nil || dir == "" {
		return nil, errors.Join(fmt.Errorf("no index in %s", d.Path), err)
	}
	memory := vfs.NewMem()
	if ok, err := vfs.Clone(vfs.Default, memory, dir, "index"); err != nil || !ok {
		return nil, errors.Join(fmt.Errorf("no index in %s", dir), err)
	}
	if _, err := vfs.Clone(vfs.Default, memory, engine.RecordPath(dir), engine.RecordPath("index")); err != nil {
		return nil, err
	}
	d.registry = prometheus.NewRegistry()
	d.index, err = index.Open("index", index.Options{FS: memory, SkipDefaults: true, Registerer: d.registry})
	return d.index, err
}

// CorruptIndexValues returns how many values the index has met so far that do not decode.
func (d *Data) CorruptIndexValues() (int, error) {
	families, err := d.registry.Gather()
	for _, f := range families {
		if f.GetName() == "gnocco_index_corrupt_total" {
			return int(f.GetMetric()[0].GetCounter().GetValue()), err
		}
	}
	return 0, errors.Join(err, errors.New("the index does not count corrupt values"))
}

// IncomingDirs returns the folders of the incoming stores by the names of their nodes.
func (d *Data) IncomingDirs() (map[string]string, error) {
	names, err := d.folder.IncomingNames()
	if err != nil {
		return nil, err
	}
	dirs := make(map[string]string)
	for _, name := range names {
		dir, err := Current(filepath.Join(d.folder.Path, name))
		if err != nil {
			return nil, err
		}
		if dir != "" {
			dirs[filepath.Base(name)] = dir
		}
	}
	return dirs, nil
}

// OpenIncoming opens an incoming store as a server would, on copies of its files, and closes it again.
func (d *Data) OpenIncoming(dir string) error {
	files, err := claim.TakeSnapshot(vfs.Default, filepath.Dir(dir))
	if err != nil {
		return err
	}
	store, err := incoming.Open(files.Path, incoming.Options{FS: files, Sacks: d.Cluster.Sacks})
	if err == nil {
		err = store.Close()
	}
	return errors.Join(err, files.Close())
}

// SackDir returns the folder of the newest epoch of a sack's store. It is "" if the sack has none.
func (d *Data) SackDir(sack int) (string, error) {
	return Current(filepath.Join(d.folder.SacksDir(), fmt.Sprintf("%03d", sack)))
}

// InSack calls f with the store of a sack, if it has one.
func (d *Data) InSack(sack int, f func(*archive.Store) error) error {
	dir, err := d.SackDir(sack)
	if err != nil || dir == "" {
		return err
	}
	store, err := archive.Open(dir, archive.Options{ReadOnly: true,
		Sack: archive.Sack{Number: sack, Of: d.Cluster.Sacks}})
	if err != nil {
		return err
	}
	return errors.Join(f(store), store.Close())
}

// InStore calls f with a store that has no merger: the index or an incoming store.
func InStore(dir string, f func(*pebble.DB) error) error {
	db, err := engine.Open(dir, engine.Options{ReadOnly: true})
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	return errors.Join(f(db), db.Close())
}

// copyBatchBytes is when a batch of a copy is committed.
const copyBatchBytes = 4 << 20

// CopyStore copies what can be read of a store that has no merger into a new one.
func CopyStore(from, to string) error {
	target, err := engine.Open(to, engine.Options{})
	if err != nil {
		return err
	}
	batch := target.NewBatch()
	err = InStore(from, func(db *pebble.DB) error {
		_, err := engine.Walk(db, nil, func(key, value []byte) error {
			if err := batch.Set(key, value, nil); err != nil || batch.Len() < copyBatchBytes {
				return err
			}
			if err := batch.Commit(pebble.NoSync); err != nil {
				return err
			}
			batch = target.NewBatch()
			return nil
		})
		return err
	})
	if err == nil {
		err = batch.Commit(pebble.Sync)
	}
	return errors.Join(err, target.Close())
}

// visitedTogether is how many files are looked at at a time.
const visitedTogether = 256

// visitFiles looks at all files of a folder on a network disk once, many at a time. On CephFS the first look at a file
// that another client closed lately waits until the server writes its journal, which it does every 5 s where nobody
// else works: file after file, a check of 16 sacks took longer than 5 minutes.
func visitFiles(dir string) {
	if claim.IsLocal(vfs.Default, dir) {
		return
	}
	var group errgroup.Group
	group.SetLimit(visitedTogether)
	_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() { // an error shows when the file is used
			group.Go(func() error {
				_, _ = os.Lstat(path)
				return nil
			})
		}
		return nil
	})
	_ = group.Wait()
}
