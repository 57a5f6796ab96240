package server_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"gnocco/internal/server"
)

func TestFolderHasOneHolder(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	if _, err := server.HoldFolder(dir, false); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a folder that is not there: %v", err)
	}
	first, err := server.HoldFolder(dir, true)
	if err != nil {
		t.Fatal(err)
	}
	// Another way to the same folder is no other folder.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link} {
		if _, err := server.HoldFolder(path, true); !errors.Is(err, server.ErrInUse) {
			t.Errorf("%s held twice: %v", path, err)
		}
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := server.HoldFolder(link, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}
