//go:build !amd64

package carbonara

// Only amd64 has loops other than those of simd_generic.go.

func orderedRange(values []float64) (low, high int64) { return orderedRangeGeneric(values) }
func decimals(ints, residuals []int64, bad []uint8, values []float64, power float64) (all int64) {
	return decimalsGeneric(ints, residuals, bad, values, power)
}
func momentInts(ints, residuals []int64, bad []uint8, values, counts, sums []float64, power,
	square float64) (all int64) {
	return momentIntsGeneric(ints, residuals, bad, values, counts, sums, power, square)
}
func momentFloats(out []float64, ints []int64, counts, sums []float64, power, square float64) {
	momentFloatsGeneric(out, ints, counts, sums, power, square)
}
func means(out, sums, counts []float64)                       { meansGeneric(out, sums, counts) }
func predictions(out []int64, means []float64, power float64) { predictionsGeneric(out, means, power) }
func momentBounds(expected []int64, scales []uint8, means, counts, lows, highs []float64, power float64) {
	momentBoundsGeneric(expected, scales, means, counts, lows, highs, power)
}
func floats(out []float64, ints []int64, power float64) { floatsGeneric(out, ints, power) }
func predictedFloats(out []float64, ints, predictions []int64, power float64) {
	predictedFloatsGeneric(out, ints, predictions, power)
}
func addULPs(out []float64, residuals []int64) { addULPsGeneric(out, residuals) }
