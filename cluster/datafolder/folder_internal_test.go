package datafolder

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// A released folder is free although a child of this process has its lock's file open too, until it runs another
// program.
func TestReleaseBesideForks(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	inherited, err := unix.Dup(int(folder.lock.Fd()))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(inherited) }()
	if err := folder.Release(); err != nil {
		t.Fatal(err)
	}
	again, err := Hold(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Release(); err != nil {
		t.Fatal(err)
	}
}
