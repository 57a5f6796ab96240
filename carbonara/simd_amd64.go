package carbonara

import (
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/internal/simd"
)

const highest, lowest = math.MaxInt64, math.MinInt64

// noLows and noHighs are the ranks that orderedRange starts from.
var (
	noLows  = [8]int64{highest, highest, highest, highest, highest, highest, highest, highest}
	noHighs = [8]int64{lowest, lowest, lowest, lowest, lowest, lowest, lowest, lowest}
)

func orderedRange(values []float64) (low, high int64) {
	if simd.AVX512 && len(values) > 0 {
		lows, highs := noLows, noHighs
		orderedRangeAVX512(&lows, &highs, &values[0], len(values))
		return slices.Min(lows[:]), slices.Max(highs[:])
	}
	return orderedRangeGeneric(values)
}

func decimals(ints, residuals []int64, bad []uint8, values []float64, power float64) (all int64) {
	if simd.AVX512 && len(values) > 0 {
		n := len(values)
		return decimalsAVX512(&ints[:n][0], &residuals[:n][0], &bad[:(n+7)/8][0], &values[0], n, power)
	}
	return decimalsGeneric(ints, residuals, bad, values, power)
}

func momentInts(ints, residuals []int64, bad []uint8, values, counts, sums []float64, power,
	square float64) (all int64) {
	if simd.AVX512 && len(values) > 0 {
		n := len(values)
		return momentIntsAVX512(&ints[:n][0], &residuals[:n][0], &bad[:(n+7)/8][0], &values[0], &counts[:n][0],
			&sums[:n][0], n, power, square)
	}
	return momentIntsGeneric(ints, residuals, bad, values, counts, sums, power, square)
}

func momentFloats(out []float64, ints []int64, counts, sums []float64, power, square float64) {
	if simd.AVX512 && len(out) > 0 {
		n := len(out)
		momentFloatsAVX512(&out[0], &ints[:n][0], &counts[:n][0], &sums[:n][0], n, power, square)
		return
	}
	momentFloatsGeneric(out, ints, counts, sums, power, square)
}

func means(out, sums, counts []float64) {
	if simd.AVX512 && len(counts) > 0 {
		n := len(counts)
		meansAVX512(&out[:n][0], &sums[:n][0], &counts[0], n)
		return
	}
	meansGeneric(out, sums, counts)
}

func predictions(out []int64, means []float64, power float64) {
	if simd.AVX512 && len(means) > 0 {
		predictionsAVX512(&out[:len(means)][0], &means[0], len(means), power)
		return
	}
	predictionsGeneric(out, means, power)
}

func momentBounds(expected []int64, scales []uint8, means, counts, lows, highs []float64, power float64) {
	if simd.AVX512 && len(means) > 0 {
		n := len(means)
		momentBoundsAVX512(&expected[:n][0], &scales[:n][0], &means[0], &counts[:n][0], &lows[:n][0],
			&highs[:n][0], n, power)
		return
	}
	momentBoundsGeneric(expected, scales, means, counts, lows, highs, power)
}

func floats(out []float64, ints []int64, power float64) {
	if simd.AVX512 && len(ints) > 0 {
		floatsAVX512(&out[:len(ints)][0], &ints[0], len(ints), power)
		return
	}
	floatsGeneric(out, ints, power)
}

func predictedFloats(out []float64, ints, predictions []int64, power float64) {
	if simd.AVX512 && len(ints) > 0 {
		n := len(ints)
		predictedFloatsAVX512(&out[:n][0], &ints[0], &predictions[:n][0], n, power)
		return
	}
	predictedFloatsGeneric(out, ints, predictions, power)
}

func addULPs(out []float64, residuals []int64) {
	if simd.AVX512 && len(residuals) > 0 {
		addULPsAVX512(&out[:len(residuals)][0], &residuals[0], len(residuals))
		return
	}
	addULPsGeneric(out, residuals)
}

//go:noescape
func orderedRangeAVX512(low, high *[8]int64, values *float64, n int)

//go:noescape
func decimalsAVX512(ints, residuals *int64, bad *uint8, values *float64, n int, power float64) (any int64)

//go:noescape
func momentIntsAVX512(ints, residuals *int64, bad *uint8, values, counts, sums *float64, n int, power,
	square float64) (any int64)

//go:noescape
func momentFloatsAVX512(out *float64, ints *int64, counts, sums *float64, n int, power, square float64)

//go:noescape
func meansAVX512(out, sums, counts *float64, n int)

//go:noescape
func predictionsAVX512(out *int64, means *float64, n int, power float64)

//go:noescape
func momentBoundsAVX512(expected *int64, scales *uint8, means, counts, lows, highs *float64, n int, power float64)

//go:noescape
func floatsAVX512(out *float64, ints *int64, n int, power float64)

//go:noescape
func predictedFloatsAVX512(out *float64, ints, predictions *int64, n int, power float64)

//go:noescape
func addULPsAVX512(out *float64, residuals *int64, n int)
