package carbonara

import (
	"encoding/binary"
	"math/bits"
)

// Numbers of very different sizes are packed in classes: up to four widths, and of each number a code that says which one
// it has. The codes are packed like numbers of 0 to 2 bits; then follow the numbers, each in its own width, in as few
// bytes as that takes. Where the size of a number follows from what is known of its group, its scale, widths are told
// relative to that.
//
//	head     1 byte: bits 0-1 the bits of a code, so that there are 1, 2 or 4 classes; bit 2: numbers are zigzag; bit 3:
//	         widths are relative to the groups' scales
//	widths   a byte for each class: 0 to 56; relative ones are signed, and add up with the scale to 0 at least
//	codes    packed
//	numbers  packed
const (
	classBitsMask = 0x03
	classZigzag   = 0x04
	classScaled   = 0x08
	classKnown    = 0x0f

	maxClasses    = 4
	maxClassWidth = 56 // with the 7 bits before it in its first byte, a number fits 64 bits
)

// classes are the widths of a stream, and what else its head tells.
type classes struct {
	bits   int // of a code
	flags  byte
	base   int64 // of the numbers
	widths [maxClasses]int8
}

// needs counts numbers by the width that they need; relative to a scale it may be below 0.
type needs struct {
	counts   [2*needOffset + 1]uint16
	scales   int // the sum of the scales
	largest  int // scale
	scaled   bool
	n        int
	low      int // the least need that there is, and the greatest, both with needOffset
	high     int
	cumulate [2*needOffset + 1]int
}

const needOffset = 64

func (d *needs) reset(scaled bool) {
	clear(d.counts[:])
	d.scaled = scaled
	d.scales, d.largest, d.n, d.high = 0, 0, 0, 0
}

// widest returns the greatest width that a number with these needs may get.
func (d *needs) widest() int { return d.high - needOffset + d.largest }

// add counts a number of so many bits.
func (d *needs) add(length, scale int) {
	need := length - scale + needOffset
	if length == 0 && d.scaled {
		need = 0 // the least: any width does
	}
	d.counts[need]++
	d.high = max(d.high, need)
	d.scales += scale
	d.largest = max(d.largest, scale)
	d.n++
}

// cost returns about how many bits the numbers with needs above from, up to to, take at the width to.
func (d *needs) cost(from, to int) int {
	count := d.cumulate[to]
	if from >= 0 {
		count -= d.cumulate[from]
	}
	return max(0, count*(to-needOffset)+count*d.scales/d.n)
}

// split returns where the numbers with needs above from, up to to, are best split in two.
func (d *needs) split(from, to int) (at, cost int) {
	at, cost = to, d.cost(from, to)
	for i := max(from+1, d.low); i < to; i++ {
		if c := d.cost(from, i) + d.cost(i, to); c < cost {
			at, cost = i, c
		}
	}
	return at, cost
}

// choose returns the classes that numbers take the fewest bits with, and about how many.
func (d *needs) choose() (c classes, cost int) {
	total := 0
	d.low = 0
	for d.counts[d.low] == 0 {
		d.low++
	}
	for i, count := range d.counts[:d.high+1] {
		total += int(count)
		d.cumulate[i] = total
	}
	one := d.cost(-1, d.high)
	middle, two := d.split(-1, d.high)
	lower, first := d.split(-1, middle)
	upper, second := d.split(middle, d.high)
	two += d.n + 8
	four := first + second + 2*d.n + 24
	width := func(need int) int8 { return int8(need - needOffset) }
	switch {
	case four < two && four < one:
		return classes{bits: 2, widths: [maxClasses]int8{width(lower), width(middle), width(upper), width(d.high)}}, four
	case two < one:
		return classes{bits: 1, widths: [maxClasses]int8{width(middle), width(d.high)}}, two
	}
	return classes{widths: [maxClasses]int8{width(d.high)}}, one
}

