package archive

import (
	"encoding/binary"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

// FormatVersion is that of the store as a whole; values have their own.
const FormatVersion = 1

const (
	prefixStore  = 0x00
	prefixMetric = 0x01

	kindMark           = 'm'
	kindTime           = 't'
	kindQuarantine     = 'q'
	kindAside          = 'x'
	kindKeepsUnsettled = 'u'
	kindChanges        = 'c'

	kindRaw     = 0x00
	kindSplit   = 0x01
	kindCount   = 0x02
	kindPartial = 0x03

	kindUnsettled = 0x04

	// countLate follows kindCount in the key of the second count that a metric may have. Programs from before there was
	// one merge and verify it as they do the first, whose key ends with kindCount.
	countLate = 0x01

	kindOffset   = 1 + len(uuid.UUID{})
	splitKeySize = kindOffset + 1 + 8 + 8
)

func markKey(source string) []byte {
	return append([]byte{prefixStore, kindMark}, source...)
}

var timeKey = []byte{prefixStore, kindTime}

var unsettledKey = []byte{prefixStore, kindKeepsUnsettled}

var ChangesKey = []byte{prefixStore, kindChanges} // of the notes of package metricd/changes

func quarantineKey(source string, sequence uint64) []byte {
	key := append([]byte{prefixStore, kindQuarantine}, source...)
	return binary.BigEndian.AppendUint64(append(key, 0), sequence)
}

func metricKey(dst []byte, metric uuid.UUID, kind byte) []byte {
	dst = append(dst[:0], prefixMetric)
	dst = append(dst, metric[:]...)
	return append(dst, kind)
}

func droppedKey(dst []byte, metric uuid.UUID) []byte { return metricKey(dst, metric, kindCount) }

func lateKey(dst []byte, metric uuid.UUID) []byte {
	return append(metricKey(dst, metric, kindCount), countLate)
}

func splitKey(dst []byte, metric uuid.UUID, granularity time.Duration, start carbonara.Timestamp) []byte {
	dst = metricKey(dst, metric, kindSplit)
	dst = binary.BigEndian.AppendUint64(dst, uint64(granularity))
	return binary.BigEndian.AppendUint64(dst, uint64(start))
}

// parseSplitKey is the inverse of splitKey; ok is false for any other key.
func parseSplitKey(key []byte) (metric uuid.UUID, split carbonara.SplitKey, ok bool) {
	if len(key) != splitKeySize || key[0] != prefixMetric || key[kindOffset] != kindSplit {
		return metric, split, false
	}
	copy(metric[:], key[1:])
	split.Granularity = time.Duration(binary.BigEndian.Uint64(key[kindOffset+1:]))
	split.Start = carbonara.Timestamp(binary.BigEndian.Uint64(key[kindOffset+9:]))
	return metric, split, split.Granularity > 0
}

// metricEnd is the first key after all of a metric's.
func metricEnd(metric uuid.UUID) []byte { return metricKey(nil, metric, 0xff) }

// Kind is the kind of an entry of a metric.
type Kind byte

// The kinds, in the order of their keys.
const (
	KindRaw       Kind = kindRaw
	KindSplit     Kind = kindSplit
	KindCount     Kind = kindCount
	KindPartial   Kind = kindPartial
	KindUnsettled Kind = kindUnsettled
)

// ParseKey returns what a key of a sack's store belongs to, for tools that walk a store; ok is false for keys of no
// metric. Split is set for splits only.
func ParseKey(key []byte) (metric uuid.UUID, kind Kind, split carbonara.SplitKey, ok bool) {
	if len(key) <= kindOffset || key[0] != prefixMetric {
		return metric, 0, split, false
	}
	if key[kindOffset] == kindSplit {
		metric, split, ok = parseSplitKey(key)
		return metric, KindSplit, split, ok
	}
	copy(metric[:], key[1:])
	return metric, Kind(key[kindOffset]), split, true
}

// IsLate tells the count of late measures from that of dropped ones; both are of KindCount.
func IsLate(key []byte) bool {
	return len(key) == kindOffset+2 && key[kindOffset] == kindCount && key[kindOffset+1] == countLate
}

// MetricBounds returns the range of a metric's keys.
func MetricBounds(metric uuid.UUID) (lower, upper []byte) {
	return metricKey(nil, metric, 0), metricEnd(metric)
}

// Operands returns the operands that a value stands for, oldest first. They share its memory.
func Operands(value []byte) [][]byte { return appendOperands(nil, value) }
