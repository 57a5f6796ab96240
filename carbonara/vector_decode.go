package carbonara

// decodeVectorColumn fills out with the values of a vector column, which is all of src. f tells counts and sums where
// the kind needs them.
func (c *vectorCodec) decodeVectorColumn(out []float64, src []byte, f *family) bool {
	if len(src) < vectorHeadLen || src[0]&^vectorKnown != 0 || src[1] > maxExponent {
		return false
	}
	head, e := src[0], int(src[1])
	if head&vectorKindMask == vectorFronts {
		src, ok := c.decodeFronts(out, src[vectorHeadLen:])
		if !ok || head&vectorResiduals != 0 {
			return false
		}
		if head&vectorExceptions != 0 {
			return decodeExceptions(out, src)
		}
		return len(src) == 0
	}
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
		if e == 0 {
			for i, v := range ints {
				out[i] = float64(v + predictions[i])
			}
			break
		}
		for i, v := range ints {
			out[i] = float64(v+predictions[i]) / power
		}
	case vectorSecondMoment, vectorAgainstRange:
		if !f.known {
			return false
		}
		for i, x := range expected {
			ints[i] += x
		}
		f.decodeSecondMoments(out, ints, e)
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
			out[i] = unrank(rank(out[i]) + k)
		}
	}
	if head&vectorExceptions != 0 {
		return decodeExceptions(out, src)
	}
	return len(src) == 0
}

// decodeSecondMoments fills out with what the integers of second moments stand for.
func (f *family) decodeSecondMoments(out []float64, ints []int64, e int) {
	counts, sums := f.counts[:len(out)], f.sums[:len(out)]
	power, square := powersOf10[e], squarePowersOf10[e]
	ints = ints[:len(out)]
	divisor := newMomentDivisor()
	for i := range out {
		count := counts[i]
		if s := sums[i] * power; count == divisor.count && s < maxDecimal && s > -maxDecimal { // as many measures as in the group before
			r := divisor.remainder(s)
			out[i] = float64(divisor.m*ints[i]+r) / (count * square)
			continue
		}
		n, r, _ := divisor.base(count, sums[i], power)
		out[i] = secondMoment(n, r, ints[i], square)
	}
}
