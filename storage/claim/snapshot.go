package claim

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// Snapshot is a store as its folder had it at one moment, for reading while somebody else may hold the store and go on
// writing. It is a file system on which the store is opened read-only at Path. A snapshot never touches the folder, not
// even by Pebble's lock. It reads files that never change through handles opened at that moment, and the rest from a
// copy in memory.
type Snapshot struct {
	vfs.FS // in memory: copies, and the lock
	Path   string
	Epoch  uint64 // 0 for a store without epochs

	tables map[string]vfs.File // by name
}

// ErrNoStore is the error of a snapshot where there is no store.
var ErrNoStore = errors.New("claim: there is no store")

// TakeSnapshot takes one of the newest complete epoch of the store in dir, <root>/<name>. The caller closes it, after
// the store that it opened on it. The error is an ErrUnstable if the store's holder writes too fast. Where a log was
// written to while it was copied, the store does not open on it (a storage.ErrCorrupt): take another. A snapshot that
// opens is a state that the store had.
func TakeSnapshot(fs vfs.FS, dir string) (s *Snapshot, err error) {
	return takeSnapshots(fs, dir, false)
}

// TakeGrowingSnapshot is TakeSnapshot for a store that is written to all the time: the newest log may grow while it is
// copied. The snapshot ends somewhere in what was written meanwhile. It is a state of the store only if all changes are
// records of the log: a table that the store takes in has no place in their order.
func TakeGrowingSnapshot(fs vfs.FS, dir string) (s *Snapshot, err error) {
	return takeSnapshots(fs, dir, true)
}

func takeSnapshots(fs vfs.FS, dir string, grows bool) (s *Snapshot, err error) {
	for range takeOverTries {
		if s, err = takeSnapshot(fs, dir, grows); !errors.Is(err, ErrUnstable) {
			break
		}
	}
	if err != nil {
		return nil, fmt.Errorf("claim: snapshot of %s: %w", dir, err)
	}
	return s, nil
}

func takeSnapshot(fs vfs.FS, dir string, grows bool) (*Snapshot, error) {
	path, epoch, err := Current(fs, dir)
	if err != nil {
		return nil, err
	}
	if path == "" {
		return nil, ErrNoStore
	}
	s := &Snapshot{FS: vfs.NewMem(), Path: path, Epoch: epoch, tables: make(map[string]vfs.File)}
	if err := s.fill(fs, grows); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// fill takes all files. Those that came or grew meanwhile tell that what was taken may not fit together, as in
// duplicate.
func (s *Snapshot) fill(fs vfs.FS, grows bool) error {
	if err := s.MkdirAll(s.Path, folderMode); err != nil {
		return err
	}
	// The record comes first: its entry for a file stays true while the file grows.
	record := engine.RecordPath(s.Path)
	if err := vfs.CopyAcrossFS(fs, record, s.FS, record); err != nil && !notThere(err) {
		return err
	}
	before, err := inventory(fs, s.Path)
	if err != nil {
		return unstable(err)
	}
	for _, file := range before {
		path := fs.PathJoin(s.Path, file.name)
		if IsImmutable(file.name) {
			s.tables[file.name], err = fs.Open(path)
		} else {
			err = vfs.CopyAcrossFS(fs, path, s.FS, path)
		}
		if err != nil {
			return unstable(err)
		}
	}
	after, err := inventory(fs, s.Path)
	if err != nil {
		return unstable(err)
	}
	log := ""
	if grows {
		log = before.newestLog()
	}
	if !slices.EqualFunc(before, after, func(b, a file) bool {
		return b.name == a.name && (b.bytes == a.bytes || b.name == log)
	}) {
		return fmt.Errorf("%w: %s changed meanwhile", ErrUnstable, s.Path)
	}
	return nil
}

// newestLog returns the name of the log that is being written, "" if there is none. The names begin with numbers of six
// digits or more.
func (i inventoried) newestLog() (newest string) {
	for _, f := range i {
		if strings.HasSuffix(f.name, ".log") && (len(f.name) > len(newest) || len(f.name) == len(newest) && f.name > newest) {
			newest = f.name
		}
	}
	return newest
}

// Close closes the files.
func (s *Snapshot) Close() error {
	var errs []error
	for _, table := range s.tables {
		if table != nil {
			errs = append(errs, table.Close())
		}
	}
	return errors.Join(errs...)
}

// table returns the handle of a file that never changes.
func (s *Snapshot) table(name string) (vfs.File, bool) {
	table, ok := s.tables[s.PathBase(name)]
	return table, ok
}

// Open implements vfs.FS.
func (s *Snapshot) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	if table, ok := s.table(name); ok {
		return sharedHandle{table}, nil
	}
	return s.FS.Open(name, options...)
}

// List implements vfs.FS.
func (s *Snapshot) List(dir string) ([]string, error) {
	names, err := s.FS.List(dir)
	if err != nil || s.PathBase(dir) != s.PathBase(s.Path) {
		return names, err
	}
	names = slices.AppendSeq(names, maps.Keys(s.tables))
	slices.Sort(names)
	return names, nil
}

// Stat implements vfs.FS.
func (s *Snapshot) Stat(name string) (vfs.FileInfo, error) {
	if table, ok := s.table(name); ok {
		return table.Stat()
	}
	return s.FS.Stat(name)
}

// Remove implements vfs.FS: a table that is not needed any more stays where it is.
func (s *Snapshot) Remove(name string) error {
	if _, ok := s.table(name); ok {
		return nil
	}
	return s.FS.Remove(name)
}

// Unwrap implements vfs.FS: this wraps none.
func (s *Snapshot) Unwrap() vfs.FS { return nil }

// sharedHandle is a file that its readers do not close: several read it at once, at offsets only.
type sharedHandle struct{ vfs.File }

// Read is not for a file that several share the position of.
func (sharedHandle) Read([]byte) (int, error) { return 0, io.ErrNoProgress }

func (sharedHandle) Close() error { return nil }
