package engine

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/tests/fatal"
)

// readOnlyFS makes no files; a second name for one is none.
type readOnlyFS struct{ vfs.FS }

func (readOnlyFS) Create(string, vfs.DiskWriteCategory) (vfs.File, error) {
	return nil, errors.New("a file is made")
}

// A record is inherited without a new file, also a second time, and what is recorded later is of one store alone.
func TestRecordIsInheritedByName(t *testing.T) {
	fs := vfs.NewMem()
	before := (&fileRecord{files: map[string]durablePrefix{"000002.log": {bytes: 7, sum: 8}}}).encode()
	fatal.If(t, writeRecord(fs, "e1", before))
	for range 2 {
		fatal.If(t, InheritRecord(readOnlyFS{fs}, "e1", "e2"))
	}
	for _, dir := range []string{"e1", "e2"} {
		r, err := readFileRecord(fs, dir)
		if err != nil || r.files["000002.log"].bytes != 7 {
			t.Errorf("%s: %v %v", dir, r, err)
		}
	}
	fatal.If(t, writeRecord(fs, "e1", (&fileRecord{}).encode()))
	if r, err := readFileRecord(fs, "e2"); err != nil || len(r.files) != 1 {
		t.Errorf("a later record of e1 shows in that of e2: %v %v", r, err)
	}
	if err := InheritRecord(fs, "e7", "e8"); err != nil {
		t.Error("a store without a record:", err)
	}
}
