package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// restoredEpoch is the epoch of all stores of a restored folder. The first process takes them over.
const restoredEpoch = 1

// Find returns a backup by its name, or by the beginning of one; "" is the newest. Backups of clusters that were
// replaced are older than all others.
func (r *Repository) Find(ctx context.Context, name string) (*Manifest, error) {
	all, err := r.Backups(ctx)
	if err != nil {
		return nil, err
	}
	replaced, err := r.replaced(ctx)
	if err != nil {
		return nil, err
	}
	var found *Manifest
	for _, m := range all {
		if !strings.HasPrefix(m.name, name) || name == "" && found != nil && replaced(m) && !replaced(found) {
			continue
		}
		if found != nil && name != "" {
			return nil, fmt.Errorf("%s has several backups that begin with %s", r.storage, name)
		}
		found = m
	}
	if found == nil {
		return nil, fmt.Errorf("%s has no backup %s", r.storage, name)
	}
	if found.Cipher != "" && (r.cipher == nil || !r.cipher.CanOpen()) {
		return nil, fmt.Errorf("%s is encrypted by %s: give its key with --identity", found.name, found.Cipher)
	}
	return found, nil
}

// ErrLacking is the error of a backup that lacks stores.
var ErrLacking = errors.New("the backup lacks stores that there must be")

// lacking is an ErrLacking that names the stores, nil for a backup that has all.
func (m *Manifest) lacking() error {
	if names := m.Lacking(); len(names) > 0 {
		return fmt.Errorf("%w: %s", ErrLacking, strings.Join(names, ", "))
	}
	return nil
}

// Verify reads all of a backup, and compares it with its checksums.
func (r *Repository) Verify(ctx context.Context, m *Manifest) error {
	errs := append([]error{m.lacking()}, m.Damage()...)
	for _, s := range m.Stores {
		for _, f := range s.Files {
			if f.Sum == "" {
				continue // it is among the damage
			}
			if err := r.extract(ctx, m.Cipher, &f, io.Discard); err != nil {
				errs = append(errs, fmt.Errorf("%s/%s: %w", s.Name, f.Name, err))
			}
			if ctx.Err() != nil {
				return ctx.Err()
			}
		}
	}
	return errors.Join(errs...)
}

// restoring is a restore under way.
type restoring struct {
	repository *Repository
	manifest   *Manifest
	data       string
	restored   int64
	losses     []error           // what could not be restored
	suspect    map[string]bool   // logs and manifests among that, by store and name
	highest    map[string]uint64 // mark of all sacks, by the ID of an incoming store
}

// Restore makes a new data folder of a backup. If not all of it can be read it restores the rest, and the error is an
// ErrIncomplete: servers name the damaged stores and serve the others. A backup that lacks stores is refused, unless
// partial is true.
func (r *Repository) Restore(ctx context.Context, m *Manifest, data string, partial bool) error {
	if from, ok := r.storage.(*folder); ok {
		if err := from.apartFrom(data); err != nil {
			return err
		}
	}
	lacking := m.lacking()
	if lacking != nil && !partial {
		return lacking
	}
	x := &restoring{repository: r, manifest: m, data: data, suspect: make(map[string]bool),
		highest: make(map[string]uint64)}
	err := datafolder.Restore(data, m.Sacks, m.Coordination, func() error { return x.fill(ctx) })
	if err != nil {
		return err
	}
	if lacking != nil || len(x.losses) > 0 {
		err = fmt.Errorf("%w; the rest is restored:\n%w", ErrIncomplete, errors.Join(append(x.losses, lacking)...))
	}
	return err
}

