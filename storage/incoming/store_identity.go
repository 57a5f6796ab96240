package incoming

import (
	"encoding/binary"
	"fmt"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// identity is what a store knows of itself: version (1) | id (16) | epoch (8) | sacks (2) | xxHash64 of these (8).
type identity struct {
	id    uuid.UUID
	epoch uint64
	sacks int
}

// FormatVersion is that of the store as a whole; records and values have their own.
const FormatVersion = 1

const (
	identityVersion = 1
	identityBytes   = 1 + 16 + 8 + 2 + 8
)

func (m identity) encoded() []byte {
	dst := append([]byte{identityVersion}, m.id[:]...)
	dst = binary.LittleEndian.AppendUint64(dst, m.epoch)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(m.sacks))
	return binary.LittleEndian.AppendUint64(dst, xxhash.Sum64(dst))
}

func decodeIdentity(src []byte) (m identity, err error) {
	if len(src) != identityBytes || src[0] != identityVersion ||
		binary.LittleEndian.Uint64(src[identityBytes-8:]) != xxhash.Sum64(src[:identityBytes-8]) {
		return m, fmt.Errorf("%w: identity of the store", errCorrupt)
	}
	copy(m.id[:], src[1:])
	m.epoch = binary.LittleEndian.Uint64(src[17:])
	m.sacks = int(binary.LittleEndian.Uint16(src[25:]))
	return m, nil
}

// readIdentity returns the identity of a store; ok is false if it has none yet.
func readIdentity(db *pebble.DB) (m identity, ok bool, err error) {
	value, err := engine.Get(db, identityKey)
	if err != nil || value == nil {
		return m, false, err
	}
	m, err = decodeIdentity(value)
	return m, true, err
}

// raiseEpoch starts a new epoch of the store, with its clock, durably, and creates its identity the first time.
func raiseEpoch(db *pebble.DB, sacks int, clock uuid.UUID) (m identity, err error) {
	m, ok, err := readIdentity(db)
	if err != nil {
		return m, err
	}
	if !ok {
		m = identity{id: uuid.New(), sacks: sacks}
	}
	if m.sacks != sacks {
		return m, fmt.Errorf("%w: store has %d sacks, not %d", model.ErrInvalid, m.sacks, sacks)
	}
	m.epoch++
	batch := db.NewBatch()
	defer batch.Close()
	if err := batch.Set(identityKey, m.encoded(), nil); err != nil {
		return m, err
	}
	if err := batch.Set(clockKey(m.epoch), appendClock(nil, clock), nil); err != nil {
		return m, err
	}
	return m, applySynced(db, batch)
}
