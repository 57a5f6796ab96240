package carbonara

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
	spreads(expected, scales, f.means[:len(expected)], f.counts, f.lows, f.highs, powersOf10[e])
	return expected, scales
}
