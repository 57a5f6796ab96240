package carbonara

// decodeVectorColumn fills out with values of a vector column of so many groups, which is all of src, from one group on. f
// tells counts and sums of those in out where the kind needs them.
func (c *vectorCodec) decodeVectorColumn(out []float64, src []byte, f *family, groups, from int) bool {
	if len(src) < vectorHeadLen || src[0]&^vectorKnown != 0 || src[1] > maxExponent {
		return false
	}
	head, e := src[0], int(src[1])
	if head&vectorKindMask == vectorFronts {
		src, ok := c.decodeFronts(out, src[vectorHeadLen:], groups, from)
		if !ok || head&vectorResiduals != 0 {
			return false
		}
		if head&vectorExceptions != 0 {
			return decodeExceptions(out, src, groups, from)
		}
		return len(src) == 0
	}
	var expected []int64
	var scales []uint8
	if head&vectorKindMask == vectorAgainstRange {
		if !f.known || !f.hasRange || len(out) != groups {
			return false
		}
		expected, scales = f.spread(e)
	}
	ints := c.ints[:groups]
	src, ok := decodeStream(ints, src[vectorHeadLen:], scales)
	if !ok {
		return false
	}
	power, wanted := powersOf10[e], ints[from:from+len(out)]
	switch head & vectorKindMask {
	case vectorIntegers:
		floats(out, wanted, power)
	case vectorAgainstMean:
		if !f.known {
			return false
		}
		predictedFloats(out, wanted, f.predict(e), power)
	case vectorSecondMoment, vectorAgainstRange:
		if !f.known {
			return false
		}
		add(wanted, expected)
		momentFloats(out, wanted, f.counts, f.sums, power, squarePowersOf10[e])
	case vectorFloats:
		for i, v := range wanted {
			out[i] = unrank(v)
		}
	default:
		return false
	}
	if head&vectorResiduals != 0 {
		if src, ok = decodeStream(ints, src, nil); !ok {
			return false
		}
		beside(out, wanted)
	}
	if head&vectorExceptions != 0 {
		return decodeExceptions(out, src, groups, from)
	}
	return len(src) == 0
}
