package backup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"slices"
	"strconv"
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
	Verify   bool          // all objects of the backup, not only this turn's share
	Warn     func(error)   // see Repository
}

const (
	defaultPatience = 5 * time.Minute
	storePause      = 20 * time.Millisecond // between two attempts at a store
	tornTries       = 100                   // at a store whose log may only look damaged
	missingTries    = 150                   // at a store that may only be between two names
	rebuildPause    = 2 * time.Second       // between two attempts at all of them
)

// Result says what Take has done.
type Result struct {
	*Manifest
	Written     int64 // bytes that the repository did not have before
	Incremental bool  // it had an earlier backup
	Dropped     int   // earlier backups
	Others      int   // backups of other clusters, which stay
}

// Take makes a backup of a data folder, which may be in use. Without a store that should be there it makes none. If
// something can only be read in part it makes one of the rest, and the error is an ErrIncomplete beside the result.
// Earlier backups are dropped only if nothing was damaged, neither in the folder nor in the repository.
func Take(ctx context.Context, o Options) (res *Result, err error) {
	f, held, err := begin(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return f.round(held)
}

// taking is a backup under way.
type taking struct {
	repository *Repository
	options    *Options
	folder     *datafolder.Folder
	earlier    []*Manifest     // the newest last
	tables     map[string]File // of earlier backups, by store and name
	manifest   Manifest
	written    int64
	verified   int64 // bytes of earlier backups

	packing *packing          // nil: each file is an object
	before  map[string]*known // stores as a Follower knows them, by name
	known   map[string]*known // stores of this backup
	kept    int               // stores that were not read
}

// stores copies all stores, in the order that the package comment gives reasons for.
func (t *taking) stores(ctx context.Context) error {
	before, err := t.folder.ReadClusterFile()
	if err != nil {
		return err
	}
	t.manifest = Manifest{Version: version.Number, Begun: time.Now().UTC(),
		Cluster: before.ID, Sacks: before.Sacks, Coordination: before.Coordination, Cipher: cipherOf(t.options.Cipher)}
	t.kept = 0
	if t.packing != nil {
		t.manifest.Turn = int(t.manifest.Begun.Unix() / int64(readEvery/time.Second))
	}
	for i := 0; t.packing == nil && i < len(t.earlier); i++ {
		t.manifest.Turn = max(t.manifest.Turn, t.earlier[i].Turn+1)
	}
	names, err := t.expected(ctx)
	if err != nil {
		return err
	}
	var rebuilds rebuilds
	index := t.before[datafolder.IndexName]
	if look := t.look(datafolder.IndexName); index != nil && look != "" && look == index.look {
		rebuilds = index.rebuilds
	} else if rebuilds, err = t.rebuildsBefore(ctx); err != nil {
		return err
	}
	for _, name := range names {
		var then func(*claim.Snapshot) error
		if name == datafolder.IndexName {
			then = func(files *claim.Snapshot) error { return rebuilds.compare(ctx, files) }
		}
		if err := t.store(ctx, name, then); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
	}
	if index = t.known[datafolder.IndexName]; index != nil {
		index.rebuilds = rebuilds
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
	look := t.look(name)
	if k := t.before[name]; k != nil && look != "" && look == k.look {
		t.kept++
		t.keep(k)
		return nil
	}
	deadline := time.Now().Add(t.options.Patience)
	for tries := 1; ; tries++ {
		store, err := t.attempt(ctx, name, then, nil)
		if errors.Is(err, claim.ErrNoStore) {
			if there, err := t.shouldBe(name); err != nil || !there {
				return err // none yet, or a drained incoming store that was removed: the sacks have its measures
			}
			if tries >= missingTries {
				return errMissing
			}
			err = fmt.Errorf("%w: %w", claim.ErrUnstable, err)
		}
		// A log that was written to while it was copied reads as corrupt. Corruption that stays is damage, and so is a
		// file that is listed and never there.
		late := time.Now().After(deadline)
		torn := errors.As(err, new(*unreadableError)) || late && errors.Is(err, claim.ErrUnstable)
		if torn && (late || tries >= tornTries) {
			damage := err
			if store, err = t.attempt(ctx, name, then, damage); errors.As(err, new(*unreadableError)) {
				store, err = &Store{Name: name, Damaged: damage.Error()}, nil
			}
		}
		if err == nil {
			t.keep(&known{look: look, store: *store})
			return nil
		}
		torn = errors.As(err, new(*unreadableError)) || errors.Is(err, claim.ErrUnstable)
		if late || !torn {
			return err
		}
		if err := pause.For(ctx, storePause); err != nil {
			return err
		}
	}
}

// unreadableError is the error of a store that could not be opened.
type unreadableError struct{ error }

func (e *unreadableError) Unwrap() error { return e.error }

// unreadable makes an error of the data folder an unreadableError, unless trying again helps, or another program.
func unreadable(err error) error {
	for _, other := range []error{nil, claim.ErrUnstable, claim.ErrNoStore, storage.ErrLaterFormat} {
		if errors.Is(err, other) {
			return err
		}
	}
	return &unreadableError{err}
}

// readable is a file system that lists no files that cannot be opened.
type readable struct {
	vfs.FS
	lacking map[string]error // by name
}

func (r *readable) List(dir string) ([]string, error) {
	names, err := r.FS.List(dir)
	return slices.DeleteFunc(names, func(name string) bool {
		path := r.PathJoin(dir, name)
		file, err := r.Open(path)
		if err == nil {
			return file.Close() != nil
		}
		if info, failed := r.Stat(path); failed == nil && info.IsDir() {
			return false
		}
		r.lacking[name] = err
		return true
	}), err
}

// attempt copies a store. damage is not nil if the store cannot be opened: then all its files are copied as they are,
// but those that cannot be read, for gnocco fsck.
func (t *taking) attempt(ctx context.Context, name string, then func(*claim.Snapshot) error, damage error) (
	s *Store, err error) {
	sack := strings.HasPrefix(name, datafolder.SacksPrefix)
	take := claim.TakeGrowingSnapshot
	if sack {
		take = claim.TakeSnapshot
	}
	from := vfs.Default
	lacking := make(map[string]error)
	if damage != nil {
		from = &readable{from, lacking}
	}
	files, err := take(from, filepath.Join(t.options.Data, name))
	if err != nil {
		return nil, unreadable(err)
	}
	defer func() { err = errors.Join(err, files.Close()) }()
	if errors.Is(damage, claim.ErrUnstable) && len(lacking) == 0 {
		return nil, damage // it only changed too fast
	}
	names, err := files.List(files.Path)
	if err != nil || !slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, "MANIFEST-") }) {
		return nil, errors.Join(err, claim.ErrNoStore)
	}
	s = &Store{Name: name}
	if damage != nil {
		s.Damaged = damage.Error()
	} else {
		needed, err := engine.Needs(files, files.Path)
		if err != nil {
			return nil, unreadable(err)
		}
		tables, err := t.open(files, name)
		if err != nil {
			return nil, unreadable(err)
		}
		names = slices.DeleteFunc(names, func(name string) bool {
			return !needed(name) || strings.HasSuffix(name, ".sst") && !tables[name]
		})
	}
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
	for _, file := range slices.Sorted(maps.Keys(lacking)) {
		s.Files = append(s.Files, File{Name: file, Damaged: lacking[file].Error()})
	}
	if then != nil && damage == nil {
		err = then(files)
	}
	return s, err
}

