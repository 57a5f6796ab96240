package carbonara

import "encoding/binary"

// Bit packing. Up to 1,024 numbers of w bits lie in mini-vectors of 128, which are two lanes of 64: number i of a
// mini-vector is number i/2 of lane i%2. A lane is w words of 64 bits, little endian, filled from the low bits up, and
// the lanes' words alternate: two lanes fit a vector register of 128 bits, and the threads of a warp find their
// numbers in 16*w consecutive bytes. The numbers after the last full mini-vector follow one after the other, w bits
// each, in as many bytes as that takes.
const (
	miniValues = 128
	laneWords  = 2 // lanes whose words alternate
)

//go:generate go run ../tools/unpackgen unpack_widths.go

// packedLen returns the bytes of n numbers of w bits, n <= miniValues.
func packedLen(n, w int) int { return (n*w + 7) / 8 }

// appendMini packs numbers, at most miniValues, of which only the low w bits count.
func appendMini(dst []byte, numbers []uint64, w int) []byte {
	if w == 0 {
		return dst
	}
	mask := ^uint64(0) >> (64 - w)
	if len(numbers) < miniValues {
		return appendPacked(dst, numbers, w, mask)
	}
	base := len(dst)
	for range laneWords * w {
		dst = append(dst, 0, 0, 0, 0, 0, 0, 0, 0)
	}
	for lane := range laneWords {
		out := dst[base+8*lane:]
		var word uint64
		at, used := 0, 0
		for i := lane; i < miniValues; i += laneWords {
			v := numbers[i] & mask
			word |= v << used
			if used += w; used >= 64 {
				binary.LittleEndian.PutUint64(out[8*laneWords*at:], word)
				at++
				used -= 64
				word = v >> (w - used) // 0 if used is 0 and w is 64 or the word ended with v
			}
		}
	}
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

// unpackMini is the inverse of appendMini for n numbers; src has at least packedLen(n, w) bytes.
func unpackMini(dst *[miniValues]uint64, n int, src []byte, w int) {
	switch {
	case w == 0:
		clear(dst[:n])
	case n == miniValues:
		unpack := laneUnpackers[w]
		unpack((*[miniValues - 1]uint64)(dst[:]), src)
		unpack((*[miniValues - 1]uint64)(dst[1:]), src[8:])
	default:
		unpackTail(dst[:n], src[:packedLen(n, w)], w)
	}
}

func unpackTail(dst []uint64, src []byte, w int) {
	mask := ^uint64(0) >> (64 - w)
	for i := range dst {
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
		dst[i] = v & mask
	}
}
