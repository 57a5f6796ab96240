package claim

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// hides is a mount that shows one file of a folder under the name that it had when it was first listed.
type hides struct {
	vfs.FS
	prefix string
	old    string
}

func (h *hides) List(dir string) ([]string, error) {
	names, err := h.FS.List(dir)
	for i, name := range names {
		if strings.HasSuffix(dir, shownFolder) && strings.HasPrefix(name, h.prefix) {
			if h.old == "" {
				h.old = name
			}
			names[i] = h.old
		}
	}
	return names, err
}

// A process whose mount hides names of others does not join; one whose mount shows them does.
func TestJoinComparesNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		join := func(fs vfs.FS, node string, other Session) (Session, error) {
			options := Options{FS: fs, Clock: bubbleClock{}}
			options.Ask = func(Member) (Pulse, bool) {
				if other == nil {
					return Pulse{}, false
				}
				return other.Pulse(), true
			}
			options.Show = func(Member) (uint64, bool) {
				round, err := other.ShowNames()
				return round, err == nil
			}
			f, err := NewFile("data", options)
			fatal.If(t, err)
			return f.Join(t.Context(), Member{Node: node})
		}
		a, err := join(fs, "a", nil)
		fatal.If(t, err)
		rounds := a.Pulse().Shown
		if _, err := join(&hides{FS: fs, prefix: "7-"}, "b", a); !errors.Is(err, ErrStaleNames) {
			t.Errorf("joined on a mount that hides a name: %v", err)
		}
		c, err := join(fs, "c", a)
		fatal.If(t, err)
		if made := a.Pulse().Shown - rounds; made < 1+joinRounds {
			t.Errorf("%d rounds were made", made)
		}
		for _, s := range []Session{a, c} {
			if err := s.Leave(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
}

// A member that ends while its names are compared says nothing about the mount.
func TestJoinWhileAnotherMemberLeaves(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		fs := vfs.NewMem()
		join := func(node string, options Options) (Session, error) {
			options.FS, options.Clock = fs, bubbleClock{}
			f, err := NewFile("data", options)
			fatal.If(t, err)
			return f.Join(t.Context(), Member{Node: node})
		}
		silent := Options{Ask: func(Member) (Pulse, bool) { return Pulse{}, false }}
		a, err := join("a", silent)
		fatal.If(t, err)
		left := false
		b, err := join("b", Options{
			Ask: func(Member) (Pulse, bool) { return a.Pulse(), !left },
			Show: func(Member) (uint64, bool) {
				if left {
					return 0, false
				}
				round, err := a.ShowNames()
				left = true
				return round, errors.Join(err, a.Leave(t.Context())) == nil
			}})
		if err != nil {
			t.Fatalf("not joined: %v", err)
		}
		if err := b.Leave(t.Context()); err != nil {
			t.Error(err)
		}
	})
}
