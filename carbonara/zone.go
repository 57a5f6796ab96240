package carbonara

import (
	"encoding/binary"
	"fmt"
	"math"
)

// zoneLen is the size of a zone in a vector column: two int16, little endian, the high 16 bits of the ranks of its
// lowest and its highest value, NaN aside. Without any value the first is greater than the second. 16 bits tell a bound
// to a sixteenth of its value, which is what skipping needs, and take 4 bytes of a vector.
const zoneLen = 4

// A Zone bounds the values of one column for some groups. NaN lies outside of any. It may be wider than the values.
type Zone struct{ Low, High float64 }

// emptyZone holds no value.
var emptyZone = Zone{math.Inf(1), math.Inf(-1)}

// everything is the zone of values that nothing is known of.
var everything = Zone{math.Inf(-1), math.Inf(1)}

// Empty tells that no group has a value, or all are NaN.
func (z Zone) Empty() bool { return z.Low > z.High }

// Meets reports whether a value may lie in both.
func (z Zone) Meets(y Zone) bool {
	return !z.Empty() && !y.Empty() && z.Low <= y.High && y.Low <= z.High
}

// ZoneOf returns the narrowest zone that bisection finds around all values for which a condition may hold. May is told
// zones, and answers false only if it holds for no value in one.
func ZoneOf(may func(Zone) bool) Zone {
	z := everything
	if !may(z) {
		return emptyZone
	}
	lowest, highest := orderedBits(z.Low), orderedBits(z.High)
	z.Low = fromOrderedBits(leastRank(lowest, highest, func(r int64) bool {
		return may(Zone{math.Inf(-1), fromOrderedBits(r)})
	}))
	z.High = fromOrderedBits(-leastRank(-highest, -lowest, func(r int64) bool {
		return may(Zone{fromOrderedBits(-r), math.Inf(1)})
	}))
	return z
}

// leastRank returns a rank in low to high for which ok holds, and does not for the one before, if there is one. It
// holds for high.
func leastRank(low, high int64, ok func(rank int64) bool) int64 {
	for low < high {
		middle := low + int64(uint64(high-low)/2)
		if ok(middle) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return low
}

// appendZone appends the zone of values.
func appendZone(dst []byte, values []float64) []byte {
	low, high := int16(1), int16(0)
	if lowest, highest := orderedRange(values); lowest <= highest {
		low, high = int16(lowest>>48), int16(highest>>48)
	}
	dst = binary.LittleEndian.AppendUint16(dst, uint16(low))
	return binary.LittleEndian.AppendUint16(dst, uint16(high))
}

// decodeZone reads the zone at the start of src.
func decodeZone(src []byte) Zone {
	low, high := int16(binary.LittleEndian.Uint16(src)), int16(binary.LittleEndian.Uint16(src[2:]))
	if low > high {
		return emptyZone
	}
	z := Zone{fromOrderedBits(int64(low) << 48), fromOrderedBits(int64(high)<<48 | (1<<48 - 1))}
	if z.Low != z.Low { // an infinity's own top bits
		z.Low = math.Inf(-1)
	}
	if z.High != z.High {
		z.High = math.Inf(1)
	}
	return z
}

// ValueFilter matches groups whose aggregate of Method is a number in Zone.
type ValueFilter struct {
	Method Method
	Zone   Zone
}

// DecodeMatching decodes a split as [DecodeSplit] does, but skips vectors whose zone excludes every match. It may
// append groups that do not match; it never misses a match. It keeps every vector that begins before later: groups of
// an operand replace older ones there, matching or not.
func (q *ValueFilter) DecodeMatching(src []byte, key SplitKey, want []Column, from, to, later Timestamp,
	dst *Groups) error {
	s := getScratch()
	defer s.release()
	rows := dst.Len()
	lo, hi, err := s.openSplit(src, key, want, from, to, dst)
	for err == nil && lo < hi {
		vector := lo / s.groupsPerZone()
		end := min((vector+1)*s.groupsPerZone(), hi)
		zone := everything
		if key.at(s.positions[lo]) >= later {
			zone, err = s.methodZone(q.Method, vector)
		}
		if err == nil && zone.Meets(q.Zone) {
			if err = s.decodeRows(key, lo, end, dst); err == nil {
				err = s.decodeMeans(key, lo, end, dst)
			}
		}
		lo = end
	}
	if err != nil {
		dst.truncate(rows)
		return fmt.Errorf("split %v: %w", key, err)
	}
	return nil
}
