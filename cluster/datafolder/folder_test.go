package datafolder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestFolderHasOneHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := datafolder.Hold(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a folder that is not there: %v", err)
	}
	one, err := datafolder.Share(dir)
	fatal.If(t, err)
	other, err := datafolder.Share(dir)
	if err != nil {
		t.Fatalf("servers keep each other away: %v", err)
	}
	if _, err := datafolder.Hold(dir); !errors.Is(err, datafolder.ErrInUse) {
		t.Errorf("held while servers have it: %v", err)
	}
	fatal.If(t, errors.Join(one.Release(), other.Release()))
	first, err := datafolder.Hold(dir)
	fatal.If(t, err)
	if _, err := datafolder.Share(dir); !errors.Is(err, datafolder.ErrInUse) {
		t.Errorf("served while it is held: %v", err)
	}
	// Another way to the same folder is no other folder.
	link := filepath.Join(t.TempDir(), "link")
	fatal.If(t, os.Symlink(dir, link))
	for _, path := range []string{dir, link} {
		if _, err := datafolder.Hold(path); !errors.Is(err, datafolder.ErrInUse) {
			t.Errorf("%s held twice: %v", path, err)
		}
	}
	fatal.If(t, first.Release())
	again, err := datafolder.Hold(link)
	fatal.If(t, err)
	fatal.If(t, again.Release())
}
