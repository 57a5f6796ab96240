package incoming

import (
	"encoding/binary"
	"fmt"
)

// A Record is one request's measures for one sack. Its block may be read, and kept, but not modified.
type Record struct {
	Sequence uint64
	Stamp    Stamp
	Block    []byte
}

// total counts what a sack was sent, from some point on: differences of totals count what lies between two records.
type total struct{ measures, blocks uint64 }

func (t total) plus(measures int) total { return total{t.measures + uint64(measures), t.blocks + 1} }

// A record's value is the total before it, recordStamped and its stamp, then the block. Earlier releases left out the
// stamp; a block begins with another byte.
const (
	recordStamped   = 0x80
	maxRecordPrefix = 2*binary.MaxVarintLen64 + 1 + 8
)

func putRecordPrefix(dst []byte, before total, at int64) int {
	n := binary.PutUvarint(dst, before.measures)
	n += binary.PutUvarint(dst[n:], before.blocks)
	dst[n] = recordStamped
	binary.LittleEndian.PutUint64(dst[n+1:], uint64(at))
	return n + 1 + 8
}

// decodeRecord splits a record's value; at is 0 for one without a stamp.
func decodeRecord(src []byte) (before total, at int64, block []byte, err error) {
	var n, m int
	if before.measures, n = binary.Uvarint(src); n > 0 {
		before.blocks, m = binary.Uvarint(src[n:])
	}
	if n <= 0 || m <= 0 {
		return total{}, 0, nil, fmt.Errorf("%w: record", errCorrupt)
	}
	if block = src[n+m:]; len(block) > 0 && block[0] == recordStamped {
		if len(block) < 1+8 {
			return total{}, 0, nil, fmt.Errorf("%w: stamp of a record", errCorrupt)
		}
		at, block = int64(binary.LittleEndian.Uint64(block[1:])), block[1+8:]
	}
	return before, at, block, nil
}
