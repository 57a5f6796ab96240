package incoming

import "encoding/binary"

const keyBytes = 2 + 8

// metaKey sorts behind all records.
var metaKey = []byte{0xff, 0xff, 'm'}

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
