package datafolder

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A released folder is free although a child of this process has its lock's file open too, until it runs another
// program.
func TestReleaseBesideForks(t *testing.T) {
	dir := t.TempDir()
	fatal.If(t, os.WriteFile(filepath.Join(dir, "lock"), nil, 0o600))
	folder, err := Hold(dir)
	fatal.If(t, err)
	inherited, err := unix.Dup(int(folder.lock.Fd()))
	fatal.If(t, err)
	defer func() { _ = unix.Close(inherited) }()
	fatal.If(t, folder.Release())
	again, err := Hold(dir)
	fatal.If(t, err)
	fatal.If(t, again.Release())
}