func (x *restoring) fill(ctx context.Context) error {
	x.losses = x.manifest.Damage()
	for i := range x.manifest.Stores {
		if err := x.store(ctx, &x.manifest.Stores[i]); err != nil {
			return err
		}
	}
	for sack := range x.manifest.Sacks {
		dir := filepath.Join(x.data, datafolder.SackName(sack))
		if err := marks(dir, archive.Sack{Number: sack, Of: x.manifest.Sacks}, x.highest); err != nil {
			x.lose(datafolder.SackName(sack), err)
		}
	}
	for i := range x.manifest.Stores {
		if err := x.finish(&x.manifest.Stores[i]); err != nil {
			return err
		}
	}
	for _, name := range x.manifest.Lacking() {
		if err := claim.NoteStore(vfs.Default, x.data, name, datafolder.FormatOf(name)); err != nil {
			return err
		}
	}
	return nil
}

// lose notes what could not be restored.
func (x *restoring) lose(what string, err error) {
	x.losses = append(x.losses, fmt.Errorf("%s: %w", what, err))
}

func epochFolder(data, name string) string {
	return claim.Folder(vfs.Default, filepath.Join(data, name), restoredEpoch)
}

// store writes the files of a store. Of one that is damaged it writes what can be read: a table has a checksum for each
// block, so that servers find what is left.
func (x *restoring) store(ctx context.Context, s *Store) error {
	if len(s.Files) == 0 {
		return nil
	}
	dir := epochFolder(x.data, s.Name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for i := range s.Files {
		f := &s.Files[i]
		file, err := os.OpenFile(filepath.Join(dir, f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
		if err != nil {
			return err
		}
		to := &writer{Writer: file}
		err = x.repository.extract(ctx, x.manifest.Cipher, f, to)
		if err := errors.Join(to.err, ctx.Err(), file.Sync(), file.Close()); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
		if err != nil {
			x.lose(s.Name+"/"+f.Name, err)
			x.suspect[s.Name+"/"+f.Name] = strings.HasSuffix(f.Name, ".log") || strings.HasPrefix(f.Name, "MANIFEST-")
		}
		if x.restored += f.Bytes; x.repository.Progress != nil {
			x.repository.Progress(x.restored)
		}
	}
	return nil
}

// writer keeps the error that writing ended with.
type writer struct {
	io.Writer
	err error
}

func (w *writer) Write(p []byte) (n int, err error) {
	n, w.err = w.Writer.Write(p)
	return n, w.err
}

// marks raises highest to the marks of a sack.
func marks(dir string, sack archive.Sack, highest map[string]uint64) error {
	path, _, err := claim.Current(vfs.Default, dir)
	if err != nil || path == "" {
		return err
	}
	store, err := archive.Open(path, archive.Options{ReadOnly: true, Sack: sack})
	if err != nil {
		return err
	}
	err = store.EachMark(func(source string, sequence uint64) error {
		highest[source] = max(highest[source], sequence)
		return nil
	})
	return errors.Join(err, store.Close())
}

// finish makes a restored store ready to be taken over. One without files is noted, so that servers miss it.
func (x *restoring) finish(s *Store) error {
	for _, format := range s.Formats {
		if err := claim.NoteStore(vfs.Default, x.data, s.Name, format); err != nil {
			return err
		}
	}
	if len(s.Files) == 0 {
		return claim.NoteStore(vfs.Default, x.data, s.Name, datafolder.FormatOf(s.Name))
	}
	dir := epochFolder(x.data, s.Name)
	suspect := func(name string) bool { return s.Damaged != "" || x.suspect[s.Name+"/"+name] }
	damaged := slices.ContainsFunc(s.Files, func(f File) bool { return suspect(f.Name) })
	if strings.HasPrefix(s.Name, datafolder.IncomingPrefix) && !damaged {
		certain := len(x.losses) == 0 && x.manifest.isWhole() // a sack that cannot be read may have higher marks
		consumed := func(id string) (uint64, bool) { return x.highest[id], certain }
		if err := incoming.SkipSequences(vfs.Default, dir, consumed); err != nil {
			x.lose(s.Name, err)
			suspect = func(string) bool { return true }
		}
	}
	if err := engine.RecordFolder(vfs.Default, dir, suspect); err != nil {
		return err
	}
	for at := dir; at != x.data; at = filepath.Dir(at) {
		if err := claim.SyncFolder(vfs.Default, at); err != nil {
			return err
		}
	}
	return nil
}
