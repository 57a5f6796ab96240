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
	src, ok := decodeStream(ints, src[vectorHeadLen:], scales)
	if !ok {
		return false
	}
	power := powersOf10[e]
	switch head & vectorKindMask {
	case vectorIntegers:
		floats(out, ints, power)
	case vectorAgainstMean:
		if !f.known {
			return false
		}
		predictedFloats(out, ints, f.predict(e), power)
	case vectorSecondMoment, vectorAgainstRange:
		if !f.known {
			return false
		}
		add(ints, expected)
		momentFloats(out, ints, f.counts, f.sums, power, squarePowersOf10[e])
	case vectorFloats:
		for i, v := range ints {
			out[i] = unrank(v)
		}
	default:
		return false
	}
	if head&vectorResiduals != 0 {
		if src, ok = decodeStream(ints, src, nil); !ok {
			return false
		}
		beside(out, ints)
	}
	if head&vectorExceptions != 0 {
		return decodeExceptions(out, src)
	}
	return len(src) == 0
}