// open opens a snapshot and closes it again: then it is a state that the store had. It returns the names of the store's
// tables. Others in its folder are being written, or were left by a crash.
func (t *taking) open(files *claim.Snapshot, name string) (tables map[string]bool, err error) {
	var db *pebble.DB
	var store io.Closer
	if number, ok := strings.CutPrefix(name, datafolder.SacksPrefix); ok {
		sack := archive.Sack{Of: t.manifest.Sacks}
		if sack.Number, err = strconv.Atoi(number); err != nil {
			return nil, err
		}
		var s *archive.Store
		s, err = archive.Open(files.Path, archive.Options{FS: files, ReadOnly: true, Sack: sack, Fail: func(error) {}})
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

// file copies a file, unless an earlier backup has the same table. A table is read by its own checksums meanwhile: its
// holder would notice damage only when a query meets it. A damaged one is copied as it is, and one that cannot be read
// is left out; the backup says so of either.
func (t *taking) file(ctx context.Context, store string, files *claim.Snapshot, name string) (*File, error) {
	path := files.PathJoin(files.Path, name)
	info, err := files.Stat(path)
	if err != nil {
		return nil, err
	}
	f := File{Name: name, Bytes: info.Size()}
	if claim.IsImmutable(name) {
		f.Modified = info.ModTime().UnixNano()
		known, ok := t.tables[store+"/"+name]
		if ok && known.Bytes == f.Bytes && known.Modified == f.Modified {
			if intact, err := t.reuse(ctx, &known); intact || err != nil {
				return &known, err
			}
		}
	}
	if strings.HasSuffix(name, ".sst") {
		if err := archive.VerifyTable(files, path); err != nil {
			f.Damaged = err.Error()
		}
	}
	file, err := files.Open(path)
	if err != nil {
		return nil, err
	}
	if t.packing != nil && !claim.IsImmutable(name) {
		f.Sum, f.Bytes, err = t.packing.add(ctx, store+"/"+name, file)
		return &f, errors.Join(err, file.Close())
	}
	var written int64
	source := &reader{Reader: io.NewSectionReader(file, 0, math.MaxInt64)}
	sum, size, written, err := t.repository.add(ctx, source)
	t.written += written
	err = errors.Join(err, file.Close())
	if source.err != nil && ctx.Err() == nil {
		f.Damaged = source.err.Error()
		return &f, nil
	}
	if err != nil {
		return nil, err
	}
	if f.Sum, f.Bytes = sum, size; t.options.Verify && written > 0 {
		if intact, err := t.repository.verify(ctx, &f); err != nil || !intact {
			return nil, cmp.Or(err, fmt.Errorf("%s: %s is not what was just written", t.options.To, objectName(sum)))
		}
	}
	if f.Modified != 0 && f.Damaged == "" {
		t.tables[store+"/"+name] = f
	}
	return &f, nil
}

// reuse reports whether an object of an earlier backup is there, and intact as far as this backup's share goes.
func (t *taking) reuse(ctx context.Context, f *File) (bool, error) {
	if !t.repository.has(f.Sum, f.Bytes) {
		t.repository.warn(fmt.Errorf("%s is missing or cut short, stored again", objectName(f.Sum)))
		return false, nil
	}
	if !t.options.Verify && !isDue(f.Sum, t.manifest.Turn) && (t.packing != nil || t.verified > alwaysVerified) {
		return true, nil
	}
	t.verified += f.Bytes
	return t.repository.verify(ctx, f)
}

// reader keeps the error that reading ended with.
type reader struct {
	io.Reader
	err error
}

func (r *reader) Read(p []byte) (n int, err error) {
	if n, err = r.Reader.Read(p); err != nil && !errors.Is(err, io.EOF) {
		r.err = err
	}
	return n, err
}
