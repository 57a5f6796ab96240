package carbonara

import "github.com/gnocco-db/gnocco/internal/decimal"

// setRange makes the minima and maxima of the family's groups known; they are kept, not copied.
func (f *family) setRange(lows, highs []float64) {
	f.hasRange, f.lows, f.highs, f.expectedAt = true, lows, highs, -1
}

// secondMomentBounds bounds the second moments of the groups, given counts, sums, minima and maxima. If a group's mean
// lies a above its minimum and b below its maximum, its second moment is at least a² + b² (these two measures' own) and
// at most n*a*b (all measures are one or the other). In units of half 10^-2e, those of second moments: expected lies a
// quarter of the way between, and the scale is the bits of the way. Both are 0 where float64 does not hold them.
func (f *family) secondMomentBounds(e int) (expected []int64, scales []uint8) {
	expected, scales = f.expected[:len(f.counts)], f.scales[:len(f.counts)]
	if f.expectedAt == e {
		return expected, scales
	}
	f.expectedAt = e
	momentBounds(expected, scales, f.means[:len(expected)], f.counts, f.lows, f.highs, decimal.FloatPowers[e])
	return expected, scales
}
