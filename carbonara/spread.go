package carbonara

import (
	"math"
	"math/bits"
)

// setRange makes the minima and maxima of the family's groups known; they are kept, not copied.
func (f *family) setRange(lows, highs []float64) {
	f.hasRange, f.lows, f.highs, f.expectedAt = true, lows, highs, -1
}

// spread returns what the second moments of the groups may be, given counts, sums, minima and maxima: that of a group
// whose mean lies a above its minimum and b below its maximum is a² + b² at least (these two measures' own) and n*a*b at
// most (all measures are one or the other). In units of half 10^-2e, which second moments are told in: expected lies a
// quarter of the way between, and the scale is the bits of the way. Both are 0 where float64 does not hold them.
func (f *family) spread(e int) (expected []int64, scales []uint8) {
	expected, scales = f.expected[:len(f.counts)], f.scales[:len(f.counts)]
	if f.expectedAt == e {
		return expected, scales
	}
	f.expectedAt = e
	power := powersOf10[e]
	lows, highs := f.lows[:len(expected)], f.highs[:len(expected)]
	for i, mean := range f.means[:len(expected)] {
		// The conversions forbid fusing: the same bits on every machine.
		center := float64(mean * power)
		a, b := center-float64(lows[i]*power), float64(highs[i]*power)-center
		least := (float64(a*a) + float64(b*b)) / 2
		way := max(float64(float64(f.counts[i]*a)*b)/2-least, 0)
		if !(least+way < maxDecimal) {
			least, way = 0, 0
		}
		expected[i] = int64(math.RoundToEven(least + way/4))
		scales[i] = uint8(bits.Len64(uint64(way)))
	}
	return expected, scales
}
