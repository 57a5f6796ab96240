package claim

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// lateCreation is a mount whose first creation of a claim's file fails, and happens before the next link.
type lateCreation struct {
	vfs.FS
	name string
}

var errLate = errors.New("no answer")

func (l *lateCreation) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	if l.name == "" && strings.HasPrefix(name, "data/claims/") {
		l.name = name
		return nil, errLate
	}
	return l.FS.Create(name, category)
}

func (l *lateCreation) Link(from, to string) error {
	file, err := l.FS.Create(l.name, vfs.WriteCategoryUnspecified)
	return errors.Join(err, file.Close(), l.FS.Link(from, to))
}

// A claim's file names its holder even if an earlier creation of it fails and takes effect late.
func TestLateCreationOfAClaim(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		fatal.If(t, fs.MkdirAll("data", folderMode))
		join := func(fs vfs.FS, node string) Session {
			f, err := NewFile("data", Options{FS: fs, Clock: bubbleClock{}})
			fatal.If(t, err)
			s, err := f.Join(t.Context(), Member{Node: node})
			fatal.If(t, err)
			return s
		}
		a, b := join(&lateCreation{FS: fs}, "a"), join(fs, "b")
		if _, err := a.Claim(t.Context(), "index"); !errors.Is(err, errLate) {
			t.Fatal(err)
		}
		_, err := a.Claim(t.Context(), "index")
		fatal.If(t, err)
		if holder, err := b.Holder(t.Context(), "index"); err != nil || holder.Member.ID != a.Member().ID {
			t.Errorf("the holder is %+v, %v", holder, err)
		}
		fatal.If(t, errors.Join(a.Leave(t.Context()), b.Leave(t.Context())))
	})
}
