package carbonara

import (
	"math"
	"math/bits"
)

// The loops over the values of a vector, in plain Go. simd_amd64.s has each of them eight values at a time (AVX-512),
// with the same bits; simd_amd64.go chooses.

// orderedRangeGeneric returns the lowest and the highest rank of values that are no NaN, low above high if there are
// none.
func orderedRangeGeneric(values []float64) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	for _, v := range values {
		if v == v {
			r := orderedBits(v)
			low, high = min(low, r), max(high, r)
		}
	}
	return low, high
}

// decimalsGeneric finds the integers over 10^e next to values, and how many float64 the values lie above them. It sets
// a bit in bad for a value that is off by more than maxResidual. It returns all bits set in any residual, including
// those of bad values.
func decimalsGeneric(ints, residuals []int64, bad []uint8, values []float64, power float64) (all int64) {
	clear(bad)
	ints, residuals = ints[:len(values)], residuals[:len(values)]
	for i, v := range values {
		whole, ok := nearest(v, power)
		k := int64(0)
		if ok {
			if back := decimalOf(whole, power); math.Float64bits(back) != math.Float64bits(v) {
				k = orderedBits(v) - orderedBits(back)
				all |= k
				ok = k <= maxResidual && k >= -maxResidual
			}
		}
		ints[i], residuals[i] = whole, k
		if !ok {
			bad[i>>3] |= 1 << (i & 7)
		}
	}
	return all
}

// momentIntsGeneric is decimalsGeneric for second moments, of groups with these counts and sums.
func momentIntsGeneric(ints, residuals []int64, bad []uint8, values, counts, sums []float64, power,
	square float64) (all int64) {
	clear(bad)
	ints, residuals, counts, sums = ints[:len(values)], residuals[:len(values)],
		counts[:len(values)], sums[:len(values)]
	divisor := newMomentDivisor()
	for i, v := range values {
		n, r, ok := divisor.n, int64(0), true
		// as many as in the group before
		if s := sums[i] * power; counts[i] == divisor.count && s < maxDecimal && s > -maxDecimal {
			r = divisor.remainder(s)
		} else {
			n, r, ok = divisor.base(counts[i], sums[i], power)
		}
		k := int64(0)
		if ok {
			x := float64(v * (counts[i] * square)) // not fused
			if ok = x < maxDecimal && x > -maxDecimal; ok {
				whole := int64(math.RoundToEven((x - float64(r)) * divisor.inverse))
				if back := secondMoment(n, r, whole, square); math.Float64bits(back) != math.Float64bits(v) {
					k = orderedBits(v) - orderedBits(back)
					all |= k
					ok = k <= maxResidual && k >= -maxResidual
				}
				ints[i] = whole
			}
		}
		residuals[i] = k
		if !ok {
			bad[i>>3] |= 1 << (i & 7)
		}
	}
	return all
}

// momentFloatsGeneric fills out with the second moments that the integers stand for.
func momentFloatsGeneric(out []float64, ints []int64, counts, sums []float64, power, square float64) {
	counts, sums, ints = counts[:len(out)], sums[:len(out)], ints[:len(out)]
	divisor := newMomentDivisor()
	for i := range out {
		count := counts[i]
		// as many measures as in the group before
		if s := sums[i] * power; count == divisor.count && s < maxDecimal && s > -maxDecimal {
			r := divisor.remainder(s)
			out[i] = float64(divisor.m*ints[i]+r) / (count * square)
			continue
		}
		n, r, _ := divisor.base(count, sums[i], power)
		out[i] = secondMoment(n, r, ints[i], square)
	}
}

func meansGeneric(out, sums, counts []float64) {
	out, sums = out[:len(counts)], sums[:len(counts)]
	for i, n := range counts {
		out[i] = sums[i] / n
	}
}

// predictionsGeneric fills out with the integers that columns of groups with these means are relative to.
func predictionsGeneric(out []int64, means []float64, power float64) {
	out = out[:len(means)]
	for i, mean := range means {
		out[i] = predicted(mean, power)
	}
}

// momentBoundsGeneric fills expected and scales; see secondMomentBounds.
func momentBoundsGeneric(expected []int64, scales []uint8, means, counts, lows, highs []float64, power float64) {
	expected, scales, counts = expected[:len(means)], scales[:len(means)], counts[:len(means)]
	lows, highs = lows[:len(means)], highs[:len(means)]
	for i, mean := range means {
		// The conversions forbid fusing: the same bits on every machine.
		center := float64(mean * power)
		a, b := center-float64(lows[i]*power), float64(highs[i]*power)-center
		least := float64((float64(a*a) + float64(b*b)) / 2)
		way := max(float64(float64(float64(counts[i]*a)*b)/2)-least, 0)
		if !(least+way < maxDecimal) {
			least, way = 0, 0
		}
		expected[i] = int64(math.RoundToEven(least + float64(way/4)))
		scales[i] = uint8(bits.Len64(uint64(way)))
	}
}

// floatsGeneric fills out with ints / 10^e.
func floatsGeneric(out []float64, ints []int64, power float64) {
	out = out[:len(ints)]
	if power == 1 {
		for i, v := range ints {
			out[i] = float64(v)
		}
		return
	}
	for i, v := range ints {
		out[i] = float64(v) / power
	}
}

// predictedFloatsGeneric fills out with (ints + predictions) / 10^e.
func predictedFloatsGeneric(out []float64, ints, predictions []int64, power float64) {
	out, predictions = out[:len(ints)], predictions[:len(ints)]
	if power == 1 {
		for i, v := range ints {
			out[i] = float64(v + predictions[i])
		}
		return
	}
	for i, v := range ints {
		out[i] = float64(v+predictions[i]) / power
	}
}

// addULPsGeneric moves each of out by so many float64.
func addULPsGeneric(out []float64, residuals []int64) {
	out = out[:len(residuals)]
	for i, k := range residuals {
		out[i] = fromOrderedBits(orderedBits(out[i]) + k)
	}
}
