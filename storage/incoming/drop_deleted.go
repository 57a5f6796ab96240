package incoming

import (
	"context"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// behindRecords is where the records end. The store's own entries follow.
var behindRecords = []byte{0xff, 0xff}

// dropDeleted takes the tables away in which only deleted records are left, of a store without a record and without a
// writer. Pebble would read them all, to find that out one day.
func (s *Store) dropDeleted() error {
	ctx, cancel := context.WithTimeout(context.Background(), s.options.Timeout)
	defer cancel()
	if s.space.check(ctx, nil) != nil {
		return nil // Pebble may need room for it
	}
	first := key(0, 0)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: first[:], UpperBound: behindRecords})
	if err != nil {
		return err
	}
	empty := !iter.First()
	if err := errors.Join(iter.Error(), iter.Close()); err != nil || !empty {
		return err
	}
	for _, gone := range []pebble.KeyRange{{Start: first[:], End: behindRecords}, {Start: listPrefix, End: listsEnd}} {
		if err := s.db.Excise(ctx, gone); err != nil {
			return err
		}
	}
	return s.rewriteRest(ctx)
}

// rewriteRest writes anew what lies behind the records. Its table may be what is left of a large one, which takes as
// much room as before until a compaction has something to fold into it.
func (s *Store) rewriteRest(ctx context.Context) (err error) {
	batch := s.db.NewBatch()
	err = engine.Each(s.db, behindRecords, nil, func(key, value []byte) error { return batch.Set(key, value, nil) })
	if err != nil {
		return errors.Join(err, batch.Close())
	}
	if err := applyUnsynced(s.db, batch); err != nil {
		return err
	}
	return s.db.Compact(ctx, behindRecords, []byte{0xff, 0xff, 0xff}, false)
}
