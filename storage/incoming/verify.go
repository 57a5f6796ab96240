package incoming

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/cockroachdb/pebble/v2"

	"github.com/gnocco-db/gnocco/model"
)

// Entry is what VerifyEntry found under a key: the store's identity, the clock of an epoch, a list of metrics, or a
// record.
type Entry struct {
	Store string // identity; "" for a record
	Above uint64 // higher than every sequence that the store gave so far
	Sacks int    // that the store was made for

	ClockOf uint64 // epoch of whose clock the entry is; 0 for others
	List    uint64 // number of the list that the entry is; 0 for others

	Sack     int
	Sequence uint64
	Measures model.Measures
}

// String names the entry for people.
func (e Entry) String() string {
	if e.Store != "" {
		return "identity of store " + e.Store
	}
	if e.ClockOf != 0 {
		return fmt.Sprintf("clock of epoch %d", e.ClockOf)
	}
	if e.List != 0 {
		return fmt.Sprintf("list of metrics %d of sack %d", e.List, e.Sack)
	}
	return fmt.Sprintf("record %d of sack %d", e.Sequence, e.Sack)
}

// VerifyEntry decodes a key and its whole value of an incoming store. It reads the lists of records from the store. If
// what it finds is wrong, the error wraps storage.ErrCorrupt. With an error the entry says what its key says.
func VerifyEntry(store pebble.Reader, key, value []byte) (e Entry, err error) {
	if bytes.Equal(key, identityKey) {
		m, err := decodeIdentity(value)
		if err != nil {
			return e, err
		}
		return Entry{Store: m.id.String(), Above: firstSequence(m.epoch + 1), Sacks: m.sacks}, nil
	}
	if epoch, ok := clockEpoch(key); ok {
		_, err = decodeClock(value)
		return Entry{ClockOf: epoch}, err
	}
	var ok bool
	if e.Sack, e.List, ok = parseListKey(key); ok {
		_, err = decodeList(value)
		return e, err
	}
	if len(key) != keyBytes {
		return e, fmt.Errorf("%w: key %x", errCorrupt, key)
	}
	e.Sack, e.Sequence = int(binary.BigEndian.Uint16(key)), keySequence(key)
	r, err := decodeRecord(value)
	if err != nil {
		return e, err
	}
	block, err := r.whole(store, e.Sack)
	if err != nil {
		return e, err
	}
	_, err = DecodeBlock(block, &e.Measures)
	return e, err
}
