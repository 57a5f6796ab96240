package index

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store of a later format version is refused as such, one of the first two that no release wrote as well, and both
// stay as they are.
func TestOtherVersionsAreRefused(t *testing.T) {
	for version, later := range map[byte]bool{1: false, FormatVersion - 1: false, FormatVersion + 1: true} {
		fs := vfs.NewMem()
		s, err := Open("index", Options{FS: fs})
		fatal.If(t, err)
		fatal.If(t, errors.Join(s.log.DB.Set(keyspace.Version, []byte{version}, pebble.Sync), s.Close()))
		for range 2 {
			if _, err := Open("index", Options{FS: fs}); err == nil || errors.Is(err, storage.ErrLaterFormat) != later {
				t.Errorf("version %d: %v", version, err)
			}
		}
	}
}
