package intcodec

import (
	"encoding/binary"
	"slices"
)

// Bit packing. Up to 1,024 numbers of w bits lie in mini-vectors of 128, which are two lanes of 64: number i of a
// mini-vector is number i/2 of lane i%2. A lane is w words of 64 bits, little endian, filled from the low bits up, and
// the lanes' words alternate: two lanes fit a vector register of 128 bits, and the threads of a warp find their
// numbers in 16*w consecutive bytes. The numbers after the last full mini-vector follow one after the other, w bits
// each, in as many bytes as that takes.
const miniValues = 128

// A function for each width is generated. One loop for all of them takes twice to sixteen times as long: its shifts and
// bounds are no constants.
//
//go:generate go run ../../tools/packgen pack_widths.go

// packedLen returns the bytes of n numbers of w bits, n <= miniValues.
func packedLen(n, w int) int { return (n*w + 7) / 8 }

// appendMini packs the low w bits of numbers, at most miniValues.
func appendMini(dst []byte, numbers []uint64, w int) []byte {
	if w == 0 {
		return dst
	}
	mask := ^uint64(0) >> (64 - w)
	if len(numbers) < miniValues {
		return appendPacked(dst, numbers, w, mask)
	}
	base := len(dst)
	dst = slices.Grow(dst, miniValues/8*w)[:base+miniValues/8*w]
	pack := lanePackers[w]
	pack(dst[base:], (*[miniValues - 1]uint64)(numbers))
	pack(dst[base+8:], (*[miniValues - 1]uint64)(numbers[1:]))
	return dst
}

// appendPacked packs numbers one after the other.
func appendPacked(dst []byte, numbers []uint64, w int, mask uint64) []byte {
	end := len(dst) + packedLen(len(numbers), w)
	var word uint64
	used := 0
	for _, v := range numbers {
		v &= mask
		word |= v << used
		if used += w; used >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, word)
			used -= 64
			word = v >> (w - used)
		}
	}
	for len(dst) < end {
		dst = append(dst, byte(word))
		word >>= 8
	}
	return dst
}

// unpackMini fills dst, at most miniValues, with base and what appendMini packed; src has at least packedLen(len(dst),
// w) bytes.
func unpackMini(dst []int64, src []byte, w int, base int64) {
	switch {
	case w == 0:
		for i := range dst {
			dst[i] = base
		}
	case len(dst) == miniValues:
		unpack := laneUnpackers[w]
		unpack((*[miniValues - 1]int64)(dst), src, uint64(base))
		unpack((*[miniValues - 1]int64)(dst[1:]), src[8:], uint64(base))
	default:
		unpackTail(dst, src[:packedLen(len(dst), w)], w, base)
	}
}

func unpackTail(dst []int64, src []byte, w int, base int64) {
	mask := ^uint64(0) >> (64 - w)
	done := 0
	if w <= maxClassWidth { // numbers of a single class
		done, _ = unpackClassesFast(dst, nil, nil, 0, &[maxClasses]int64{int64(w)}, src)
		restore(dst[:done], base, 0, false)
	}
	for i := done; i < len(dst); i++ {
		bit := i * w
		at, shift := bit/8, bit%8
		var v uint64
		if at+9 <= len(src) {
			v = binary.LittleEndian.Uint64(src[at:])>>shift | uint64(src[at+8])<<1<<(63-shift)
		} else {
			var last [9]byte
			copy(last[:], src[at:])
			v = binary.LittleEndian.Uint64(last[:])>>shift | uint64(last[8])<<1<<(63-shift)
		}
		dst[i] = base + int64(v&mask)
	}
}
