package carbonara

// decodeVectorColumn fills out with the values of a vector column, which is all of src. f tells counts and sums where
// the kind needs them.
func (c *vectorCodec) decodeVectorColumn(out []float64, src []byte, f *family) bool {
	if len(src) < vectorHeadLen || src[0]&^vectorKnown != 0 || src[1] > maxExponent {
		return false
	}
	head, e := src[0], int(src[1])
	var expected []int64
	var scales []uint8
	if head&vectorKindMask == vectorAgainstRange {
		if !f.known || !f.hasRange {
			return false
		}
		expected, scales = f.spread(e)
	}
	ints := c.ints[:len(out)]
	src, ok := c.reader.decodeStream(ints, src[vectorHeadLen:], scales)
	if !ok {
		return false
	}
	power := powersOf10[e]
	switch head & vectorKindMask {
	case vectorIntegers:
		if e == 0 {
			for i, v := range ints {
				out[i] = float64(v)
			}
			break
		}
		for i, v := range ints {
			out[i] = float64(v) / power
		}
	case vectorAgainstMean:
		if !f.known {
			return false
		}
		predictions := f.predict(e)[:len(out)]
		for i, v := range ints {
			out[i] = float64(v+predictions[i]) / power
		}
	case vectorSecondMoment:
		if !f.known {
			return false
		}
		counts, sums, square := f.counts[:len(out)], f.sums[:len(out)], squarePowersOf10[e]
		var divisor momentDivisor
		for i, v := range ints {
			n, r, _ := divisor.base(counts[i], sums[i], power)
			out[i] = secondMoment(n, r, v, square)
		}
	case vectorAgainstRange:
		counts, sums, square := f.counts[:len(out)], f.sums[:len(out)], squarePowersOf10[e]
		var divisor momentDivisor
		for i, v := range ints {
			n, r, _ := divisor.base(counts[i], sums[i], power)
			out[i] = secondMoment(n, r, v+expected[i], square)
		}
	case vectorFloats:
		for i, v := range ints {
			out[i] = unrank(v)
		}
	default:
		return false
	}
	if head&vectorResiduals != 0 {
		if src, ok = c.reader.decodeStream(ints, src, nil); !ok {
			return false
		}
		for i, k := range ints {
			if k != 0 {
				out[i] = unrank(rank(out[i]) + k)
			}
		}
	}
	if head&vectorExceptions != 0 {
		return decodeExceptions(out, src)
	}
	return len(src) == 0
}
