package intcodec

import (
	"encoding/binary"
	"math/bits"
)

// Skip splits the stream of n integers off src without decoding more than the first of them: a twentieth of the work.
// The rest may still be corrupt. Skip refuses widths that are relative to scales.
func Skip(src []byte, n int) (first int64, rest []byte, ok bool) {
	var h streamHead
	if src, ok = h.consume(src, n); !ok {
		return 0, nil, false
	}
	number := uint64(0)
	switch {
	case h.flags&streamConstant != 0:
	case h.flags&streamClassed != 0:
		number, src, ok = skipClassed(src, n)
	default:
		number, src, ok = skipNumbers(src, n, h.flags)
	}
	if h.order > 0 {
		return h.starts[0], src, ok
	}
	return h.base + int64(number<<h.shift), src, ok
}

// skipNumbers passes over widths, numbers and patches, and returns the first number.
func skipNumbers(src []byte, n int, flags byte) (first uint64, rest []byte, ok bool) {
	var widths streamWidths
	if src, ok = widths.consume(src, n, flags); !ok {
		return 0, nil, false
	}
	size := 0
	for m := 0; m*miniValues < n; m++ {
		size += packedLen(min(miniValues, n-m*miniValues), int(widths[m]))
	}
	if len(src) < size {
		return 0, nil, false
	}
	first = wordAt(src[:size], 0) & (1<<widths[0] - 1)
	src = src[size:]
	if flags&streamPatched == 0 {
		return first, src, true
	}
	count, src, ok := ConsumeUvarint(src)
	if !ok || count > uint64(n) {
		return 0, nil, false
	}
	if gap, highs, _ := ConsumeUvarint(src); count > 0 && gap == 0 {
		high, _, _ := ConsumeUvarint(highs)
		first += high << widths[0]
	}
	src, ok = skipUvarints(src, 2*int(count))
	return first, src, ok
}

// skipUvarints splits so many of them off src: their last bytes are those below 0x80.
func skipUvarints(src []byte, count int) (rest []byte, ok bool) {
	const top = 0x8080808080808080
	for count >= 8 && len(src) >= 8 {
		count -= bits.OnesCount64(^binary.LittleEndian.Uint64(src) & top)
		src = src[8:]
	}
	for i, b := range src {
		if count == 0 {
			return src[i:], true
		}
		if b < 0x80 {
			count--
		}
	}
	return nil, count == 0
}

// skipClassed passes over numbers in classes, and returns the first of them.
func skipClassed(src []byte, n int) (first uint64, rest []byte, ok bool) {
	var h classHead
	if src, ok = h.consume(src, n); !ok || h.flags&classScaled != 0 {
		return 0, nil, false
	}
	counts := [maxClasses]int{n}
	for at := 0; h.bits > 0 && at < n*h.bits; at += 64 {
		word := codeWord(h.codes, at)
		if left := n*h.bits - at; left < 64 {
			word &= 1<<left - 1
		}
		low, high := word, uint64(0)
		if h.bits == 2 {
			const even = 0x5555555555555555
			low, high = word&even, word>>1&even
		}
		one, two, three := bits.OnesCount64(low&^high), bits.OnesCount64(high&^low), bits.OnesCount64(low&high)
		counts[0] -= one + two + three
		counts[1] += one
		counts[2] += two
		counts[3] += three
	}
	total := 0
	for i, count := range counts {
		total += count * int(h.widths[i])
	}
	if size := packedLen(total, 1); size <= len(src) {
		rest = src[size:]
	} else {
		return 0, nil, false
	}
	if h.bits > 0 {
		first = uint64(h.codes[0]) & (1<<h.bits - 1)
	}
	first = wordAt(src[:len(src)-len(rest)], 0) & (1<<h.widths[first] - 1)
	if h.flags&classZigzag != 0 {
		first = uint64(Unzigzag(first))
	}
	return first, rest, true
}

// ConstantDifference returns the difference between any two neighbours of the n integers that src holds, if its head
// alone says that all of these are equal.
func ConstantDifference(src []byte, n int) (difference int64, ok bool) {
	var h streamHead
	rest, ok := h.consume(src, n)
	return h.base, ok && len(rest) == 0 && h.flags&streamConstant != 0 && h.order == 1
}
