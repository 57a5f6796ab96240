package incoming

import (
	"bytes"
	"encoding/binary"
)

const keyBytes = 2 + 8

// identityKey sorts behind all records.
var identityKey = []byte{0xff, 0xff, 'm'}

// clockPrefix begins the keys of epochs' clocks, which sort behind all records.
var clockPrefix = []byte{0xff, 0xff, 'c'}

func clockKey(epoch uint64) []byte { return binary.BigEndian.AppendUint64(clockPrefix[:3:3], epoch) }

// clockEpoch returns the epoch of a clock's key; ok is false for any other key.
func clockEpoch(key []byte) (epoch uint64, ok bool) {
	if len(key) != len(clockPrefix)+8 || !bytes.HasPrefix(key, clockPrefix) {
		return 0, false
	}
	return binary.BigEndian.Uint64(key[len(clockPrefix):]), true
}

// key returns the key of a record. key(sack, 0) is before all records of the sack, key(sack+1, 0) behind them.
func key(sack int, sequence uint64) [keyBytes]byte {
	var k [keyBytes]byte
	putKey(k[:], sack, sequence)
	return k
}

func putKey(dst []byte, sack int, sequence uint64) {
	binary.BigEndian.PutUint16(dst, uint16(sack))
	binary.BigEndian.PutUint64(dst[2:], sequence)
}

// keySequence returns the sequence of a record's key.
func keySequence(key []byte) uint64 { return binary.BigEndian.Uint64(key[2:]) }

// A sequence is made of the store's epoch, raised at each Open, and a counter of requests within it: 16 million
// openings, each with a million million requests.
const epochShift = 40

func firstSequence(epoch uint64) uint64 { return epoch<<epochShift | 1 }
