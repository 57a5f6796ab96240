package carbonara

import (
	"math"
	"math/bits"
)

// Passes are what is done with each number of a vector, one like the other. Here are their plain forms; passes_amd64.s has the
// same ones eight numbers at a time, which answer the same bits, and passes_amd64.go chooses.

func lowHighPlain(ints []int64) (low, high int64) {
	low, high = ints[0], ints[0]
	for _, v := range ints {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// rankRangePlain returns the lowest and the highest rank of values that are no NaN, low above high if there are none.
func rankRangePlain(values []float64) (low, high int64) {
	low, high = math.MaxInt64, math.MinInt64
	for _, v := range values {
		if v == v {
			r := rank(v)
			low, high = min(low, r), max(high, r)
		}
	}
	return low, high
}

// subtractPlain fills dst with ints less base, and returns all bits that are set in any.
func subtractPlain(dst []uint64, ints []int64, base int64) (all uint64) {
	dst = dst[:len(ints)]
	for i, v := range ints {
		u := uint64(v - base)
		dst[i] = u
		all |= u
	}
	return all
}

// zigzagsPlain fills dst with the zigzag of ints less base, shifted.
func zigzagsPlain(dst []uint64, ints []int64, base int64, shift int) {
	dst = dst[:len(ints)]
	for i, v := range ints {
		dst[i] = zigzag((v - base) >> (shift & 63))
	}
}

// stepsPlain fills dst with what each element of ints, from the second on, is more than the one before.
func stepsPlain(dst, ints []int64) {
	dst = dst[:len(ints)-1]
	for i := range dst {
		dst[i] = ints[i+1] - ints[i]
	}
}

// addPlain adds others to ints.
func addPlain(ints, others []int64) {
	ints = ints[:len(others)]
	for i, v := range others {
		ints[i] += v
	}
}

// lessPlain subtracts others from ints.
func lessPlain(ints, others []int64) {
	ints = ints[:len(others)]
	for i, v := range others {
		ints[i] -= v
	}
}

// longerPlain counts how many of numbers, at most miniValues, have more than w bits, from the widest down until these are more
// than a quarter of all.
func longerPlain(above *[64]uint8, numbers []uint64) (widest int) {
	// Neighbours are counted apart: numbers of one length in a row would wait for each other's count.
	var lengths [4][65]uint8
	all := uint64(0)
	whole := len(numbers) &^ 3
	for i := 0; i < whole; i += 4 {
		four := (*[4]uint64)(numbers[i:])
		lengths[0][bits.Len64(four[0])]++
		lengths[1][bits.Len64(four[1])]++
		lengths[2][bits.Len64(four[2])]++
		lengths[3][bits.Len64(four[3])]++
		all |= four[0] | four[1] | four[2] | four[3]
	}
	for _, v := range numbers[whole:] {
		lengths[0][bits.Len64(v)]++
		all |= v
	}
	widest = bits.Len64(all)
	count := uint8(0)
	for w := widest - 1; w >= 0 && int(count) <= len(numbers)/4; w-- {
		count += lengths[0][w+1] + lengths[1][w+1] + lengths[2][w+1] + lengths[3][w+1]
		above[w] = count
	}
	return widest
}

// decimalsPlain finds the integers over 10^e next to values, and how many float64 the values lie above them. Of values that are no
// such decimals, by more than maxResidual, a bit is set in bad. It returns all bits set in any residual, those of bad ones too.
func decimalsPlain(ints, residuals []int64, bad []uint8, values []float64, power float64) (all int64) {
	clear(bad)
	ints, residuals = ints[:len(values)], residuals[:len(values)]
	for i, v := range values {
		whole, ok := nearest(v, power)
		k := int64(0)
		if ok {
			if back := decimalOf(whole, power); math.Float64bits(back) != math.Float64bits(v) {
				k = rank(v) - rank(back)
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

// momentIntsPlain is decimalsPlain for second moments, of groups with these counts and sums.
func momentIntsPlain(ints, residuals []int64, bad []uint8, values, counts, sums []float64, power, square float64) (all int64) {
	clear(bad)
	ints, residuals, counts, sums = ints[:len(values)], residuals[:len(values)], counts[:len(values)], sums[:len(values)]
	divisor := newMomentDivisor()
	for i, v := range values {
		n, r, ok := divisor.n, int64(0), true
		if s := sums[i] * power; counts[i] == divisor.count && s < maxDecimal && s > -maxDecimal { // as many as in the group before
			r = divisor.remainder(s)
		} else {
			n, r, ok = divisor.base(counts[i], sums[i], power)
		}
		k := int64(0)
		if ok {
			x := v * (counts[i] * square)
			if ok = x < maxDecimal && x > -maxDecimal; ok {
				whole := int64(math.RoundToEven((x - float64(r)) * divisor.inverse))
				if back := secondMoment(n, r, whole, square); math.Float64bits(back) != math.Float64bits(v) {
					k = rank(v) - rank(back)
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

// momentFloatsPlain fills out with what the integers of second moments stand for.
func momentFloatsPlain(out []float64, ints []int64, counts, sums []float64, power, square float64) {
	counts, sums, ints = counts[:len(out)], sums[:len(out)], ints[:len(out)]
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

func meansPlain(out, sums, counts []float64) {
	out, sums = out[:len(counts)], sums[:len(counts)]
	for i, n := range counts {
		out[i] = sums[i] / n
	}
}

// predictionsPlain fills out with the integers that columns of groups with these means are told against.
func predictionsPlain(out []int64, means []float64, power float64) {
	out = out[:len(means)]
	for i, mean := range means {
		out[i] = predicted(mean, power)
	}
}

// spreadsPlain fills expected and scales; see spread.
func spreadsPlain(expected []int64, scales []uint8, means, counts, lows, highs []float64, power float64) {
	expected, scales, counts = expected[:len(means)], scales[:len(means)], counts[:len(means)]
	lows, highs = lows[:len(means)], highs[:len(means)]
	for i, mean := range means {
		// The conversions forbid fusing: the same bits on every machine.
		center := float64(mean * power)
		a, b := center-float64(lows[i]*power), float64(highs[i]*power)-center
		least := (float64(a*a) + float64(b*b)) / 2
		way := max(float64(float64(counts[i]*a)*b)/2-least, 0)
		if !(least+way < maxDecimal) {
			least, way = 0, 0
		}
		expected[i] = int64(math.RoundToEven(least + way/4))
		scales[i] = uint8(bits.Len64(uint64(way)))
	}
}

// floatsPlain fills out with ints / 10^e.
func floatsPlain(out []float64, ints []int64, power float64) {
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

// predictedFloatsPlain fills out with (ints + predictions) / 10^e.
func predictedFloatsPlain(out []float64, ints, predictions []int64, power float64) {
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

// besidePlain moves each of out by so many float64.
func besidePlain(out []float64, residuals []int64) {
	out = out[:len(residuals)]
	for i, k := range residuals {
		out[i] = unrank(rank(out[i]) + k)
	}
}

// unclassPlain makes integers of the numbers of classes.
func unclassPlain(ints []int64, base int64, shift int, signed bool) {
	if signed {
		for i, v := range ints {
			ints[i] = base + unzigzag(uint64(v))<<(shift&63)
		}
		return
	}
	for i, v := range ints {
		ints[i] = base + v<<(shift&63)
	}
}

// classTable is what classify looks up: a number that needs more bits than so many thresholds has that class. Both are relative to
// scales where there are any.
type classTable struct {
	thresholds [maxClasses - 1]int64
	widths     [maxClasses]int64
	widest     int // with the largest scale
}

// together returns how many neighbours of the widest class fit a word of 57 bits, of 1, 2 or 4.
func (t *classTable) together() int {
	switch {
	case t.widest <= 14:
		return 4
	case t.widest <= 28:
		return 2
	}
	return 1
}

// classifyPlain puts the codes of numbers, packed, into codes, and numbers with their sizes in bits into pieces and sizes: of so
// many neighbours each, which stand where the first of these stood. All of them have room for eight numbers more.
func classifyPlain(pieces []uint64, sizes []uint8, codes []byte, codeBits int, numbers []uint64, scales []uint8,
	table *classTable) (together int) {
	var codeOf [2*needOffset + 1]uint8
	for need := range codeOf {
		for _, threshold := range table.thresholds {
			if int64(need-needOffset) > threshold {
				codeOf[need]++
			}
		}
	}
	pieces, sizes = pieces[:len(numbers)], sizes[:len(numbers)]
	for from := 0; from < len(numbers); from += 8 {
		of := uint(0) // eight numbers: whole bytes
		for i, v := range numbers[from:min(from+8, len(numbers))] {
			scale, need := 0, bits.Len64(v)+needOffset
			if scales != nil {
				scale = int(scales[from+i])
				if need -= scale; v == 0 {
					need = 0
				}
			}
			code := codeOf[need] % maxClasses
			of |= uint(code) << (i * codeBits & 15)
			pieces[from+i], sizes[from+i] = v, uint8(max(int(table.widths[code])+scale, 0))
		}
		for range codeBits {
			codes[0], codes = byte(of), codes[1:]
			of >>= 8
		}
	}
	return 1
}
