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
	if _, err := server.HoldFolder(dir); !errors.Is(err, os.ErrNotExist) {
		t.Fatalf("a folder that is not there: %v", err)
	}
	server1, err := server.ShareFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	server2, err := server.ShareFolder(dir)
	if err != nil {
		t.Fatalf("servers keep each other away: %v", err)
	}
	if _, err := server.HoldFolder(dir); !errors.Is(err, server.ErrInUse) {
		t.Errorf("held while servers have it: %v", err)
	}
	if err := errors.Join(server1.Release(), server2.Release()); err != nil {
		t.Fatal(err)
	}
	first, err := server.HoldFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := server.ShareFolder(dir); !errors.Is(err, server.ErrInUse) {
		t.Errorf("served while it is held: %v", err)
	}
	// Another way to the same folder is no other folder.
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{dir, link} {
		if _, err := server.HoldFolder(path); !errors.Is(err, server.ErrInUse) {
			t.Errorf("%s held twice: %v", path, err)
		}
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := server.HoldFolder(link)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}
