package archive

import (
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
)

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
	return metricKey(nil, metric, 0), metricEnd(nil, metric)
}

// Operands returns the operands that a value stands for, oldest first. They share its memory.
func Operands(value []byte) [][]byte { return appendOperands(nil, value) }
