package backup

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/storage"
)

const (
	objectsFolder = "objects"
	backupsFolder = "backups"
	temporary     = "new-" // begins the name of a file that is being written

	nameLayout   = "20060102T150405Z"
	nameSumBytes = 8 // of the manifest's SHA-256, in its name
	sumBytes     = sha256.Size
)

// Each backup verifies the first alwaysVerified bytes that it reuses of earlier ones, and a share of the rest by the
// objects' names: verifyTurns backups one after the other verify all.
const (
	verifyTurns    = 30
	alwaysVerified = 1 << 30
)

// Storage keeps the files of a repository: a folder here, a bucket in the module of cmd/gnocco-backup. Names have
// slashes.
type Storage interface {
	fmt.Stringer
	// Lock makes this process the one writer until release. The context ends when it no longer is.
	Lock(ctx context.Context) (held context.Context, release func() error, err error)
	// Spool makes a file for content that has no name yet.
	Spool() (*os.File, error)
	// Put takes over a file of Spool as name. Until the next Commit a crash may lose it.
	Put(ctx context.Context, name string, file *os.File) error
	// Commit adds a file after all that was put before, durably. Another file of the name is an error.
	Commit(ctx context.Context, name string, content []byte) error
	Get(ctx context.Context, name string) (io.ReadCloser, error)
	// List returns the sizes of the files in a folder and below, by name.
	List(ctx context.Context, folder string) (map[string]int64, error)
	Delete(ctx context.Context, name string) error
}

// Cipher encrypts objects. Manifests are as without it: they have the sizes and SHA-256 of files, and no measures.
type Cipher interface {
	Name() string
	CanOpen() bool // it has a key to read with: without one nothing can be verified
	Seal(to io.Writer) (io.WriteCloser, error)
	Open(from io.Reader) (io.Reader, error)
}

// Repository is a set of backups in a storage.
type Repository struct {
	Warn     func(error)          // called with each fault that is skipped or mended; may be nil
	Progress func(restored int64) // called with the bytes restored so far; may be nil

	storage Storage
	cipher  Cipher            // nil: none
	sizes   map[string]int64  // of objects, by name, once there is a writer
	intact  map[string]bool   // objects that this process verified, by name
	damage  int               // objects and manifests that were found to be damaged
	packs   map[string][]byte // some that were read last, by SHA-256
}

// Open opens a repository. Encrypted objects need a cipher.
func Open(s Storage, c Cipher) *Repository {
	return &Repository{storage: s, cipher: c, intact: make(map[string]bool)}
}

// warn tells of an object or a manifest that is not what was written.
func (r *Repository) warn(err error) {
	r.damage++
	if r.Warn != nil {
		r.Warn(err)
	}
}

// begin makes this process the one writer, until release.
func (r *Repository) begin(ctx context.Context) (held context.Context, release func() error, err error) {
	if held, release, err = r.storage.Lock(ctx); err != nil {
		return nil, nil, err
	}
	if r.sizes, err = r.storage.List(held, objectsFolder); err != nil {
		return nil, nil, errors.Join(err, release())
	}
	return held, release, nil
}

func objectName(sum string) string { return path.Join(objectsFolder, sum[:2], sum[2:]) }

// has reports whether the repository has an object of that size. Of one that is encrypted the size is not compared.
func (r *Repository) has(sum string, size int64) bool {
	found, ok := r.sizes[objectName(sum)]
	return ok && (found == size || r.cipher != nil)
}

// verify reports whether an object that the repository has is what was written. One that is not counts as missing from
// then on, so that it is stored again. Where nothing can be decrypted every object counts as intact.
func (r *Repository) verify(ctx context.Context, f *File) (bool, error) {
	name := objectName(f.Sum)
	if r.intact[name] || r.cipher != nil && !r.cipher.CanOpen() {
		return true, nil
	}
	err := r.extract(ctx, cipherOf(r.cipher), f, io.Discard)
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	if r.intact[name] = err == nil; err != nil {
		r.warn(fmt.Errorf("damaged, stored again: %w", err))
		delete(r.sizes, name)
	}
	return err == nil, nil
}

// isDue reports whether an object is one of the share that is verified in a turn.
func isDue(sum string, turn int) bool {
	number, err := strconv.ParseUint(sum[:8], 16, 32)
	return err != nil || number%verifyTurns == uint64(turn)%verifyTurns
}

// add stores what from has, and returns its SHA-256. written is 0 if the repository had it before.
func (r *Repository) add(ctx context.Context, from io.Reader) (sum string, size, written int64, err error) {
	file, err := r.storage.Spool()
	if err != nil {
		return "", 0, 0, err
	}
	defer func() {
		if written == 0 {
			file.Close() // it is not kept
			os.Remove(file.Name())
		}
	}()
	var sealed io.WriteCloser = file
	if r.cipher != nil {
		if sealed, err = r.cipher.Seal(file); err != nil {
			return "", 0, 0, err
		}
	}
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(sealed, hash), reading{ctx, from})
	sum = hex.EncodeToString(hash.Sum(nil))
	if err != nil {
		return sum, size, 0, err
	}
	if r.has(sum, size) {
		if intact, err := r.verify(ctx, &File{Bytes: size, Sum: sum}); intact || err != nil {
			return sum, size, 0, err
		}
	}
	if r.cipher != nil {
		if err := sealed.Close(); err != nil {
			return "", 0, 0, err
		}
	}
	if err := r.storage.Put(ctx, objectName(sum), file); err != nil {
		return "", 0, 0, err
	}
	r.sizes[objectName(sum)] = size
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

