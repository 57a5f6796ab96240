package backup

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/pause"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// Follower takes one backup after another. Each restores as one of Take does, and costs only the changes since the one
// before: a store whose folder looks as before is not read, and of a log only the changed blocks are stored, in packs.
type Follower struct {
	options    *Options
	repository *Repository
	release    func() error
	flawed     bool // the repository has manifests that cannot be read: their objects are not known
	earlier    []*Manifest
	tables     map[string]File
	folder     *datafolder.Folder

	follows bool   // else this is for one backup
	cluster string // ID
	held    context.Context
	stores  map[string]*known
	blocks  map[string][]block
	read    time.Time       // of the last round that read all stores
	swept   time.Time       // of the last sweep
	unused  map[string]bool // objects that the last sweep found without a manifest
}

// known is what is known of a store that was copied.
type known struct {
	look     string // of its folder before it was copied; "" if it had just changed
	store    Store
	rebuilds rebuilds // of the index
}

const (
	sweepEvery = time.Hour
	readEvery  = 24 * time.Hour  // all stores, and a share of the objects of earlier rounds
	settled    = 2 * time.Second // after so long a file's time says whether it changed again
)

// begin makes this process the one writer of a repository, as long as the context says.
func begin(ctx context.Context, o *Options) (f *Follower, held context.Context, err error) {
	o.Patience = cmp.Or(o.Patience, defaultPatience)
	if to, ok := o.To.(*folder); ok {
		if err := to.apartFrom(o.Data); err != nil {
			return nil, nil, err
		}
	}
	f = &Follower{options: o, repository: Open(o.To, o.Cipher), folder: &datafolder.Folder{Path: o.Data}}
	cluster, err := f.folder.ReadClusterFile()
	if err != nil {
		return nil, nil, err
	}
	f.cluster = cluster.ID
	if o.Verify && o.Cipher != nil && !o.Cipher.CanOpen() {
		return nil, nil, errors.New("objects that are encrypted are verified with the secret key: give it with --identity")
	}
	f.repository.Warn = o.Warn
	if held, f.release, err = f.repository.begin(ctx); err != nil {
		return nil, nil, err
	}
	if err := f.remember(held); err != nil {
		return nil, nil, errors.Join(err, f.release())
	}
	return f, held, nil
}

// Follow begins to follow a data folder. The follower must be closed.
func Follow(ctx context.Context, o Options) (f *Follower, err error) {
	if f, ctx, err = begin(ctx, &o); err != nil {
		return nil, err
	}
	f.follows, f.held, f.read, f.swept, f.unused = true, ctx, time.Now(), time.Now(), make(map[string]bool)
	return f, nil
}

// Close leaves the repository to other writers.
func (f *Follower) Close() error { return f.release() }

// Lost reports whether this process is no longer the one writer: the follower takes no backup any more.
func (f *Follower) Lost() bool { return f.held.Err() != nil }

// Round takes a backup, and stores none where nothing has changed since the one before: then the result has no name.
// The error is an ErrSucceeded if another cluster has taken the place of this one. After any other error the next round
// may go well, unless Lost.
func (f *Follower) Round() (*Result, error) {
	if err := f.succeeded(f.held); err != nil {
		return nil, err
	}
	if time.Since(f.swept) > sweepEvery { // first: a full storage must not keep it from getting room
		if err := f.sweep(); err != nil {
			return nil, err
		}
	}
	res, err := f.round(f.held)
	if err == nil {
		err = f.succeeded(f.held) // a restore that came meanwhile does not have this round
	}
	return res, err
}

// sweep removes the objects that have had no manifest for as long as two sweeps are apart. Others may be part of a
// restore, or of the round of another writer: conditional writes do not keep those out on every storage. So it also
// asks for the manifests anew.
func (f *Follower) sweep() (err error) {
	f.swept = time.Now()
	if err = f.remember(f.held); err == nil && !f.flawed {
		f.unused, err = f.repository.sweep(f.held, f.earlier, f.unused)
	}
	return err
}