// appendClassed appends head, widths, codes and numbers. Scales may be nil.
func (c *intEncoder) appendClassed(dst []byte, k *classes, numbers []uint64, scales []uint8) []byte {
	dst = append(dst, byte(k.bits)|k.flags)
	for _, w := range k.widths[:1<<k.bits] {
		dst = append(dst, byte(w))
	}
	var codeOf [2*needOffset + 1]uint8
	code := uint8(0)
	for need := range codeOf {
		for int(code) < 1<<k.bits-1 && need-needOffset > int(k.widths[code]) {
			code++
		}
		codeOf[need] = code
	}
	codes := c.codes[:len(numbers)]
	for i, v := range numbers {
		need := bits.Len64(v) + needOffset
		if scales != nil {
			need -= int(scales[i])
			if v == 0 {
				need = 0
			}
		}
		codes[i] = uint64(codeOf[need])
	}
	for from := 0; from < len(codes); from += miniValues {
		dst = appendMini(dst, codes[from:min(from+miniValues, len(codes))], k.bits)
	}
	var word uint64
	used := 0
	for i, v := range numbers {
		w := int(k.widths[codes[i]])
		if scales != nil {
			w = max(w+int(scales[i]), 0)
		}
		word |= v << used
		if used += w; used >= 64 {
			dst = binary.LittleEndian.AppendUint64(dst, word)
			used -= 64
			word = v >> (w - used)
		}
	}
	for ; used > 0; used -= 8 {
		dst = append(dst, byte(word))
		word >>= 8
	}
	return dst
}

// decodeClassed fills dst with base and the numbers, shifted.
func (c *intDecoder) decodeClassed(dst []int64, src []byte, base int64, shift int, scales []uint8) (rest []byte, ok bool) {
	if len(src) == 0 || src[0]&^classKnown != 0 {
		return nil, false
	}
	head := src[0]
	codeBits := int(head & classBitsMask)
	if codeBits > 2 || len(src) < 1+1<<codeBits {
		return nil, false
	}
	scaled := head&classScaled != 0
	if scaled && len(scales) < len(dst) {
		return nil, false
	}
	var widths [maxClasses]int
	for i := range 1 << codeBits {
		widths[i] = int(src[1+i])
		if scaled {
			widths[i] = int(int8(src[1+i]))
		} else if widths[i] > maxClassWidth {
			return nil, false
		}
	}
	src = src[1+1<<codeBits:]
	codes := src
	n := len(dst)
	size := n / miniValues * packedLen(miniValues, codeBits)
	size += packedLen(n%miniValues, codeBits)
	if len(src) < size {
		return nil, false
	}
	src = src[size:]
	zig := uint64(head&classZigzag) / classZigzag // v>>1 ^ -(v&1), or v
	shift &= 63
	at := 0 // in bits
	for from := 0; from < n; from += miniValues {
		out := dst[from:min(from+miniValues, n)]
		unpackMini(&c.mini, len(out), codes, codeBits)
		codes = codes[packedLen(len(out), codeBits):]
		numbers := c.mini[:len(out)]
		if scaled {
			of := scales[from:][:len(out)]
			for i := range numbers {
				w := widths[numbers[i]%maxClasses] + int(of[i])
				if w < 0 {
					w = 0
				}
				if w > maxClassWidth {
					return nil, false
				}
				numbers[i] = uint64(w)
			}
		} else {
			for i := range numbers {
				numbers[i] = uint64(widths[numbers[i]%maxClasses])
			}
		}
		for i, w := range numbers {
			var word uint64
			if byteAt := at >> 3; byteAt+8 <= len(src) {
				word = binary.LittleEndian.Uint64(src[byteAt:])
			} else {
				word = lastWord(src, byteAt)
			}
			v := word >> (at & 7) & (1<<(w&63) - 1)
			at += int(w)
			out[i] = base + int64((v>>zig^-(v&zig))<<shift)
		}
	}
	if size = (at + 7) / 8; size > len(src) {
		return nil, false
	}
	return src[size:], true
}

// lastWord returns up to 8 bytes from at on, and zeros after them.
func lastWord(src []byte, at int) uint64 {
	var last [8]byte
	if at < len(src) {
		copy(last[:], src[at:])
	}
	return binary.LittleEndian.Uint64(last[:])
}
