package inspect

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
)

// The kinds of a metric's keys; see docs/format/archive.md.
const (
	metricPrefix = 0x01
	kindRaw      = 0x00
	kindSplit    = 0x01
	kindDropped  = 0x02

	kindOffset  = 1 + len(uuid.UUID{})
	splitKeyLen = kindOffset + 1 + 8 + 8
)

// parseKey returns what a key of a sack's store belongs to; ok is false for keys of no metric. split is set for splits.
func parseKey(key []byte) (metric uuid.UUID, kind byte, split carbonara.SplitKey, ok bool) {
	if len(key) <= kindOffset || key[0] != metricPrefix {
		return metric, 0, split, false
	}
	copy(metric[:], key[1:])
	kind = key[kindOffset]
	if kind == kindSplit {
		if len(key) != splitKeyLen {
			return metric, kind, split, false
		}
		split.Granularity = time.Duration(binary.BigEndian.Uint64(key[kindOffset+1:]))
		split.Start = carbonara.Timestamp(binary.BigEndian.Uint64(key[kindOffset+9:]))
	}
	return metric, kind, split, true
}

// metricBounds returns the key range of a metric.
func metricBounds(metric uuid.UUID) (lower, upper []byte) {
	lower = append([]byte{metricPrefix}, metric[:]...)
	return lower, append(append([]byte(nil), lower...), 0xff)
}

// operands returns the operands of a value, oldest first. What follows an operand that is cut off is left out.
func operands(value []byte) (all [][]byte) {
	if len(value) == 0 || value[0] != 0 {
		return [][]byte{value}
	}
	for value = value[1:]; len(value) > 0; {
		n, size := binary.Uvarint(value)
		if size <= 0 || n > uint64(len(value)-size) {
			return append(all, value)
		}
		all = append(all, value[size:size+int(n)])
		value = value[size+int(n):]
	}
	return all
}
