package incoming

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"gnocco/storage/engine"
)

// ChangeSacks tells a store that nobody has open how many sacks there are from now on. Its records, which the caller knows to be
// processed, are deleted: they are sorted by the old ones. It does nothing to a store that knows the number already.
func ChangeSacks(dir string, sacks int) error {
	db, err := engine.Open(dir, engine.Options{MemTableSize: memTableSize, Compression: &engine.FastCompression})
	if err != nil {
		return fmt.Errorf("incoming: open %s: %w", dir, err)
	}
	if err := errors.Join(changeSacks(db, sacks), db.Close()); err != nil {
		return fmt.Errorf("incoming: change the number of sacks of %s: %w", dir, err)
	}
	return nil
}

func changeSacks(db *pebble.DB, sacks int) error {
	value, closer, err := db.Get(metaKey)
	if errors.Is(err, pebble.ErrNotFound) {
		return nil // never opened to its end
	}
	if err != nil {
		return err
	}
	m, err := decodeMeta(value)
	closer.Close()
	if err != nil || m.sacks == sacks {
		return err
	}
	m.sacks = sacks
	batch := db.NewBatch()
	defer batch.Close()
	first, end := key(0, 0), key(maxSacks, 0)
	if err := batch.DeleteRange(first[:], end[:], nil); err != nil {
		return err
	}
	if err := batch.Set(metaKey, m.append(nil), nil); err != nil {
		return err
	}
	return applySynced(db, batch)
}
