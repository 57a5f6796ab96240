package backup

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
)

const (
	objectsFolder = "objects"
	backupsFolder = "backups"
	lockFile      = "lock"
	temporary     = "new-" // begins the name of an object that is being written

	nameLayout   = "20060102T150405Z"
	nameSumBytes = 8 // of the manifest's SHA-256, in its name
)

// Repository is a folder of backups.
type Repository struct {
	dir   string
	lock  *os.File
	fresh map[string]bool // folders of objects with entries that are not durable yet
}

// Open opens a repository for reading.
func Open(dir string) (*Repository, error) {
	if _, err := os.Stat(filepath.Join(dir, backupsFolder)); err != nil {
		return nil, fmt.Errorf("%s has no backups: %w", dir, err)
	}
	return &Repository{dir: dir}, nil
}

// create opens a repository for one writer, and makes it if it is missing.
func create(dir string) (*Repository, error) {
	for _, folder := range []string{objectsFolder, backupsFolder} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o750); err != nil {
			return nil, err
		}
	}
	lock, err := os.OpenFile(filepath.Join(dir, lockFile), os.O_RDWR|os.O_CREATE, 0o640)
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(lock.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		lock.Close()
		return nil, fmt.Errorf("another backup to %s is under way: %w", dir, err)
	}
	return &Repository{dir: dir, lock: lock, fresh: make(map[string]bool)}, nil
}

// close ends the use by create.
func (r *Repository) close() error { return r.lock.Close() }

func (r *Repository) objectPath(sum string) string {
	return filepath.Join(r.dir, objectsFolder, sum[:2], sum[2:])
}

// has reports whether the repository has an object of that size.
func (r *Repository) has(sum string, size int64) bool {
	info, err := os.Stat(r.objectPath(sum))
	return err == nil && info.Size() == size
}

// add stores what from has, and returns its SHA-256. written is 0 if the repository had it before.
func (r *Repository) add(ctx context.Context, from io.Reader) (sum string, size, written int64, err error) {
	file, err := os.CreateTemp(filepath.Join(r.dir, objectsFolder), temporary)
	if err != nil {
		return "", 0, 0, err
	}
	defer func() {
		if err != nil || written == 0 {
			err = errors.Join(err, os.Remove(file.Name()))
		}
	}()
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(file, hash), reading{ctx, from})
	sum = hex.EncodeToString(hash.Sum(nil))
	if err == nil && r.has(sum, size) {
		return sum, size, 0, file.Close()
	}
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		return "", 0, 0, err
	}
	path := r.objectPath(sum)
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return "", 0, 0, err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return "", 0, 0, err
	}
	r.fresh[filepath.Dir(path)] = true
	return sum, size, max(size, 1), nil
}

// reading is a reader that ends with a context.
type reading struct {
	ctx context.Context
	io.Reader
}

func (r reading) Read(p []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.Reader.Read(p)
}

// extract writes an object to a writer, and checks it.
func (r *Repository) extract(ctx context.Context, f *File, to io.Writer) error {
	object, err := os.Open(r.objectPath(f.Sum))
	if err != nil {
		return err
	}
	defer object.Close()
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, hash), reading{ctx, object})
	if err == nil && (n != f.Bytes || hex.EncodeToString(hash.Sum(nil)) != f.Sum) {
		err = fmt.Errorf("%w: %s is not what was written", storage.ErrCorrupt, object.Name())
	}
	return err
}

// commit makes a backup complete: its objects are durable before its manifest is there.
func (r *Repository) commit(m *Manifest) error {
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	for dir := range r.fresh {
		if err := claim.SyncFolder(vfs.Default, dir); err != nil {
			return err
		}
	}
	if err := claim.SyncFolder(vfs.Default, filepath.Join(r.dir, objectsFolder)); err != nil {
		return err
	}
	m.name = m.Begun.UTC().Format(nameLayout) + "-" + shortSum(content)
	dir := filepath.Join(r.dir, backupsFolder)
	file, err := os.CreateTemp(dir, temporary)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = os.Rename(file.Name(), filepath.Join(dir, m.name+".json"))
	}
	if err != nil {
		return errors.Join(err, os.Remove(file.Name()))
	}
	return claim.SyncFolder(vfs.Default, dir)
}

func shortSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:nameSumBytes])
}

// Backups returns all complete backups, the newest last.
func (r *Repository) Backups() ([]*Manifest, error) {
	entries, err := os.ReadDir(filepath.Join(r.dir, backupsFolder))
	if err != nil {
		return nil, err
	}
	var all []*Manifest
	for _, entry := range entries {
		name, ok := strings.CutSuffix(entry.Name(), ".json")
		if !ok {
			continue
		}
		m, err := r.read(name)
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	slices.SortStableFunc(all, func(a, b *Manifest) int { return a.Begun.Compare(b.Begun) })
	return all, nil
}

func (r *Repository) read(name string) (*Manifest, error) {
	path := filepath.Join(r.dir, backupsFolder, name+".json")
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	m := &Manifest{name: name}
	if !strings.HasSuffix(name, "-"+shortSum(content)) {
		return nil, fmt.Errorf("%w: %s is not what was written", storage.ErrCorrupt, path)
	}
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if m.Format > manifestFormat {
		return nil, fmt.Errorf("%s was %w", path, storage.ErrLaterFormat)
	}
	return m, nil
}

// sweep removes the objects that no backup refers to.
func (r *Repository) sweep() error {
	all, err := r.Backups()
	if err != nil {
		return err
	}
	kept := make(map[string]bool)
	for _, m := range all {
		for _, s := range m.Stores {
			for _, f := range s.Files {
				kept[r.objectPath(f.Sum)] = true
			}
		}
	}
	return filepath.WalkDir(filepath.Join(r.dir, objectsFolder), func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || kept[path] {
			return err
		}
		return os.Remove(path)
	})
}
