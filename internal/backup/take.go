package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/internal/version"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Options of Take.
type Options struct {
	Data     string // the data folder
	To       Storage
	Cipher   Cipher // nil: none
	Keep     Keep
	Patience time.Duration // for a store that changes too fast, and for a rebuild; 0: defaultPatience
}

const (
	defaultPatience = 5 * time.Minute
	storePause      = 20 * time.Millisecond // between two attempts at a store
	tornTries       = 100                   // at a store whose log may only look damaged
	rebuildPause    = 2 * time.Second       // between two attempts at all of them
)

// Result says what Take has done.
type Result struct {
	*Manifest
	Written     int64 // bytes that the repository did not have before
	Incremental bool  // it had an earlier backup
	Dropped     int   // earlier backups
}

// Take makes a backup of a data folder, which may be in use.
func Take(ctx context.Context, o Options) (res *Result, err error) {
	o.Patience = cmp.Or(o.Patience, defaultPatience)
	if to, ok := o.To.(*folder); ok && (inside(to.dir, o.Data) || inside(o.Data, to.dir)) {
		return nil, fmt.Errorf("%s and %s: one is within the other", o.Data, o.To)
	}
	if _, err := (&datafolder.Folder{Path: o.Data}).ReadClusterFile(); err != nil {
		return nil, err
	}
	r := Open(o.To, o.Cipher)
	ctx, release, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, release()) }()
	t := &taking{repository: r, options: &o, folder: &datafolder.Folder{Path: o.Data}}
	if err := t.rememberTables(ctx); err != nil {
		return nil, err
	}
	deadline := time.Now().Add(o.Patience)
	for {
		if err = t.stores(ctx); !errors.Is(err, errRebuilt) || time.Now().After(deadline) {
			break
		}
		if err := pause.For(ctx, rebuildPause); err != nil {
			return nil, err
		}
	}
	if err != nil {
		return nil, err
	}
	if err := r.commit(ctx, &t.manifest); err != nil {
		return nil, err
	}
	res = &Result{Manifest: &t.manifest, Written: t.written, Incremental: t.incremental}
	var kept []*Manifest
	if kept, res.Dropped, err = r.forget(ctx, o.Keep); err == nil {
		err = r.sweep(ctx, kept)
	}
	return res, err
}

// inside reports whether a path is in a folder, or is the folder.
func inside(path, dir string) bool {
	path, pathErr := filepath.Abs(path)
	dir, dirErr := filepath.Abs(dir)
	return pathErr == nil && dirErr == nil && strings.HasPrefix(path+"/", dir+"/")
}

// taking is a backup under way.
type taking struct {
	repository *Repository
	options    *Options
	folder     *datafolder.Folder
	tables     map[string]File // of earlier backups, by store and name
	manifest   Manifest
	written    int64

	incremental bool
}

// rememberTables finds the tables that need not be read again.
func (t *taking) rememberTables(ctx context.Context) error {
	all, err := t.repository.Backups(ctx)
	t.tables, t.incremental = make(map[string]File), len(all) > 0
	for _, m := range all {
		if now := cipherOf(t.options.Cipher); m.Cipher != now {
			return fmt.Errorf("%s has backups with another encryption (%q, now %q): begin a new repository", t.options.To,
				m.Cipher, now)
		}
		for _, s := range m.Stores {
			for _, f := range s.Files {
				if f.Modified != 0 {
					t.tables[s.Name+"/"+f.Name] = f
				}
			}
		}
	}
	return err
}

