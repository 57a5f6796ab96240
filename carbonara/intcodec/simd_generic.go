package intcodec

import "math/bits"

// The loops over the numbers of a stream, in plain Go. simd_amd64.s has each of them eight numbers at a time (AVX-512),
// with the same results; simd_amd64.go chooses.

func minMaxGeneric(ints []int64) (low, high int64) {
	low, high = ints[0], ints[0]
	for _, v := range ints {
		low, high = min(low, v), max(high, v)
	}
	return low, high
}

// subtractBaseGeneric fills dst with ints less base, and returns all bits that are set in any.
func subtractBaseGeneric(dst []uint64, ints []int64, base int64) (all uint64) {
	dst = dst[:len(ints)]
	for i, v := range ints {
		u := uint64(v - base)
		dst[i] = u
		all |= u
	}
	return all
}

// zigzagAllGeneric fills dst with the zigzag of ints less base, shifted.
func zigzagAllGeneric(dst []uint64, ints []int64, base int64, shift int) {
	dst = dst[:len(ints)]
	for i, v := range ints {
		dst[i] = Zigzag((v - base) >> (shift & 63))
	}
}

// differencesGeneric fills dst with the difference of each element of ints, from the second on, and the one before.
func differencesGeneric(dst, ints []int64) {
	dst = dst[:len(ints)-1]
	for i := range dst {
		dst[i] = ints[i+1] - ints[i]
	}
}

// addGeneric adds others to ints.
func addGeneric(ints, others []int64) {
	ints = ints[:len(others)]
	for i, v := range others {
		ints[i] += v
	}
}

// subGeneric subtracts others from ints.
func subGeneric(ints, others []int64) {
	ints = ints[:len(others)]
	for i, v := range others {
		ints[i] -= v
	}
}

// countWiderGeneric counts how many of numbers, at most miniValues, have more than w bits, from the widest down until
// these are more than a quarter of all.
func countWiderGeneric(above *[64]uint8, numbers []uint64) (widest int) {
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

// restoreGeneric makes integers of the numbers of classes.
func restoreGeneric(ints []int64, base int64, shift int, signed bool) {
	if signed {
		for i, v := range ints {
			ints[i] = base + Unzigzag(uint64(v))<<(shift&63)
		}
		return
	}
	for i, v := range ints {
		ints[i] = base + v<<(shift&63)
	}
}

// classTable is what classify looks up: a number that needs more bits than so many thresholds has that class. Both are
// relative to scales where there are any.
type classTable struct {
	thresholds [maxClasses - 1]int64
	widths     [maxClasses]int64
	widest     int // with the largest scale
}

// perWord returns how many neighbours of the widest class fit a word of 57 bits: 1, 2 or 4.
func (t *classTable) perWord() int {
	switch {
	case t.widest <= 14:
		return 4
	case t.widest <= 28:
		return 2
	}
	return 1
}

// classifyGeneric puts the codes of numbers, packed, into codes, and numbers with their sizes in bits into pieces and
// sizes: of so many neighbours each, which stand where the first of these stood. All of them have room for eight
// numbers more.
func classifyGeneric(words []uint64, sizes []uint8, codes []byte, codeBits int, numbers []uint64, scales []uint8,
	table *classTable) (perWord int) {
	var codeOf [2*widthOffset + 1]uint8
	for need := range codeOf {
		for _, threshold := range table.thresholds {
			if int64(need-widthOffset) > threshold {
				codeOf[need]++
			}
		}
	}
	words, sizes = words[:len(numbers)], sizes[:len(numbers)]
	for from := 0; from < len(numbers); from += 8 {
		of := uint(0) // eight numbers: whole bytes
		for i, v := range numbers[from:min(from+8, len(numbers))] {
			scale, need := 0, bits.Len64(v)+widthOffset
			if scales != nil {
				scale = int(scales[from+i])
				if need -= scale; v == 0 {
					need = 0
				}
			}
			code := codeOf[need] % maxClasses
			of |= uint(code) << (i * codeBits & 15)
			words[from+i], sizes[from+i] = v, uint8(max(int(table.widths[code])+scale, 0))
		}
		for range codeBits {
			codes[0], codes = byte(of), codes[1:]
			of >>= 8
		}
	}
	return 1
}
