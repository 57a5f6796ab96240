package backup

import (
	"time"

	"github.com/gnocco-db/gnocco/storage/claim"
)

// Manifest says what a backup consists of.
type Manifest struct {
	Format  int       `json:"format"`
	Version string    `json:"version"` // of the program
	Begun   time.Time `json:"begun"`   // all that was acknowledged before is in the backup
	Ended   time.Time `json:"ended"`

	Cluster      string  `json:"cluster,omitempty"` // ID
	Sacks        int     `json:"sacks"`
	Coordination string  `json:"coordination,omitempty"`
	Cipher       string  `json:"cipher,omitempty"` // of its objects
	Stores       []Store `json:"stores"`

	name string
}

const manifestFormat = 1

// Store is a store of a backup.
type Store struct {
	Name    string         `json:"name"`              // as in claims: index, incoming/<node>, sacks/<nnn>
	Formats []claim.Format `json:"formats,omitempty"` // in which the store was opened
	Files   []File         `json:"files"`
}

// File is a file of a store.
type File struct {
	Name     string `json:"name"`
	Bytes    int64  `json:"bytes"`
	Modified int64  `json:"modified,omitempty"` // of a table: nanoseconds since 1970
	Sum      string `json:"sha256"`
}

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