// extract writes a file of a backup to a writer, and checks its sum, and its size unless that is negative. cipher is
// the backup's.
func (r *Repository) extract(ctx context.Context, cipher string, f *File, to io.Writer) error {
	if f.Sum == "" {
		return fmt.Errorf("%w: it could not be read when the backup was taken", storage.ErrCorrupt)
	}
	var from io.Reader = &parts{ctx: ctx, repository: r, cipher: cipher, left: f.Parts}
	if len(f.Parts) == 0 && f.Bytes != 0 {
		object, err := r.storage.Get(ctx, objectName(f.Sum))
		if err != nil {
			return err
		}
		defer object.Close()
		from = object
		if cipher != "" {
			if from, err = r.cipher.Open(object); err != nil {
				return err
			}
		}
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(to, hash), reading{ctx, from})
	if err == nil && (n != f.Bytes && f.Bytes >= 0 || hex.EncodeToString(hash.Sum(nil)) != f.Sum) {
		err = fmt.Errorf("%w: %s is not what was written", storage.ErrCorrupt, objectName(f.Sum))
	}
	return err
}

// cipherOf is the name of a cipher, "" for none.
func cipherOf(c Cipher) string {
	if c == nil {
		return ""
	}
	return c.Name()
}

// commit makes a backup complete: its objects are durable before its manifest is there.
func (r *Repository) commit(ctx context.Context, m *Manifest) error {
	m.Format = wholeFormat
	for _, s := range m.Stores {
		if slices.ContainsFunc(s.Files, func(f File) bool { return len(f.Parts) > 0 }) {
			m.Format = manifestFormat
		}
	}
	content, err := json.Marshal(m)
	if err != nil {
		return err
	}
	m.name = m.Begun.UTC().Format(nameLayout) + "-" + shortSum(content)
	return r.storage.Commit(ctx, manifestName(m.name), content)
}

func manifestName(backup string) string { return path.Join(backupsFolder, backup+".json") }

func shortSum(content []byte) string {
	sum := sha256.Sum256(content)
	return hex.EncodeToString(sum[:nameSumBytes])
}

// Backups returns all complete backups, the newest last. It warns of manifests that cannot be read, and skips them.
func (r *Repository) Backups(ctx context.Context) ([]*Manifest, error) {
	names, err := r.storage.List(ctx, backupsFolder)
	if err != nil {
		return nil, err
	}
	var all []*Manifest
	for _, file := range slices.Sorted(maps.Keys(names)) {
		name, ok := strings.CutSuffix(path.Base(file), ".json")
		if !ok {
			continue
		}
		m, err := r.read(ctx, name)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil || file != manifestName(name) {
			r.warn(fmt.Errorf("%s is skipped: %w", file, cmp.Or(err, errStray)))
			continue
		}
		all = append(all, m)
	}
	slices.SortFunc(all, byAge)
	return all, nil
}

func byAge(a, b *Manifest) int {
	return cmp.Or(a.Begun.Compare(b.Begun), strings.Compare(a.name, b.name))
}

// errStray is the error of a file among the manifests that is in another folder than these.
var errStray = errors.New("it is in a folder of its own")

func (r *Repository) read(ctx context.Context, name string) (*Manifest, error) {
	file, err := r.storage.Get(ctx, manifestName(name))
	if err != nil {
		return nil, err
	}
	content, err := io.ReadAll(file)
	if err = errors.Join(err, file.Close()); err != nil {
		return nil, err
	}
	m := &Manifest{name: name}
	if !strings.HasSuffix(name, "-"+shortSum(content)) {
		return nil, fmt.Errorf("%w: %s is not what was written", storage.ErrCorrupt, manifestName(name))
	}
	if err := json.NewDecoder(bytes.NewReader(content)).Decode(m); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName(name), err)
	}
	if m.Format > manifestFormat {
		return nil, fmt.Errorf("%s was %w", manifestName(name), storage.ErrLaterFormat)
	}
	if err := m.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", manifestName(name), err)
	}
	return m, nil
}

// sweep removes the objects that no backup refers to. If before is not nil it removes only those of them that before
// has, and returns the others.
func (r *Repository) sweep(ctx context.Context, all []*Manifest, before map[string]bool) (map[string]bool, error) {
	kept := make(map[string]bool)
	for _, m := range all {
		for _, s := range m.Stores {
			for _, f := range s.Files {
				for _, name := range f.objects() {
					kept[name] = true
				}
			}
		}
	}
	names, err := r.storage.List(ctx, objectsFolder)
	if err != nil {
		return before, err
	}
	unused := make(map[string]bool)
	for name := range names {
		switch {
		case kept[name]:
		case before != nil && !before[name]:
			unused[name] = true
		default:
			if err := r.storage.Delete(ctx, name); err != nil {
				return before, err
			}
			delete(r.sizes, name)
		}
	}
	return unused, nil
}
