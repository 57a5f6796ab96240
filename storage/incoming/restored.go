package incoming

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// SkipSequences makes the store in dir, which no process has open, continue above the sequences that archives have
// consumed: consumed returns the highest of them for the store's ID, and whether none can be higher. It is for a store
// that was restored from a copy. The archives may be from a later moment than the store, and would take its next
// records for consumed ones.
func SkipSequences(fs vfs.FS, dir string, consumed func(id string) (highest uint64, certain bool)) error {
	if err := skipSequences(fs, dir, consumed); err != nil {
		return fmt.Errorf("incoming: skip sequences of %s: %w", dir, err)
	}
	return nil
}

func skipSequences(fs vfs.FS, dir string, consumed func(id string) (highest uint64, certain bool)) (err error) {
	db, err := engine.Open(dir, engine.Options{FS: fs})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	m, ok, err := readIdentity(db)
	if err != nil || !ok { // a crash came before its first opening was complete: it has given nothing
		return err
	}
	highest, certain := consumed(m.id.String())
	epoch := highest >> epochShift
	if !certain {
		epoch = max(epoch, m.epoch) + skippedEpochs
	}
	if epoch <= m.epoch {
		return nil // Open raises the epoch
	}
	m.epoch = epoch
	return db.Set(identityKey, m.encoded(), pebble.Sync)
}
