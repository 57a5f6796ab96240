package carbonara

import (
	"math"

	"golang.org/x/sys/cpu"
)

// hasLanes tells that passes go eight numbers at a time: AVX-512, as all servers' processors of the last years have. It is a
// variable for the tests, which hold both forms to the same bits.
var hasLanes = cpu.X86.HasAVX512F && cpu.X86.HasAVX512CD && cpu.X86.HasAVX512BW && cpu.X86.HasAVX512DQ &&
	cpu.X86.HasAVX512VL && cpu.X86.HasBMI2 && cpu.X86.HasPOPCNT

const highest, lowest = math.MaxInt64, math.MinInt64

// noLows and noHighs are the ranks that rankRange starts from.
var (
	noLows  = [8]int64{highest, highest, highest, highest, highest, highest, highest, highest}
	noHighs = [8]int64{lowest, lowest, lowest, lowest, lowest, lowest, lowest, lowest}
)

func lowestHighest(lows, highs *[8]int64) (low, high int64) {
	low, high = lows[0], highs[0]
	for i := range lows {
		low, high = min(low, lows[i]), max(high, highs[i])
	}
	return low, high
}

func lowHigh(ints []int64) (low, high int64) {
	if hasLanes && len(ints) > 0 {
		var lows, highs [8]int64
		lowHighLanes(&lows, &highs, &ints[0], len(ints))
		return lowestHighest(&lows, &highs)
	}
	return lowHighPlain(ints)
}

func rankRange(values []float64) (low, high int64) {
	if hasLanes && len(values) > 0 {
		lows, highs := noLows, noHighs
		zoneLanes(&lows, &highs, &values[0], len(values))
		return lowestHighest(&lows, &highs)
	}
	return rankRangePlain(values)
}

func subtract(dst []uint64, ints []int64, base int64) (all uint64) {
	if hasLanes && len(ints) > 0 {
		return subtractLanes(&dst[:len(ints)][0], &ints[0], len(ints), base)
	}
	return subtractPlain(dst, ints, base)
}

func zigzags(dst []uint64, ints []int64, base int64, shift int) {
	if hasLanes && len(ints) > 0 {
		zigzagLanes(&dst[:len(ints)][0], &ints[0], len(ints), base, shift&63)
		return
	}
	zigzagsPlain(dst, ints, base, shift)
}

func steps(dst, ints []int64) {
	if hasLanes && len(ints) > 1 {
		differenceLanes(&dst[:len(ints)-1][0], &ints[1], &ints[0], len(ints)-1)
		return
	}
	stepsPlain(dst, ints)
}

func add(ints, others []int64) {
	if hasLanes && len(others) > 0 {
		addLanes(&ints[:len(others)][0], &others[0], len(others))
		return
	}
	addPlain(ints, others)
}

func less(ints, others []int64) {
	if hasLanes && len(others) > 0 {
		n := len(others)
		differenceLanes(&ints[:n][0], &ints[0], &others[0], n)
		return
	}
	lessPlain(ints, others)
}

func longer(above *[64]uint8, numbers []uint64) (widest int) {
	if hasLanes && len(numbers) > 0 {
		var lengths [miniValues]uint8
		return lengthLanes(&lengths, above, &numbers[0], min(len(numbers), miniValues))
	}
	return longerPlain(above, numbers)
}

func decimals(ints, residuals []int64, bad []uint8, values []float64, power float64) (all int64) {
	if hasLanes && len(values) > 0 {
		n := len(values)
		return decimalLanes(&ints[:n][0], &residuals[:n][0], &bad[:(n+7)/8][0], &values[0], n, power)
	}
	return decimalsPlain(ints, residuals, bad, values, power)
}

func momentInts(ints, residuals []int64, bad []uint8, values, counts, sums []float64, power, square float64) (all int64) {
	if hasLanes && len(values) > 0 {
		n := len(values)
		return momentLanes(&ints[:n][0], &residuals[:n][0], &bad[:(n+7)/8][0], &values[0], &counts[:n][0], &sums[:n][0], n, power, square)
	}
	return momentIntsPlain(ints, residuals, bad, values, counts, sums, power, square)
}

func momentFloats(out []float64, ints []int64, counts, sums []float64, power, square float64) {
	if hasLanes && len(out) > 0 {
		n := len(out)
		momentFloatLanes(&out[0], &ints[:n][0], &counts[:n][0], &sums[:n][0], n, power, square)
		return
	}
	momentFloatsPlain(out, ints, counts, sums, power, square)
}

func means(out, sums, counts []float64) {
	if hasLanes && len(counts) > 0 {
		n := len(counts)
		meanLanes(&out[:n][0], &sums[:n][0], &counts[0], n)
		return
	}
	meansPlain(out, sums, counts)
}

func predictions(out []int64, means []float64, power float64) {
	if hasLanes && len(means) > 0 {
		predictLanes(&out[:len(means)][0], &means[0], len(means), power)
		return
	}
	predictionsPlain(out, means, power)
}

func spreads(expected []int64, scales []uint8, means, counts, lows, highs []float64, power float64) {
	if hasLanes && len(means) > 0 {
		n := len(means)
		spreadLanes(&expected[:n][0], &scales[:n][0], &means[0], &counts[:n][0], &lows[:n][0], &highs[:n][0], n, power)
		return
	}
	spreadsPlain(expected, scales, means, counts, lows, highs, power)
}