// stores copies all stores, in the order that the package comment gives reasons for.
func (t *taking) stores(ctx context.Context) error {
	before, err := t.folder.ReadClusterFile()
	if err != nil {
		return err
	}
	t.manifest = Manifest{Format: manifestFormat, Version: version.Number, Begun: time.Now().UTC(),
		Cluster: before.ID, Sacks: before.Sacks, Coordination: before.Coordination, Cipher: cipherOf(t.options.Cipher)}
	rebuilds, err := t.rebuildsBefore(ctx)
	if err != nil {
		return err
	}
	names, err := t.folder.IncomingNames()
	if err != nil {
		return err
	}
	for sack := range before.Sacks {
		names = append(names, datafolder.SackName(sack))
	}
	for _, name := range append(names, datafolder.IndexName) {
		var then func(*claim.Snapshot) error
		if name == datafolder.IndexName {
			then = func(files *claim.Snapshot) error { return rebuilds.compare(ctx, files) }
		}
		if err := t.store(ctx, name, then); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	t.manifest.Ended = time.Now().UTC()
	after, err := t.folder.ReadClusterFile()
	if err == nil && after != before {
		err = errors.New("the data folder became another cluster's, or changed its number of sacks, meanwhile")
	}
	return err
}

// store copies a store, and calls then with its snapshot, which then may change.
func (t *taking) store(ctx context.Context, name string, then func(*claim.Snapshot) error) error {
	deadline := time.Now().Add(t.options.Patience)
	for tries := 1; ; tries++ {
		store, err := t.attempt(ctx, name, then)
		if errors.Is(err, claim.ErrNoStore) {
			return nil // none yet, or a drained incoming store that was removed: the sacks have its measures
		}
		if err == nil {
			t.manifest.Stores = append(t.manifest.Stores, *store)
			return nil
		}
		// A log that was written to while it was copied reads as corrupt. Corruption that stays is damage.
		torn := errors.Is(err, storage.ErrCorrupt) && tries < tornTries
		if !torn && !errors.Is(err, claim.ErrUnstable) || time.Now().After(deadline) {
			return err
		}
		if err := pause.For(ctx, storePause); err != nil {
			return err
		}
	}
}

func (t *taking) attempt(ctx context.Context, name string, then func(*claim.Snapshot) error) (s *Store, err error) {
	sack := strings.HasPrefix(name, datafolder.SacksPrefix)
	take := claim.TakeGrowingSnapshot
	if sack {
		take = claim.TakeSnapshot
	}
	files, err := take(vfs.Default, filepath.Join(t.options.Data, name))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	needed, err := engine.Needs(files, files.Path)
	if err != nil {
		return nil, err
	}
	names, err := files.List(files.Path)
	if err != nil || !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "MANIFEST-") }) {
		return nil, errors.Join(err, claim.ErrNoStore)
	}
	tables, err := t.open(files, sack)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool {
		return !needed(name) || strings.HasSuffix(name, ".sst") && !tables[name]
	})
	s = &Store{Name: name}
	if s.Formats, err = claim.NotedFormats(vfs.Default, t.options.Data, name); err != nil {
		return nil, err
	}
	for _, file := range names {
		f, err := t.file(ctx, name, files, file)
		if err != nil {
			return nil, err
		}
		s.Files = append(s.Files, *f)
	}
	if then != nil {
		err = then(files)
	}
	return s, err
}

// open opens a snapshot and closes it again: then it is a state that the store had. It returns the names of the store's
// tables. Others in its folder are being written, or were left by a crash.
func (t *taking) open(files *claim.Snapshot, sack bool) (tables map[string]bool, err error) {
	var db *pebble.DB
	var store io.Closer
	if sack {
		var s *archive.Store
		s, err = archive.Open(files.Path, archive.Options{FS: files, ReadOnly: true, Fail: func(error) {}})
		if err == nil {
			db, store = s.DB(), s
		}
	} else {
		db, err = engine.Open(files.Path, engine.Options{FS: files, ReadOnly: true, Fail: func(error) {}})
		store = db
	}
	if err != nil {
		return nil, err
	}
	levels, err := db.SSTables()
	tables = make(map[string]bool)
	for _, level := range levels {
		for _, table := range level {
			tables[fmt.Sprintf("%06d.sst", uint64(table.BackingSSTNum))] = true
		}
	}
	return tables, errors.Join(err, store.Close())
}

// file copies a file, unless an earlier backup has the same table.
func (t *taking) file(ctx context.Context, store string, files *claim.Snapshot, name string) (*File, error) {
	path := files.PathJoin(files.Path, name)
	info, err := files.Stat(path)
	if err != nil {
		return nil, err
	}
	f := File{Name: name, Bytes: info.Size()}
	if claim.IsImmutable(name) {
		f.Modified = info.ModTime().UnixNano()
		known := t.tables[store+"/"+name]
		if known.Bytes == f.Bytes && known.Modified == f.Modified && t.repository.has(known.Sum, f.Bytes) {
			return &known, nil
		}
	}
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	var written int64
	f.Sum, f.Bytes, written, err = t.repository.add(ctx, io.NewSectionReader(file, 0, math.MaxInt64))
	t.written += written
	if err == nil && f.Modified != 0 {
		t.tables[store+"/"+name] = f
	}
	return &f, errors.Join(err, file.Close())
}
