package incoming

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// ChangeSacks sets the number of sacks in a store on disk that nobody has open. It deletes the records, which the
// caller knows to be processed, since they are sorted by the old sacks. A store with the right number stays as it is.
func ChangeSacks(disk vfs.FS, dir string, sacks int) error {
	db, err := engine.Open(dir,
		engine.Options{FS: disk, MemTableSize: defaultMemTableSize, Compression: &engine.FastCompression})
	if err != nil {
		return fmt.Errorf("incoming: open %s: %w", dir, err)
	}
	if err := errors.Join(changeSacks(db, sacks), db.Close()); err != nil {
		return fmt.Errorf("incoming: change the number of sacks of %s: %w", dir, err)
	}
	return nil
}

func changeSacks(db *pebble.DB, sacks int) error {
	m, ok, err := readIdentity(db)
	if err != nil || !ok || m.sacks == sacks { // not ok: never opened to its end
		return err
	}
	m.sacks = sacks
	batch := db.NewBatch()
	defer batch.Close()
	first, end := key(0, 0), key(maxSacks, 0)
	if err := batch.DeleteRange(first[:], end[:], nil); err != nil {
		return err
	}
	if err := batch.DeleteRange(listPrefix, listsEnd, nil); err != nil {
		return err
	}
	if err := batch.Set(identityKey, m.encoded(), nil); err != nil {
		return err
	}
	return applySynced(db, batch)
}