// remember reads the manifests, and finds the tables that need not be read again. A table that was damaged in the
// folder is read each time. A manifest of an earlier round counts even if the storage does not list it (yet).
func (f *Follower) remember(ctx context.Context) error {
	f.repository.damage = 0
	all, err := f.repository.Backups(ctx)
	if err != nil {
		return err
	}
	for _, m := range f.earlier {
		if !slices.ContainsFunc(all, func(listed *Manifest) bool { return listed.name == m.name }) {
			all = append(all, m)
		}
	}
	slices.SortFunc(all, byAge)
	f.flawed, f.earlier, f.tables = f.repository.damage > 0, all, make(map[string]File)
	for _, m := range f.earlier {
		if now := cipherOf(f.options.Cipher); m.Cipher != now {
			return fmt.Errorf("%s has backups with another encryption (%q, now %q): begin a new repository", f.options.To,
				m.Cipher, now)
		}
		for _, s := range m.Stores {
			for _, file := range s.Files {
				if file.Modified != 0 && file.Damaged == "" {
					f.tables[s.Name+"/"+file.Name] = file
				}
			}
		}
	}
	return nil
}

// round takes a backup.
func (f *Follower) round(ctx context.Context) (*Result, error) {
	r, o := f.repository, f.options
	if f.follows {
		if err := f.seeOthers(ctx); err != nil {
			return nil, err
		}
	}
	t := &taking{repository: r, options: o, folder: f.folder, earlier: f.earlier, tables: f.tables,
		known: make(map[string]*known)}
	r.damage = 0
	if f.follows {
		if time.Since(f.read) > readEvery {
			f.read, f.stores, f.blocks = time.Now(), nil, nil
			clear(r.intact)
		}
		t.before = f.stores
		t.packing = &packing{repository: r, before: f.blocks, blocks: make(map[string][]block)}
	}
	deadline := time.Now().Add(o.Patience)
	for {
		err := t.stores(ctx)
		if err == nil {
			break
		}
		if !errors.Is(err, errRebuilt) || time.Now().After(deadline) {
			return nil, err
		}
		if err := pause.For(ctx, rebuildPause); err != nil {
			return nil, err
		}
	}
	res := &Result{Manifest: &t.manifest, Written: t.written, Incremental: len(f.earlier) > 0}
	var incomplete error
	if damage := t.manifest.Damage(); len(damage) > 0 {
		incomplete = fmt.Errorf("%w, and nothing was dropped:\n%w", ErrIncomplete, errors.Join(damage...))
	} else if f.follows && f.flawed {
		incomplete = fmt.Errorf("%w of the manifests in %s, so nothing is dropped", ErrIncomplete, o.To)
	}
	if f.follows {
		if t.kept == len(t.manifest.Stores) && t.kept == len(f.stores) {
			return res, incomplete
		}
		if err := t.packing.finish(ctx, &t.manifest); err != nil {
			return nil, err
		}
		res.Written += t.packing.written
	}
	if err := r.commit(ctx, &t.manifest); err != nil {
		return nil, err
	}
	f.earlier = append(f.earlier, &t.manifest)
	if f.follows {
		f.stores, f.blocks = t.known, t.packing.blocks
	}
	if incomplete != nil || r.damage > 0 || f.flawed {
		return res, incomplete // what is damaged may be needed
	}
	var err error
	var kept []*Manifest
	if kept, res.Dropped, res.Others, err = r.forget(ctx, o.Keep, f.cluster, f.earlier); err != nil {
		return res, err
	}
	if f.earlier = kept; !f.follows {
		_, err = r.sweep(ctx, kept, nil)
	}
	return res, err
}

