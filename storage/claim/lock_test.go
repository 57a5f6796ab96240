package claim_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"gnocco/storage/claim"
)

// A store's lock excludes this process as well, by whatever path it comes, and outlives other descriptors of the file.
func TestLock(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Fatal(err)
	}
	fs := claim.Fence(vfs.Default, claim.NewDeadline(claim.BootClock{}, 1<<62, 0))
	lock, err := fs.Lock(filepath.Join(dir, "LOCK"))
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // the first attempt closes a descriptor
		if _, err := fs.Lock(filepath.Join(link, "LOCK")); !errors.Is(err, claim.ErrLocked) {
			t.Fatalf("locked twice: %v", err)
		}
	}
	if err := lock.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := fs.Lock(filepath.Join(link, "LOCK"))
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}
