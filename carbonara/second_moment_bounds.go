package carbonara

import "github.com/gnocco-db/gnocco/internal/decimal"

// setRange makes the minima and maxima of the family's groups known; they are kept, not copied.
func (f *family) setRange(lows, highs []float64) {
	f.hasRange, f.lows, f.highs, f.expectedAt = true, lows, highs, -1
}

// secondMomentBounds returns what the second moments of the groups may be, given counts, sums, minima and maxima: that
// of a group whose mean lies a above its minimum and b below its maximum is a² + b² at least (these two measures' own)
// and n*a*b at most (all measures are one or the other). In units of half 10^-2e, those of second moments: expected
// lies a quarter of the way between, and the scale is the bits of the way. Both are 0 where float64 does not hold them.
func (f *family) secondMomentBounds(e int) (expected []int64, scales []uint8) {
	expected, scales = f.expected[:len(f.counts)], f.scales[:len(f.counts)]
	if f.expectedAt == e {
		return expected, scales
	}
	f.expectedAt = e
	momentBounds(expected, scales, f.means[:len(expected)], f.counts, f.lows, f.highs, decimal.FloatPowers[e])
	return expected, scales
}
