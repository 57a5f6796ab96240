package activity

import (
	"encoding/binary"
	"slices"
	"sync/atomic"

	"github.com/google/uuid"
)

// A Bloom filter has readBits bits, and a metric sets readHashes of them. With a million metrics read, 2.4 % of the
// others are taken for read; no metric that was read is ever taken for unread.
const (
	readBits   = 1 << 23
	readHashes = 4
)

// reads are the metrics that were read.
type reads [readBits / 64]atomic.Uint64

// places returns the bits of a metric.
func places(metric uuid.UUID) (bits [readHashes]uint32) {
	// A UUID is random, but for 6 bits: the products spread these.
	first := binary.LittleEndian.Uint64(metric[:]) * 0x9E3779B97F4A7C15
	second := binary.LittleEndian.Uint64(metric[8:])*0xC2B2AE3D27D4EB4F | 1
	for i := range bits {
		bits[i] = uint32((first + uint64(i)*second) >> 41)
	}
	return bits
}

func (r *reads) add(metric uuid.UUID) {
	for _, bit := range places(metric) {
		word, mask := &r[bit/64], uint64(1)<<(bit%64)
		if word.Load()&mask == 0 {
			word.Or(mask)
		}
	}
}

func (r *reads) copy() Reads {
	words := make(Reads, 0, readBits/8)
	for i := range r {
		words = binary.LittleEndian.AppendUint64(words, r[i].Load())
	}
	return words
}

// Reads are the metrics that were read, as bits.
type Reads []byte

// Has reports whether a metric may have been read. false is certain.
func (r Reads) Has(metric uuid.UUID) bool {
	bits := places(metric)
	return !slices.ContainsFunc(bits[:], func(b uint32) bool { return int(b/8) >= len(r) || r[b/8]&(1<<(b%8)) == 0 })
}

func (r *Reads) merge(other Reads) {
	if len(*r) < len(other) {
		*r, other = other, *r
	}
	for i := range other {
		(*r)[i] |= other[i]
	}
}
