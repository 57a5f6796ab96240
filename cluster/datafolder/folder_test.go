package datafolder_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/gnocco-db/gnocco/cluster/datafolder"
)

func TestFolderHasOneHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := datafolder.Hold(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a folder that is not there: %v", err)
	}
	one, err := datafolder.Share(dir)
	if err != nil {
		t.Fatal(err)
	}
	other, err := datafolder.Share(dir)
	if err != nil {
		t.Fatalf("servers keep each other away: %v", err)
	}
	if _, err := datafolder.Hold(dir); !errors.Is(err, datafolder.ErrInUse) {
		t.Errorf("held while servers have it: %v", err)
	}
	if err := errors.Join(one.Release(), other.Release()); err != nil {
		t.Fatal(err)
	}
	first, err := datafolder.Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := datafolder.Share(dir); !errors.Is(err, datafolder.ErrInUse) {
		t.Errorf("served while it is held: %v", err)
	}
	// Another way to the same folder is no other folder.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link} {
		if _, err := datafolder.Hold(path); !errors.Is(err, datafolder.ErrInUse) {
			t.Errorf("%s held twice: %v", path, err)
		}
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := datafolder.Hold(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}
