package carbonara

// decodeVectorColumn fills out with the values of a vector column, which is all of src. f tells counts and sums where
// the kind needs them.
func (c *vectorCodec) decodeVectorColumn(out []float64, src []byte, f *family) bool {
	if len(src) == 0 {
		return false
	}
	head := src[0]
	e := int(head >> 4)
	if e > maxExponent {
		return false
	}
	ints := c.ints[:len(out)]
	src, ok := c.reader.decodeStream(ints, src[1:])
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
	case vectorFloats:
		for i, v := range ints {
			out[i] = unrank(v)
		}
	}
	if head&vectorResiduals != 0 {
		if src, ok = c.reader.decodeStream(ints, src); !ok {
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