// seeOthers looks for manifests of other writers, and for those of this one that others have dropped. They may have
// removed objects as well, so that what this follower remembers of the storage counts no more.
func (f *Follower) seeOthers(ctx context.Context) (err error) {
	names, err := f.repository.storage.List(ctx, backupsFolder)
	if err != nil {
		return err
	}
	if len(names) == len(f.earlier) && !slices.ContainsFunc(f.earlier, func(m *Manifest) bool {
		_, ok := names[manifestName(m.name)]
		return !ok
	}) {
		return nil
	}
	f.stores, f.blocks = nil, nil
	if f.repository.sizes, err = f.repository.storage.List(ctx, objectsFolder); err != nil {
		return err
	}
	return f.remember(ctx)
}

// keep adds a store to the backup.
func (t *taking) keep(k *known) {
	t.manifest.Stores = append(t.manifest.Stores, k.store)
	t.manifest.Expected = append(t.manifest.Expected, k.store.Name)
	if t.packing == nil {
		return
	}
	t.known[k.store.Name] = k
	for _, f := range k.store.Files {
		name := k.store.Name + "/" + f.Name
		if _, ok := t.packing.blocks[name]; !ok && t.packing.before[name] != nil {
			t.packing.blocks[name] = t.packing.before[name]
		}
	}
}

// look says what a store's folder looks like, "" if it may change without looking different, or cannot be read.
func (t *taking) look(name string) string {
	if t.packing == nil {
		return ""
	}
	path, _, err := claim.Current(vfs.Default, filepath.Join(t.options.Data, name))
	if err != nil || path == "" {
		return ""
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return ""
	}
	var look strings.Builder
	fmt.Fprintln(&look, path)
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && !claim.IsImmutable(entry.Name()) { // opening a file of a network disk asks for its time anew
			if file, failed := os.Open(filepath.Join(path, entry.Name())); failed == nil {
				info, err = file.Stat()
				file.Close()
			}
		}
		if err != nil || time.Since(info.ModTime()) < settled {
			return ""
		}
		fmt.Fprintln(&look, entry.Name(), info.Size(), info.ModTime().UnixNano())
	}
	return look.String()
}

// ErrSucceeded is the error of a follower whose cluster was replaced by one that was restored from its backups.
var ErrSucceeded = errors.New("another cluster has taken the place of this one")

// succession is the content of successions/<ID of the cluster that is replaced>.json.
type succession struct {
	At   time.Time `json:"at"`
	Host string    `json:"host"` // on which the backup is restored
}

const successionsFolder = "successions"

// Succeed tells the followers of a backup's cluster to stop: a new cluster is about to be made of the backups, to take
// its place. It comes before the backup to restore is chosen.
func (r *Repository) Succeed(ctx context.Context, m *Manifest) error {
	host, err := os.Hostname()
	if err != nil {
		return err
	}
	content, err := json.Marshal(succession{time.Now().UTC(), host})
	if err != nil {
		return err
	}
	file, err := r.storage.Spool()
	if err != nil {
		return err
	}
	if _, err := file.Write(content); err != nil {
		return errors.Join(err, file.Close())
	}
	return r.storage.Put(ctx, successionName(m.Cluster), file)
}

func successionName(cluster string) string { return path.Join(successionsFolder, cluster+".json") }

// replaced returns a function that reports whether another cluster has taken the place of a backup's.
func (r *Repository) replaced(ctx context.Context) (func(*Manifest) bool, error) {
	names, err := r.storage.List(ctx, successionsFolder)
	return func(m *Manifest) bool { _, ok := names[successionName(m.Cluster)]; return ok }, err
}

// succeeded returns an ErrSucceeded if the cluster was replaced.
func (f *Follower) succeeded(ctx context.Context) error {
	found, err := f.repository.storage.Get(ctx, successionName(f.cluster))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	defer found.Close()
	var s succession
	if err := json.NewDecoder(found).Decode(&s); err != nil {
		return fmt.Errorf("%s: %w", successionName(f.cluster), err)
	}
	return fmt.Errorf("%w: %s was restored on %s at %s", ErrSucceeded, f.options.To, s.Host, s.At.Format(time.RFC3339))
}
