package backup

import (
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/claim"
)

// Manifest says what a backup consists of.
type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program
	Begun   time.Time `json:"begun"`   // all that was acknowledged before is in the backup
	Ended   time.Time `json:"ended"`
	Turn    int       `json:"turn,omitempty"` // counts a repository's backups; see verifyTurns

	Cluster      string   `json:"cluster,omitempty"` // ID
	Sacks        int      `json:"sacks"`
	Coordination string   `json:"coordination,omitempty"`
	Cipher       string   `json:"cipher,omitempty"`   // of its objects
	Expected     []string `json:"expected,omitempty"` // names of the stores that there must be
	Stores       []Store  `json:"stores"`

	name string
}

// The formats of manifests. Format 3 has files in parts, and is written only with these. No release wrote format 1.
const (
	manifestFormat = 3
	wholeFormat    = 2
)

// Store is a store of a backup.
type Store struct {
	Name    string         `json:"name"`              // as in claims: index, incoming/<node>, sacks/<nnn>
	Formats []claim.Format `json:"formats,omitempty"` // in which the store was opened
	Files   []File         `json:"files"`
	Damaged string         `json:"damaged,omitempty"` // why the store could not be opened
}

// File is a file of a store.
type File struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	Modified int64  `json:"modified,omitempty"` // of a table: nanoseconds since 1970
	Sum      string `json:"sha256,omitempty"`   // none if the file could not be read
	Damaged  string `json:"damaged,omitempty"`  // what was wrong with the file in the data folder
	Parts    []Part `json:"parts,omitempty"`    // of a file that is not an object of its own
}

// Part is a part of a file, in a pack: an object that has parts of several files.
type Part struct {
	Pack  string `json:"pack"` // SHA-256
	At    int64  `json:"at"`   // in the pack
	Bytes int64  `json:"bytes"`
}

// objects returns the names of the objects that have the file.
func (f *File) objects() (names []string) {
	for _, p := range f.Parts {
		names = append(names, objectName(p.Pack))
	}
	if len(f.Parts) == 0 && f.Sum != "" {
		names = append(names, objectName(f.Sum))
	}
	return names
}

// joins reports whether the parts of a file are all of it, each a part of an object.
func (f *File) joins() bool {
	whole := f.Bytes
	for _, p := range f.Parts {
		if !isSum(p.Pack) || p.At < 0 || p.Bytes < 1 {
			return false
		}
		whole -= p.Bytes
	}
	return len(f.Parts) == 0 || whole == 0
}

func isSum(text string) bool {
	sum, err := hex.DecodeString(text)
	return err == nil && len(sum) == sumBytes
}

// ErrIncomplete is the error of a backup that could not read all of the data folder, and of a restore that could not
// read all of a backup. The rest is backed up, or restored.
var ErrIncomplete = errors.New("not everything could be read")

// Name returns the backup's name in its repository.
func (m *Manifest) Name() string { return m.name }

// Size returns the number and the bytes of all files.
func (m *Manifest) Size() (files int, bytes int64) {
	for _, s := range m.Stores {
		files += len(s.Files)
		for _, f := range s.Files {
			bytes += f.Bytes
		}
	}
	return files, bytes
}

// Lacking returns the names of the stores that there must be, and that the backup does not have.
func (m *Manifest) Lacking() (names []string) {
	for _, name := range m.Expected {
		if !slices.ContainsFunc(m.Stores, func(s Store) bool { return s.Name == name }) {
			names = append(names, name)
		}
	}
	return names
}

// Damage returns what was damaged in the data folder when the backup was taken.
func (m *Manifest) Damage() (all []error) {
	for _, s := range m.Stores {
		if s.Damaged != "" {
			all = append(all, fmt.Errorf("%s: %s", s.Name, s.Damaged))
		}
		for _, f := range s.Files {
			if f.Damaged != "" {
				all = append(all, fmt.Errorf("%s/%s: %s", s.Name, f.Name, f.Damaged))
			}
		}
	}
	return all
}

// isWhole reports whether the backup has all that there was.
func (m *Manifest) isWhole() bool { return len(m.Lacking()) == 0 && len(m.Damage()) == 0 }

// validate returns a storage.ErrCorrupt for a manifest that no backup wrote, although its checksum is right. All files
// that a valid one names lie inside the repository, and inside the folder that is restored.
func (m *Manifest) validate() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: %s", storage.ErrCorrupt, fmt.Sprintf(format, args...))
	}
	if m.Sacks < 1 || m.Sacks > datafolder.MaxSacks {
		return bad("%s", counted.Of(m.Sacks, "sack"))
	}
	if m.Format < wholeFormat {
		return bad("format %d", m.Format)
	}
	if !slices.Contains(m.Expected, datafolder.IndexName) {
		return bad("it does not say which stores there must be")
	}
	for _, name := range m.Expected {
		if err := claim.CheckName(name); err != nil {
			return bad("%v", err)
		}
	}
	stores := make(map[string]bool)
	for _, s := range m.Stores {
		if err := claim.CheckName(s.Name); err != nil || stores[s.Name] {
			return bad("store %q, %v", s.Name, err)
		}
		stores[s.Name] = true
		files := make(map[string]bool)
		for _, f := range s.Files {
			if filepath.Base(f.Name) != f.Name || f.Name == "." || f.Name == ".." || files[f.Name] || f.Bytes < 0 {
				return bad("%s: file %q of %d bytes", s.Name, f.Name, f.Bytes)
			}
			files[f.Name] = true
			if !isSum(f.Sum) && (f.Sum != "" || f.Damaged == "") {
				return bad("%s: file %q has the SHA-256 %q", s.Name, f.Name, f.Sum)
			}
			if !f.joins() {
				return bad("%s: the parts of file %q", s.Name, f.Name)
			}
		}
	}
	return nil
}
