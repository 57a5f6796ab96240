package claim

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A file of claims or members is read up to a size: one that is larger is none of ours.
func TestLargeFilesAreRefused(t *testing.T) {
	fs := vfs.NewMem()
	for size, ok := range map[int]bool{maxFileBytes: true, maxFileBytes + 1: false} {
		fatal.If(t, write(fs, "claim", make([]byte, size)))
		if content, err := read(fs, "claim"); (err == nil) != ok || ok && len(content) != size {
			t.Errorf("%d bytes: %d are read, %v", size, len(content), err)
		}
	}
}
