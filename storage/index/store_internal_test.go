package index

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store of a later format version is refused as such, one of the first two that no release wrote as well, and both
// stay as they are.
func TestOtherVersionsAreRefused(t *testing.T) {
	for version, later := range map[byte]bool{1: false, FormatVersion - 1: false, foldsVersion + 1: true} {
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

// A store has the version that programs without folds refuse once a policy has one, and keeps it.
func TestFoldsMakeALaterVersion(t *testing.T) {
	for _, fold := range []string{"share_above(90)", "count_below(0)", "sum(x*x)", "difference"} {
		requireVersions(t, fold)
	}
}

func requireVersions(t *testing.T, fold string) {
	t.Helper()
	fs := vfs.NewMem()
	for _, c := range []struct {
		method string
		want   byte
	}{{"95pct", FormatVersion}, {fold, foldsVersion}, {"mean", foldsVersion}} {
		s, err := Open("index", Options{FS: fs})
		fatal.If(t, err)
		definition := []model.DefinitionInput{{Granularity: new(time.Minute)}}
		p, err := model.NewArchivePolicy(c.method, 0, definition, []string{c.method})
		fatal.If(t, err)
		fatal.If(t, s.CreateArchivePolicy(t.Context(), p))
		fatal.If(t, s.Close())
		s, err = Open("index", Options{FS: fs})
		fatal.If(t, err)
		if version, err := s.log.Get(keyspace.Version); err != nil || len(version) != 1 || version[0] != c.want {
			t.Errorf("with %s: version %v, %v, want %d", c.method, version, err, c.want)
		}
		if p, err = s.ArchivePolicy(c.method); err != nil || p.MethodNames()[0] != c.method {
			t.Errorf("%v, %v", p, err)
		}
		fatal.If(t, s.Close())
	}
}
