package incoming

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"gnocco/model"
)

// Entry is what VerifyEntry found under a key: the store's identity, or a record.
type Entry struct {
	Store string // identity; "" for a record
	Above uint64 // higher than every sequence that the store gave so far
	Sacks int    // that the store was made for

	Sack     int
	Sequence uint64
	Measures int
}

// String names the entry for people.
func (e Entry) String() string {
	if e.Store != "" {
		return "identity of store " + e.Store
	}
	return fmt.Sprintf("record %d of sack %d", e.Sequence, e.Sack)
}

// VerifyEntry decodes all of what lies under a key of an incoming store. An error wraps ErrCorrupt; the entry is then told as
// far as its key tells it.
func VerifyEntry(key, value []byte) (e Entry, err error) {
	if bytes.Equal(key, metaKey) {
		m, err := decodeMeta(value)
		if err != nil {
			return e, err
		}
		return Entry{Store: m.id.String(), Above: firstSequence(m.epoch + 1), Sacks: m.sacks}, nil
	}
	if len(key) != keyBytes {
		return e, fmt.Errorf("%w: key %x", ErrCorrupt, key)
	}
	e.Sack, e.Sequence = int(binary.BigEndian.Uint16(key)), keySequence(key)
	_, block, err := decodeRecord(value)
	if err != nil {
		return e, err
	}
	var m model.Measures
	_, err = DecodeBlock(block, &m)
	e.Measures = len(m.Values)
	return e, err
}
