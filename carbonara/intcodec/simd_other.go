//go:build !amd64

package intcodec

// Only amd64 has loops other than those of simd_generic.go.

func minMax(ints []int64) (low, high int64) { return minMaxGeneric(ints) }
func subtractBase(dst []uint64, ints []int64, base int64) (all uint64) {
	return subtractBaseGeneric(dst, ints, base)
}
func zigzagAll(dst []uint64, ints []int64, base int64, shift int) {
	zigzagAllGeneric(dst, ints, base, shift)
}
func differences(dst, ints []int64) { differencesGeneric(dst, ints) }
func Add(ints, others []int64)      { addGeneric(ints, others) }
func Sub(ints, others []int64)      { subGeneric(ints, others) }
func countWider(above *[64]uint8, numbers []uint64) (widest int) {
	return countWiderGeneric(above, numbers)
}
func unpackClassesFast([]int64, []uint8, []byte, int, *[maxClasses]int64, []byte) (done, taken int) {
	return 0, 0
}
func restore(ints []int64, base int64, shift int, signed bool) {
	restoreGeneric(ints, base, shift, signed)
}
func classify(words []uint64, sizes []uint8, codes []byte, codeBits int, numbers []uint64, scales []uint8,
	table *classTable) (perWord int) {
	return classifyGeneric(words, sizes, codes, codeBits, numbers, scales, table)
}
func sortSamples(samples *orderSamples, costs *[4]int64, n int) {
	sortSamplesGeneric(samples, costs, n)
}
