package incoming

import (
	"encoding/binary"
	"fmt"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/internal/keyhash"
)

// A Record is one request's measures for one sack. Its block may be read, and kept, but not modified.
type Record struct {
	Sequence uint64
	Stamp    Stamp
	Block    []byte
	List     keyhash.Hash // of the metrics of the block; zero if they are few, or Drain read the record from the disk
	IDs      []byte       // of the block's metrics, if they were cut out of it: records of one list share them
}

// Whole returns the record's block with its ids. If they were cut out, the result is in scratch, which grows.
func (r *Record) Whole(scratch *[]byte) []byte {
	if r.IDs == nil {
		return r.Block
	}
	whole, err := appendWhole((*scratch)[:0], r.Block, r.IDs)
	if err != nil {
		return r.Block // does not decode
	}
	*scratch = whole
	return whole
}

// AppendMetrics appends the ids of the block's metrics to dst, none if it does not decode. It leaves the block's
// checksum to the reader of the measures.
func (r *Record) AppendMetrics(dst []uuid.UUID) []uuid.UUID {
	ids := r.IDs
	if ids == nil {
		ids, _ = blockMetrics(r.Block)
	}
	for ; len(ids) > 0; ids = ids[16:] {
		dst = append(dst, uuid.UUID(ids[:16]))
	}
	return dst
}

// total counts what a sack was sent, from some point on: differences of totals count what lies between two records.
type total struct{ measures, blocks uint64 }

func (t total) plus(measures int) total { return total{t.measures + uint64(measures), t.blocks + 1} }

// A record's value is the total before it, recordStamped and its stamp, perhaps recordListed and the number of a list,
// then the block, without its ids if these are a list's. A block begins with another byte.
const (
	recordStamped   = 0x80
	recordListed    = 0x81
	maxRecordPrefix = 2*binary.MaxVarintLen64 + 1 + 8 + 1 + 8
)

// storedRecord is the value of a record, in parts. The block shares its memory.
type storedRecord struct {
	before total
	at     int64  // stamp; 0 for none
	list   uint64 // that has the block's ids; 0: the block itself has them
	block  []byte
}

// putPrefix writes all but the block, and returns its length.
func (r *storedRecord) putPrefix(dst []byte) int {
	n := binary.PutUvarint(dst, r.before.measures)
	n += binary.PutUvarint(dst[n:], r.before.blocks)
	dst[n] = recordStamped
	binary.LittleEndian.PutUint64(dst[n+1:], uint64(r.at))
	n += 1 + 8
	if r.list != 0 {
		dst[n] = recordListed
		binary.LittleEndian.PutUint64(dst[n+1:], r.list)
		n += 1 + 8
	}
	return n
}

func decodeRecord(src []byte) (r storedRecord, err error) {
	var n, m int
	if r.before.measures, n = binary.Uvarint(src); n > 0 {
		r.before.blocks, m = binary.Uvarint(src[n:])
	}
	if n <= 0 || m <= 0 {
		return storedRecord{}, fmt.Errorf("%w: record", errCorrupt)
	}
	r.block = src[n+m:]
	stamped := len(r.block) > 0 && r.block[0] == recordStamped
	at, rest, ok := consumeMarked(r.block, recordStamped)
	if r.list, r.block, r.at = 0, rest, int64(at); stamped && ok {
		r.list, r.block, ok = consumeMarked(rest, recordListed)
	}
	if !stamped || !ok {
		return storedRecord{}, fmt.Errorf("%w: stamp or list of a record", errCorrupt)
	}
	return r, nil
}

// consumeMarked takes the number behind a mark off src; 0 if the mark is not there.
func consumeMarked(src []byte, mark byte) (n uint64, rest []byte, ok bool) {
	if len(src) == 0 || src[0] != mark {
		return 0, src, true
	}
	if len(src) < 1+8 {
		return 0, src, false
	}
	return binary.LittleEndian.Uint64(src[1:]), src[1+8:], true
}
