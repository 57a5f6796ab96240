package incoming

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/storage/engine"
)

// skippedEpochs are left out by Salvage: the identity that can be read may be older than the last one, and no sequence
// may be given twice.
const skippedEpochs = 1000

// Salvage copies what can be read of the store in from into a new one, which goes on with the same identity. Records
// that do not decode are copied as well: readers report them. The error is a storage.ErrCorrupt if the identity cannot
// be read: readers could not tell then which records they have.
func Salvage(from, to string) (err error) {
	source, err := engine.Open(from, engine.Options{ReadOnly: true, Unchecked: true})
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }() // it is known to be damaged
	target, err := engine.Open(to, engine.Options{Compression: &engine.FastCompression})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	batch := target.NewBatch()
	known := false
	if _, err := engine.Walk(source, nil, func(key, value []byte) error {
		if bytes.Equal(key, identityKey) {
			m, err := decodeIdentity(value)
			if err != nil {
				return err
			}
			m.epoch += skippedEpochs
			known, value = true, m.encoded()
		}
		if err := batch.Set(key, value, nil); err != nil || batch.Len() < salvageBytes {
			return err
		}
		if err := batch.Commit(pebble.NoSync); err != nil {
			return err
		}
		batch = target.NewBatch()
		return nil
	}); err != nil {
		return errors.Join(err, batch.Close())
	}
	if !known {
		return errors.Join(errCorrupt, batch.Close())
	}
	return applySynced(target, batch)
}

// salvageBytes is when a batch of the copy is committed.
const salvageBytes = 4 << 20
