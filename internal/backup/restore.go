package backup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
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

// Find returns a backup by its name, or by the beginning of one; "" is the newest.
func (r *Repository) Find(ctx context.Context, name string) (*Manifest, error) {
	all, err := r.Backups(ctx)
	if err != nil {
		return nil, err
	}
	var found *Manifest
	for _, m := range all {
		if !strings.HasPrefix(m.name, name) {
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
	if r.cipher == nil && found.Cipher != "" {
		return nil, fmt.Errorf("%s is encrypted by %s: give its key with --identity", found.name, found.Cipher)
	}
	return found, nil
}

// Verify reads all of a backup, and compares it with its checksums.
func (r *Repository) Verify(ctx context.Context, m *Manifest) error {
	return r.eachFile(m, func(_ *Store, f *File) error { return r.extract(ctx, m, f, io.Discard) })
}

// eachFile calls f with each file. It goes on after errors, and returns all of them.
func (r *Repository) eachFile(m *Manifest, f func(*Store, *File) error) error {
	var errs []error
	for i := range m.Stores {
		s := &m.Stores[i]
		for j := range s.Files {
			if err := f(s, &s.Files[j]); err != nil {
				errs = append(errs, fmt.Errorf("%s/%s: %w", s.Name, s.Files[j].Name, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Restore makes a new data folder of a backup.
func (r *Repository) Restore(ctx context.Context, m *Manifest, data string) error {
	return datafolder.Restore(data, m.Sacks, m.Coordination, func() error {
		highest := make(map[string]uint64) // mark of all sacks, by the ID of an incoming store
		for i := range m.Stores {
			if err := r.restoreStore(ctx, m, &m.Stores[i], data); err != nil {
				return err
			}
		}
		for sack := range m.Sacks {
			if err := marks(filepath.Join(data, datafolder.SackName(sack)), archive.Sack{Number: sack, Of: m.Sacks},
				highest); err != nil {
				return err
			}
		}
		for i := range m.Stores {
			if err := finish(&m.Stores[i], data, highest); err != nil {
				return err
			}
		}
		return nil
	})
}

func epochFolder(data, name string) string {
	return claim.Folder(vfs.Default, filepath.Join(data, name), restoredEpoch)
}

// restoreStore writes the files of a store.
func (r *Repository) restoreStore(ctx context.Context, m *Manifest, s *Store, data string) error {
	if err := claim.CheckName(s.Name); err != nil {
		return err
	}
	dir := epochFolder(data, s.Name)
	if err := os.MkdirAll(dir, 0o750); err != nil {
		return err
	}
	for i := range s.Files {
		f := &s.Files[i]
		if filepath.Base(f.Name) != f.Name {
			return fmt.Errorf("%s: file %q", s.Name, f.Name)
		}
		file, err := os.OpenFile(filepath.Join(dir, f.Name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o640)
		if err != nil {
			return err
		}
		err = r.extract(ctx, m, f, file)
		if err := errors.Join(err, file.Sync(), file.Close()); err != nil {
			return fmt.Errorf("%s: %w", s.Name, err)
		}
	}
	return nil
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

// finish makes a restored store ready to be taken over.
func finish(s *Store, data string, highest map[string]uint64) error {
	dir := epochFolder(data, s.Name)
	if strings.HasPrefix(s.Name, datafolder.IncomingPrefix) {
		if err := incoming.SkipSequences(vfs.Default, dir, func(id string) uint64 { return highest[id] }); err != nil {
			return err
		}
	}
	if err := engine.RecordFolder(vfs.Default, dir); err != nil {
		return err
	}
	for _, format := range s.Formats {
		if err := claim.NoteStore(vfs.Default, data, s.Name, format); err != nil {
			return err
		}
	}
	for at := dir; at != data; at = filepath.Dir(at) {
		if err := claim.SyncFolder(vfs.Default, at); err != nil {
			return err
		}
	}
	return nil
}
