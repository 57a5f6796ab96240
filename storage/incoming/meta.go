package incoming

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"gnocco/model"
)

// meta is what a store knows of itself: version (1) | id (16) | epoch (8) | sacks (2) | xxHash64 of these (8).
type meta struct {
	id    uuid.UUID
	epoch uint64
	sacks int
}

const (
	metaVersion = 1
	metaBytes   = 1 + 16 + 8 + 2 + 8
)

func (m meta) append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, metaVersion)
	dst = append(dst, m.id[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, m.epoch)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(m.sacks))
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst[start:]))
}

func decodeMeta(src []byte) (m meta, err error) {
	if len(src) != metaBytes || src[0] != metaVersion ||
		binary.LittleEndian.Uint64(src[metaBytes-8:]) != xxhash.Sum64(src[:metaBytes-8]) {
		return m, fmt.Errorf("%w: identity of the store", ErrCorrupt)
	}
	copy(m.id[:], src[1:])
	m.epoch = binary.LittleEndian.Uint64(src[17:])
	m.sacks = int(binary.LittleEndian.Uint16(src[25:]))
	return m, nil
}

// raiseEpoch starts a new epoch of the store, durably, and creates its identity the first time.
func raiseEpoch(db *pebble.DB, sacks int) (m meta, err error) {
	value, closer, err := db.Get(metaKey)
	switch {
	case errors.Is(err, pebble.ErrNotFound):
		m = meta{id: uuid.New(), sacks: sacks}
	case err != nil:
		return m, err
	default:
		m, err = decodeMeta(value)
		closer.Close()
		if err != nil {
			return m, err
		}
	}
	if m.sacks != sacks {
		return m, fmt.Errorf("%w: store has %d sacks, not %d", model.ErrInvalid, m.sacks, sacks)
	}
	m.epoch++
	batch := db.NewBatch()
	defer batch.Close()
	if err := batch.Set(metaKey, m.append(nil), nil); err != nil {
		return m, err
	}
	return m, applySynced(db, batch)
}
