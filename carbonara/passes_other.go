//go:build !amd64

package carbonara

// The passes of passes.go; only amd64 has others.

func lowHigh(ints []int64) (low, high int64) {
	return lowHighPlain(ints)
}

func rankRange(values []float64) (low, high int64) {
	return rankRangePlain(values)
}

func subtract(dst []uint64, ints []int64, base int64) (all uint64) {
	return subtractPlain(dst, ints, base)
}

func zigzags(dst []uint64, ints []int64, base int64, shift int) {
	zigzagsPlain(dst, ints, base, shift)
}

func steps(dst, ints []int64) {
	stepsPlain(dst, ints)
}

func add(ints, others []int64) {
	addPlain(ints, others)
}

func less(ints, others []int64) {
	lessPlain(ints, others)
}

func longer(above *[64]uint8, numbers []uint64) (widest int) {
	return longerPlain(above, numbers)
}

func decimals(ints, residuals []int64, bad []uint8, values []float64, power float64) (all int64) {
	return decimalsPlain(ints, residuals, bad, values, power)
}

func momentInts(ints, residuals []int64, bad []uint8, values, counts, sums []float64, power, square float64) (all int64) {
	return momentIntsPlain(ints, residuals, bad, values, counts, sums, power, square)
}

func momentFloats(out []float64, ints []int64, counts, sums []float64, power, square float64) {
	momentFloatsPlain(out, ints, counts, sums, power, square)
}

func means(out, sums, counts []float64) {
	meansPlain(out, sums, counts)
}

func predictions(out []int64, means []float64, power float64) {
	predictionsPlain(out, means, power)
}

func spreads(expected []int64, scales []uint8, means, counts, lows, highs []float64, power float64) {
	spreadsPlain(expected, scales, means, counts, lows, highs, power)
}

func floats(out []float64, ints []int64, power float64) {
	floatsPlain(out, ints, power)
}

func predictedFloats(out []float64, ints, predictions []int64, power float64) {
	predictedFloatsPlain(out, ints, predictions, power)
}

func beside(out []float64, residuals []int64) {
	besidePlain(out, residuals)
}

func unpackEights([]int64, []uint8, []byte, int, *[maxClasses]int64, []byte) (done, taken int) {
	return 0, 0
}

func unclass(ints []int64, base int64, shift int, signed bool) {
	unclassPlain(ints, base, shift, signed)
}

func classify(pieces []uint64, sizes []uint8, codes []byte, codeBits int, numbers []uint64, scales []uint8,
	table *classTable) (together int) {
	return classifyPlain(pieces, sizes, codes, codeBits, numbers, scales, table)
}

func sortOrders(samples *orderSamples, costs *[4]int64, n int) {
	sortOrdersPlain(samples, costs, n)
}
