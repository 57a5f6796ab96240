package engine_test

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A page of zeros in a log is damage where a later record says that the page was durable, whether a record or a block
// of the log begins there. Zeros behind the last record are the log's end.
func TestZeroedPages(t *testing.T) {
	const page = 4 << 10
	memory := vfs.NewMem()
	db, err := engine.Open("e1", engine.Options{FS: memory})
	fatal.If(t, err)
	if err := db.Close(); err != nil { // the log of a new store has another format
		t.Fatal(err)
	}
	if db, err = engine.Open("e1", engine.Options{FS: memory}); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	put(t, db, 0, 900)
	killed := clone(t, memory)
	names := recordedFiles(t, killed, "e1")
	i := slices.IndexFunc(names, func(name string) bool { return strings.HasSuffix(name, ".log") })
	log := killed.PathJoin("e1", names[i])
	content := readAll(t, killed, log)
	if len(content) < 80<<10 {
		t.Fatalf("%s of %v has %d bytes, not three blocks", log, names, len(content))
	}
	with := func(content []byte) *vfs.MemFS {
		changed := clone(t, killed)
		overwrite(t, changed, log, content)
		return changed
	}
	for at := 0; at+2*page <= len(content); at += page {
		zeroed := bytes.Clone(content)
		clear(zeroed[at : at+page])
		damaged := with(zeroed)
		if _, err := engine.Check(damaged, "e1"); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("zeros from byte %d on: Check says %v", at, err)
		}
		if _, err := contents(damaged, "e1"); !errors.Is(err, storage.ErrCorrupt) {
			t.Errorf("zeros from byte %d on: Open says %v", at, err)
		}
	}
	want, err := contents(clone(t, killed), "e1")
	fatal.If(t, err)
	for _, zeros := range []int{1, page, 32 << 10, 100 << 10} {
		longer := with(append(bytes.Clone(content), make([]byte, zeros)...))
		if doubts, err := engine.Check(longer, "e1"); len(doubts) > 0 || err != nil {
			t.Errorf("%d zeros behind the end: %v, %v", zeros, doubts, err)
		}
		if got, err := contents(longer, "e1"); got != want || err != nil {
			t.Errorf("%d zeros behind the end: the store is another (%v)", zeros, err)
		}
	}
}
