package incoming

import (
	"encoding/binary"
	"fmt"
)

// A Record is one request's measures for one sack. Its block may be read, and kept, but not modified.
type Record struct {
	Sequence uint64
	Block    []byte
}

// total counts what a sack was sent, from some point on: differences of totals count what lies between two records.
type total struct{ measures, blocks uint64 }

func (t total) plus(measures int) total { return total{t.measures + uint64(measures), t.blocks + 1} }

// A record's value is the total before it, then the block.
const maxRecordPrefix = 2 * binary.MaxVarintLen64

func putRecordPrefix(dst []byte, before total) int {
	n := binary.PutUvarint(dst, before.measures)
	return n + binary.PutUvarint(dst[n:], before.blocks)
}

func decodeRecord(src []byte) (before total, block []byte, err error) {
	var n, m int
	if before.measures, n = binary.Uvarint(src); n > 0 {
		before.blocks, m = binary.Uvarint(src[n:])
	}
	if n <= 0 || m <= 0 {
		return total{}, nil, fmt.Errorf("%w: record", ErrCorrupt)
	}
	return before, src[n+m:], nil
}
