package claim_test

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"golang.org/x/sys/unix"

	"github.com/gnocco-db/gnocco/storage/claim"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store's lock excludes this process as well, by any path, and outlives other descriptors of the file.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	fatal.If(t, os.Symlink(dir, link))
	fs := claim.Fence(vfs.Default, claim.NewDeadline(claim.BootClock{}, 1<<62, 0))
	lock, err := fs.Lock(filepath.Join(dir, "LOCK"))
	fatal.If(t, err)
	for range 2 { // the first attempt closes a descriptor
		if _, err := fs.Lock(filepath.Join(link, "LOCK")); !errors.Is(err, claim.ErrLocked) {
			t.Fatalf("locked twice: %v", err)
		}
	}
	fatal.If(t, lock.Close())
	again, err := fs.Lock(filepath.Join(link, "LOCK"))
	fatal.If(t, err)
	fatal.If(t, again.Close())
}

// Closing a lock ends it, although a child of this process has the file open as well until it runs another program.
func TestLockEndsBesideForks(t *testing.T) {
	path := filepath.Join(t.TempDir(), "LOCK")
	fs := claim.Fence(vfs.Default, claim.NewDeadline(claim.BootClock{}, 1<<62, 0))
	lock, err := fs.Lock(path)
	fatal.If(t, err)
	defer inherit(t, path)()
	fatal.If(t, lock.Close())
	again, err := fs.Lock(path)
	if err != nil {
		t.Fatal("after the lock was closed:", err)
	}
	fatal.If(t, again.Close())
}

// inherit opens what this process has open at a path once more, as a fork does. The caller calls release.
func inherit(t *testing.T, path string) (release func()) {
	t.Helper()
	const own = "/proc/self/fd"
	descriptors, err := os.ReadDir(own)
	fatal.If(t, err)
	for _, d := range descriptors {
		number, err := strconv.Atoi(d.Name())
		if target, _ := os.Readlink(filepath.Join(own, d.Name())); err != nil || target != path {
			continue
		}
		inherited, err := unix.Dup(number)
		fatal.If(t, err)
		return func() { _ = unix.Close(inherited) }
	}
	t.Fatalf("%s is not open", path)
	return nil
}
