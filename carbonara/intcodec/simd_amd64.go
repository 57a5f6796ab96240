package intcodec

import (
	"slices"

	"github.com/gnocco-db/gnocco/internal/simd"
)

func minMax(ints []int64) (low, high int64) {
	if simd.AVX512 && len(ints) > 0 {
		var lows, highs [8]int64
		minMaxAVX512(&lows, &highs, &ints[0], len(ints))
		return slices.Min(lows[:]), slices.Max(highs[:])
	}
	return minMaxGeneric(ints)
}

func subtractBase(dst []uint64, ints []int64, base int64) (all uint64) {
	if simd.AVX512 && len(ints) > 0 {
		return subtractBaseAVX512(&dst[:len(ints)][0], &ints[0], len(ints), base)
	}
	return subtractBaseGeneric(dst, ints, base)
}

func zigzagAll(dst []uint64, ints []int64, base int64, shift int) {
	if simd.AVX512 && len(ints) > 0 {
		zigzagAllAVX512(&dst[:len(ints)][0], &ints[0], len(ints), base, shift&63)
		return
	}
	zigzagAllGeneric(dst, ints, base, shift)
}

func differences(dst, ints []int64) {
	if simd.AVX512 && len(ints) > 1 {
		differencesAVX512(&dst[:len(ints)-1][0], &ints[1], &ints[0], len(ints)-1)
		return
	}
	differencesGeneric(dst, ints)
}

func Add(ints, others []int64) {
	if simd.AVX512 && len(others) > 0 {
		addAVX512(&ints[:len(others)][0], &others[0], len(others))
		return
	}
	addGeneric(ints, others)
}

func Sub(ints, others []int64) {
	if simd.AVX512 && len(others) > 0 {
		n := len(others)
		differencesAVX512(&ints[:n][0], &ints[0], &others[0], n)
		return
	}
	subGeneric(ints, others)
}

func countWider(above *[64]uint8, numbers []uint64) (widest int) {
	if simd.AVX512 && len(numbers) > 0 {
		var lengths [miniValues]uint8
		return countWiderAVX512(&lengths, above, &numbers[0], min(len(numbers), miniValues))
	}
	return countWiderGeneric(above, numbers)
}

// unpackClassesFast fills dst with numbers of classes (see unpackClasses) as far as eight at once go, and returns how
// many and from how many bits; these are -1 if one is too wide. It reads, but does not use, what lies behind src up to
// its capacity.
func unpackClassesFast(dst []int64, scales []uint8, codes []byte, codeBits int, widths *[maxClasses]int64,
	src []byte) (done, taken int) {
	n := len(dst)
	if eights := (n + 7) &^ 7; scales != nil && cap(scales) < eights || cap(codes) < eights/8*codeBits {
		n &^= 7
	}
	if src = src[:cap(src)]; !simd.AVX512 || n == 0 || len(src) < 8 {
		return 0, 0
	}
	var codesAt, scalesAt *byte
	if codeBits > 0 {
		codesAt = &codes[:packedLen(n, codeBits)][0]
	}
	if scales != nil {
		scalesAt = &scales[:n][0]
	}
	done, taken = unpackClassesAVX512(&dst[0], n, codesAt, codeBits, widths, scalesAt, &src[0], len(src))
	return min(done, n), taken
}

func restore(ints []int64, base int64, shift int, signed bool) {
	if simd.AVX512 && len(ints) > 0 {
		sign := 0
		if signed {
			sign = 1
		}
		restoreAVX512(&ints[0], len(ints), base, shift&63, sign)
		return
	}
	restoreGeneric(ints, base, shift, signed)
}

func classify(words []uint64, sizes []uint8, codes []byte, codeBits int, numbers []uint64, scales []uint8,
	table *classTable) (perWord int) {
	if simd.AVX512 && len(numbers) > 0 {
		n := len(numbers)
		eights := (n + 7) &^ 7
		perWord = table.perWord()
		var scalesAt *uint8
		if scales != nil {
			scalesAt = &scales[:n][0]
		}
		classifyAVX512(&words[:eights][0], &sizes[:eights][0], &codes[:eights/8*codeBits+1][0], codeBits,
			&numbers[0], scalesAt, n, table, perWord)
		return perWord
	}
	return classifyGeneric(words, sizes, codes, codeBits, numbers, scales, table)
}

func sortSamples(samples *orderSamples, costs *[4]int64, n int) {
	if network := networkOf(n); simd.AVX512 && network != nil {
		sortSamplesAVX512(samples, costs, n, &network[0], len(network))
		return
	}
	sortSamplesGeneric(samples, costs, n)
}

//go:noescape
func minMaxAVX512(low, high *[8]int64, ints *int64, n int)

//go:noescape
func subtractBaseAVX512(dst *uint64, ints *int64, n int, base int64) (all uint64)

//go:noescape
func zigzagAllAVX512(dst *uint64, ints *int64, n int, base int64, shift int)

//go:noescape
func differencesAVX512(dst, a, b *int64, n int)

//go:noescape
func addAVX512(dst, ints *int64, n int)

//go:noescape
func countWiderAVX512(lengths *[miniValues]uint8, above *[64]uint8, numbers *uint64, n int) (widest int)

//go:noescape
func unpackClassesAVX512(dst *int64, n int, codes *byte, codeBits int, widths *[maxClasses]int64,
	scales *uint8, src *byte, length int) (done, bits int)

//go:noescape
func restoreAVX512(ints *int64, n int, base int64, shift, signed int)

//go:noescape
func classifyAVX512(words *uint64, sizes *uint8, codes *byte, codeBits int, numbers *uint64, scales *uint8, n int,
	table *classTable, perWord int)

//go:noescape
func sortSamplesAVX512(samples *orderSamples, costs *[4]int64, n int, pairs *[2]uint8, number int)
