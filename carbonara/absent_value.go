package carbonara

import "math"

// absentBits is a NaN that stands for "not known": of a column that was not yet computed when the measures of a group
// were there. No arithmetic makes it, splits keep it bit for bit, and a stored column that a split lacks reads as it.
// Methods that are answered from it are absent of that group, other than from a NaN, which is a value.
const absentBits = 0x7ff8_6162_7365_6e74

// absent is the value of a column that a group lacks.
var absent = math.Float64frombits(absentBits)

// isAbsent reports whether a stored value stands for none.
func isAbsent(v float64) bool { return v != v && math.Float64bits(v) == absentBits }

// Absent returns the value of a column that is not known of a group. It is a NaN, but not every NaN is it: see
// IsAbsent.
func Absent() float64 { return absent }

// IsAbsent reports whether a column's value says that it is not known.
func IsAbsent(v float64) bool { return isAbsent(v) }

// absences returns the moments that are not known of a group, as bits; without its count nothing is.
func (m *moments) absences() (bits uint8) {
	sum := m.sum.High
	if sum == sum && m.min == m.min && m.max == m.max && m.m2 == m.m2 && m.first == m.first && m.last == m.last {
		return 0
	}
	for c, v := range [numMoments]float64{m.count, sum, m.min, m.max, m.m2, m.first, m.last} {
		if isAbsent(v) {
			bits |= 1 << c
		}
	}
	return bits
}
