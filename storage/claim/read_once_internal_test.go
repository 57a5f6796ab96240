package claim

import (
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// countingFS counts the openings of claims.
type countingFS struct {
	vfs.FS
	opened atomic.Int32
}

func (c *countingFS) Unwrap() vfs.FS { return c.FS }

func (c *countingFS) Open(name string, options ...vfs.OpenOption) (vfs.File, error) {
	if strings.Contains(name, "claims/") {
		c.opened.Add(1)
	}
	return c.FS.Open(name, options...)
}

// A second question for the holder of a store lists the claims, and reads none that was read.
func TestClaimsAreReadOnce(t *testing.T) {
	fs := &countingFS{FS: vfs.NewMem()}
	fatal.If(t, fs.MkdirAll("data", folderMode))
	f, err := NewFile("data", Options{FS: fs})
	fatal.If(t, err)
	s, err := f.Join(t.Context(), Member{Node: "a", Address: "a:1"})
	fatal.If(t, err)
	defer s.Leave(t.Context())
	for epoch := range uint64(3) {
		c, err := s.Claim(t.Context(), "sacks/001")
		fatal.If(t, err)
		before := fs.opened.Load()
		for range 5 {
			holder, err := s.Holder(t.Context(), "sacks/001")
			if err != nil || holder.Epoch != epoch+1 || !holder.Live() || holder.Member.Node != "a" {
				t.Fatal(holder, err)
			}
		}
		if n := fs.opened.Load() - before; n > 1 {
			t.Errorf("the claim was read %d times", n)
		}
		fatal.If(t, s.Release(t.Context(), c))
		if holder, err := s.Holder(t.Context(), "sacks/001"); err != nil || !holder.Released {
			t.Error(holder, err)
		}
	}
}
