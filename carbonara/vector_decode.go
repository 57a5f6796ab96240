package carbonara

import (
	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// decodeVectorColumn fills out with values of a vector column of so many groups, which is all of src, from one group
// on. f tells counts and sums of those in out where the kind needs them.
func (c *vectorCodec) decodeVectorColumn(out []float64, src []byte, f *family, groups, from int) bool {
	if len(src) < vectorHeadLen || src[0]&^vectorKnown != 0 || src[1] > maxExponent {
		return false
	}
	head, e := src[0], int(src[1])
	if head&vectorKindMask == vectorPrefixes {
		src, ok := c.decodePrefixes(out, src[vectorHeadLen:], groups, from)
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
	if head&vectorKindMask == vectorRelativeToRange {
		if !f.known || !f.hasRange || len(out) != groups {
			return false
		}
		expected, scales = f.secondMomentBounds(e)
	}
	ints := c.ints[:groups]
	src, ok := intcodec.Decode(ints, src[vectorHeadLen:], scales)
	if !ok {
		return false
	}
	power, wanted := decimal.FloatPowers[e], ints[from:from+len(out)]
	switch head & vectorKindMask {
	case vectorIntegers:
		floats(out, wanted, power)
	case vectorRelativeToMean:
		if !f.known {
			return false
		}
		predictedFloats(out, wanted, f.predict(e), power)
	case vectorSecondMoment, vectorRelativeToRange:
		if !f.known {
			return false
		}
		intcodec.Add(wanted, expected)
		momentFloats(out, wanted, f.counts, f.sums, power, squarePowersOf10[e])
	case vectorFloats:
		for i, v := range wanted {
			out[i] = fromOrderedBits(v)
		}
	default:
		return false
	}
	if head&vectorResiduals != 0 {
		if src, ok = intcodec.Decode(ints, src, nil); !ok {
			return false
		}
		addULPs(out, wanted)
	}
	if head&vectorExceptions != 0 {
		return decodeExceptions(out, src, groups, from)
	}
	return len(src) == 0
}
