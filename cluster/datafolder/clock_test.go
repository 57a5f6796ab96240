package datafolder_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/uuid"

	"gnocco/cluster/datafolder"
	"gnocco/storage"
)

// A clock's file is read again, also one without a checksum; any flipped bit of one with a checksum is told, or changes
// nothing.
func TestClockFile(t *testing.T) {
	path := t.TempDir()
	folder, err := datafolder.Share(path)
	if err != nil {
		t.Fatal(err)
	}
	defer folder.Release()
	const origin = 1_795_370_000_123_456_789
	id, old := uuid.New(), uuid.New()
	file := filepath.Join(path, "clocks", id.String())
	ensure := func(id uuid.UUID) (int64, error) { return folder.EnsureClock(id, origin+5) }
	if got, err := folder.EnsureClock(id, origin); got != origin || err != nil {
		t.Fatal(got, err)
	}
	if err := os.WriteFile(filepath.Join(path, "clocks", old.String()), fmt.Appendln(nil, origin-1), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := ensure(old); got != origin-1 || err != nil {
		t.Error(got, err)
	}
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for at := range content {
		for bit := range 8 {
			damaged := bytes.Clone(content)
			damaged[at] ^= 1 << bit
			if err := os.WriteFile(file, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := ensure(id)
			if err == nil && got != origin || err != nil && !errors.Is(err, storage.ErrCorrupt) {
				t.Errorf("bit %d of byte %d: %d, %v", bit, at, got, err)
			}
			if (folder.CheckClocks() == nil) != (err == nil) {
				t.Errorf("bit %d of byte %d: CheckClocks disagrees", bit, at)
			}
		}
	}
}