func floats(out []float64, ints []int64, power float64) {
	if hasLanes && len(ints) > 0 {
		floatLanes(&out[:len(ints)][0], &ints[0], len(ints), power)
		return
	}
	floatsPlain(out, ints, power)
}

func predictedFloats(out []float64, ints, predictions []int64, power float64) {
	if hasLanes && len(ints) > 0 {
		n := len(ints)
		predictedFloatLanes(&out[:n][0], &ints[0], &predictions[:n][0], n, power)
		return
	}
	predictedFloatsPlain(out, ints, predictions, power)
}

func beside(out []float64, residuals []int64) {
	if hasLanes && len(residuals) > 0 {
		besideLanes(&out[:len(residuals)][0], &residuals[0], len(residuals))
		return
	}
	besidePlain(out, residuals)
}

// unpackEights fills dst with numbers of classes (see unpackClasses) as far as eight at once go, and returns how many and
// from how many bits; these are -1 if one is too wide. It reads, but does not use, what lies behind src up to its capacity.
func unpackEights(dst []int64, scales []uint8, codes []byte, codeBits int, widths *[maxClasses]int64, src []byte) (done, taken int) {
	n := len(dst)
	if eights := (n + 7) &^ 7; scales != nil && cap(scales) < eights || cap(codes) < eights/8*codeBits {
		n &^= 7
	}
	if src = src[:cap(src)]; !hasLanes || n == 0 || len(src) < 8 {
		return 0, 0
	}
	var codesAt, scalesAt *byte
	if codeBits > 0 {
		codesAt = &codes[:packedLen(n, codeBits)][0]
	}
	if scales != nil {
		scalesAt = &scales[:n][0]
	}
	done, taken = unpackLanes(&dst[0], n, codesAt, codeBits, widths, scalesAt, &src[0], len(src))
	return min(done, n), taken
}

func unclass(ints []int64, base int64, shift int, signed bool) {
	if hasLanes && len(ints) > 0 {
		sign := 0
		if signed {
			sign = 1
		}
		unclassLanes(&ints[0], len(ints), base, shift&63, sign)
		return
	}
	unclassPlain(ints, base, shift, signed)
}

func classify(pieces []uint64, sizes []uint8, codes []byte, codeBits int, numbers []uint64, scales []uint8,
	table *classTable) (together int) {
	if hasLanes && len(numbers) > 0 {
		n := len(numbers)
		eights := (n + 7) &^ 7
		together = table.together()
		var scalesAt *uint8
		if scales != nil {
			scalesAt = &scales[:n][0]
		}
		classLanes(&pieces[:eights][0], &sizes[:eights][0], &codes[:eights/8*codeBits+1][0], codeBits, &numbers[0], scalesAt, n,
			table, together)
		return together
	}
	return classifyPlain(pieces, sizes, codes, codeBits, numbers, scales, table)
}

func sortOrders(samples *orderSamples, costs *[4]int64, n int) {
	if network := networkOf(n); hasLanes && network != nil {
		sortLanes(samples, costs, n, &network[0], len(network))
		return
	}
	sortOrdersPlain(samples, costs, n)
}

//go:noescape
func lowHighLanes(low, high *[8]int64, ints *int64, n int)

//go:noescape
func zoneLanes(low, high *[8]int64, values *float64, n int)

//go:noescape
func subtractLanes(dst *uint64, ints *int64, n int, base int64) (all uint64)

//go:noescape
func zigzagLanes(dst *uint64, ints *int64, n int, base int64, shift int)

//go:noescape
func differenceLanes(dst, a, b *int64, n int)

//go:noescape
func addLanes(dst, ints *int64, n int)

//go:noescape
func lengthLanes(lengths *[miniValues]uint8, above *[64]uint8, numbers *uint64, n int) (widest int)

//go:noescape
func decimalLanes(ints, residuals *int64, bad *uint8, values *float64, n int, power float64) (any int64)

//go:noescape
func momentLanes(ints, residuals *int64, bad *uint8, values, counts, sums *float64, n int, power, square float64) (any int64)

//go:noescape
func momentFloatLanes(out *float64, ints *int64, counts, sums *float64, n int, power, square float64)

//go:noescape
func meanLanes(out, sums, counts *float64, n int)

//go:noescape
func predictLanes(out *int64, means *float64, n int, power float64)

//go:noescape
func spreadLanes(expected *int64, scales *uint8, means, counts, lows, highs *float64, n int, power float64)

//go:noescape
func floatLanes(out *float64, ints *int64, n int, power float64)

//go:noescape
func predictedFloatLanes(out *float64, ints, predictions *int64, n int, power float64)

//go:noescape
func besideLanes(out *float64, residuals *int64, n int)

//go:noescape
func unpackLanes(dst *int64, n int, codes *byte, codeBits int, widths *[maxClasses]int64, scales *uint8, src *byte,
	length int) (done, bits int)

//go:noescape
func unclassLanes(ints *int64, n int, base int64, shift, signed int)

//go:noescape
func classLanes(pieces *uint64, sizes *uint8, codes *byte, codeBits int, numbers *uint64, scales *uint8, n int,
	table *classTable, together int)

//go:noescape
func sortLanes(samples *orderSamples, costs *[4]int64, n int, pairs *[2]uint8, number int)
