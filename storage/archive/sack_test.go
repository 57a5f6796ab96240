package archive_test

import (
	"errors"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A store knows which sack it is. One of an earlier program is known by its metrics.
func TestStoreKnowsItsSack(t *testing.T) {
	const dir = "s"
	fs := vfs.NewMem()
	open := func(sack archive.Sack, readOnly bool) error {
		t.Helper()
		s, err := archive.Open(dir, archive.Options{FS: fs, Sack: sack, ReadOnly: readOnly})
		if err != nil {
			return err
		}
		return s.Close()
	}
	other := func(sack archive.Sack) {
		t.Helper()
		for _, readOnly := range []bool{true, false} {
			if err := open(sack, readOnly); !errors.Is(err, archive.ErrOtherSack) {
				t.Errorf("as %v: %v", sack, err)
			}
		}
	}
	same := func(sack archive.Sack) {
		t.Helper()
		for _, readOnly := range []bool{false, true} {
			if err := open(sack, readOnly); err != nil {
				t.Errorf("as %v: %v", sack, err)
			}
		}
	}
	own := archive.Sack{Number: 2, Of: 3}
	same(archive.Sack{}) // an earlier program makes an empty store
	metric := uuid.New()
	for model.Sack(metric, own.Of) != own.Number {
		metric = uuid.New()
	}
	store, err := archive.Open(dir, archive.Options{FS: fs})
	fatal.If(t, err)
	c := store.NewCheckpoint()
	c.AddDropped(metric, 1)
	fatal.If(t, errors.Join(c.Commit(), store.Close()))
	other(archive.Sack{Number: 1, Of: 3})
	same(own)

	// Without any metric it knows itself.
	if store, err = archive.Open(dir, archive.Options{FS: fs, Sack: own}); err != nil {
		t.Fatal(err)
	}
	c = store.NewCheckpoint()
	c.Delete(metric)
	marks := 0
	err = errors.Join(c.Commit(), store.EachMark(func(string, uint64) error { marks++; return nil }), store.Close())
	if marks > 0 || err != nil {
		t.Fatalf("%d marks of incoming stores, %v", marks, err)
	}
	other(archive.Sack{Number: 1, Of: 3})
	other(archive.Sack{Number: 2, Of: 4})
	same(own)
	same(archive.Sack{})
}
