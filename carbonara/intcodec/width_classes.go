package intcodec

import (
	"encoding/binary"
	"math"
	"slices"
)

// Numbers of very different sizes are packed in classes: up to four widths, and for each number a code of its width.
// The codes are packed like numbers of 0 to 2 bits; then follow the numbers, each in its own width, in as few bytes as
// that takes. Where the scale of a group predicts the size of a number, widths are relative to the scale.
//
//	head     1 byte: bits 0-1 the bits of a code, so that there are 1, 2 or 4 classes; bit 2: numbers are zigzag; bit 3:
//	         widths are relative to the groups' scales
//	widths   a byte for each class: 0 to 56; relative ones are signed, and add up with the scale to 0 at least
//	codes    one after the other
//	numbers  one after the other
const (
	classBitsMask = 0x03
	classZigzag   = 0x04
	classScaled   = 0x08
	classKnown    = 0x0f

	maxClasses    = 4
	maxClassWidth = 56 // with the 7 bits before it in its first byte, a number fits 64 bits
)

// classes are the widths of a stream, and what else its head tells.
type widthClasses struct {
	bits   int // of a code
	flags  byte
	base   int64 // of the numbers
	widths [maxClasses]int8
	widest int // of a number, with its scale
}

// needs counts numbers by the width that they need; relative to a scale it may be below 0.
type needs struct {
	counts   [2*widthOffset + 1]uint16
	scales   int // the sum of the scales
	largest  int // scale
	scaled   bool
	n        int
	low      int // the least need that there is, and the greatest, both with widthOffset
	high     int
	cumulate [2*widthOffset + 1]int
}

const widthOffset = 64

func (d *needs) reset(scaled bool) {
	clear(d.counts[:])
	d.scaled = scaled
	d.scales, d.largest, d.n, d.high = 0, 0, 0, 0
}

// widest returns the greatest width that a number with these needs may get.
func (d *needs) widest() int { return d.high - widthOffset + d.largest }

// add counts a number of so many bits.
func (d *needs) add(length, scale int) {
	need := length - scale + widthOffset
	if length == 0 && d.scaled {
		need = 0 // the least: any width does
	}
	d.counts[need]++
	d.high = max(d.high, need)
	d.scales += scale
	d.largest = max(d.largest, scale)
	d.n++
}

// cost returns about how many bits the numbers with needs above from, up to to, take at the width to. The quotient is
// exact: in floats it is faster than in integers.
func (d *needs) cost(from, to int) int {
	count := d.cumulate[to]
	if from >= 0 {
		count -= d.cumulate[from]
	}
	return max(0, count*(to-widthOffset)+int(float64(count*d.scales)/float64(d.n)))
}

// split returns where the numbers with needs above from, up to to, are best split in two.
func (d *needs) split(from, to int) (at, cost int) {
	at, cost = to, d.cost(from, to)
	for i := max(from+1, d.low); i < to; i++ {
		if d.counts[i] == 0 {
			continue // no better than the place before
		}
		if c := d.cost(from, i) + d.cost(i, to); c < cost {
			at, cost = i, c
		}
	}
	return at, cost
}

// choose returns the classes that numbers take the fewest bits with, and about how many.
func (d *needs) choose() (c widthClasses, cost int) {
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
	two += d.n
	four := first + second + 2*d.n
	width := func(need int) int8 { return int8(need - widthOffset) }
	switch {
	case four < two && four < one:
		return widthClasses{bits: 2, widths: [maxClasses]int8{width(lower), width(middle), width(upper),
			width(d.high)}}, four
	case two < one:
		return widthClasses{bits: 1, widths: [maxClasses]int8{width(middle), width(d.high)}}, two
	}
	return widthClasses{widths: [maxClasses]int8{width(d.high)}}, one
}

// widthClasses chooses classes if their bits are below limit.
func (d *needs) widthClasses(flags byte, base int64, limit int) (widthClasses, bool) {
	if d.widest() > maxClassWidth {
		return widthClasses{}, false
	}
	k, cost := d.choose()
	k.flags, k.base, k.widest = flags, base, d.widest()
	return k, cost < limit
}

// appendClassed appends head, widths, codes and numbers. Scales may be nil.
func (c *Encoder) appendClassed(dst []byte, k *widthClasses, numbers []uint64, scales []uint8) []byte {
	dst = append(dst, byte(k.bits)|k.flags)
	for _, w := range k.widths[:1<<k.bits] {
		dst = append(dst, byte(w))
	}
	table := k.table()
	n := len(numbers)
	codesAt := len(dst)
	at := codesAt + packedLen(n, k.bits)
	dst = slices.Grow(dst, at-codesAt+n*maxClassWidth/8+16)
	out := dst[:cap(dst)]
	perWord := classify(c.words[:], c.sizes[:], out[codesAt:], k.bits, numbers, scales, &table)
	// Each piece is written with the 8 bytes from the one on that it begins in, so that nothing depends on its size but
	// where the next one begins.
	word, used := uint64(0), uint(0) // the bits of the byte that the next piece begins in
	for i := 0; i < n; i += perWord {
		word |= c.words[i%MaxLen] << (used & 63)
		binary.LittleEndian.PutUint64(out[at:], word)
		used += uint(c.sizes[i%MaxLen])
		at += int(used >> 3)
		word >>= used &^ 7 & 63
		used &= 7
	}
	if used > 0 {
		at++
	}
	return dst[:at]
}

// table returns how numbers get their classes.
func (k *widthClasses) table() (t classTable) {
	for i := range t.thresholds {
		t.thresholds[i] = math.MaxInt64
		if i < 1<<k.bits-1 {
			t.thresholds[i] = int64(k.widths[i])
		}
	}
	for i, w := range k.widths {
		t.widths[i] = int64(w)
	}
	t.widest = k.widest
	return t
}

// classHead is what numbers in classes begin with.
type classHead struct {
	flags  byte
	bits   int // of a code
	widths [maxClasses]int64
	codes  []byte
}

// consume splits all that comes before n numbers off src.
func (h *classHead) consume(src []byte, n int) (rest []byte, ok bool) {
	if len(src) == 0 || src[0]&^classKnown != 0 {
		return nil, false
	}
	h.flags, h.bits = src[0], int(src[0]&classBitsMask)
	if h.bits > 2 || len(src) < 1+1<<h.bits {
		return nil, false
	}
	for i := range 1 << h.bits {
		h.widths[i] = int64(int8(src[1+i]))
		if h.widths[i] > maxClassWidth || (h.widths[i] < 0 && h.flags&classScaled == 0) {
			return nil, false
		}
	}
	src = src[1+1<<h.bits:]
	size := packedLen(n, h.bits)
	if len(src) < size {
		return nil, false
	}
	h.codes = src[:size]
	return src[size:], true
}

// decodeClassed fills dst with base and the numbers, shifted.
func decodeClassed(dst []int64, src []byte, base int64, shift int, scales []uint8) (rest []byte, ok bool) {
	var h classHead
	if src, ok = h.consume(src, len(dst)); !ok {
		return nil, false
	}
	if h.flags&classScaled == 0 {
		scales = nil
	} else if len(scales) < len(dst) {
		return nil, false
	} else {
		scales = scales[:len(dst)]
	}
	size := unpackClasses(dst, scales, h.codes, h.bits, &h.widths, src)
	if size > len(src) {
		return nil, false
	}
	restore(dst, base, shift, h.flags&classZigzag != 0)
	return src[size:], true
}

// unpackClasses fills dst with numbers, whose widths are relative to scales unless these are nil, and returns how many
// bytes of src it took: more than there are if it does not have as many, or a number would be too wide.
func unpackClasses(dst []int64, scales []uint8, codes []byte, codeBits int, widths *[maxClasses]int64, src []byte) int {
	done, taken := unpackClassesFast(dst, scales, codes, codeBits, widths, src)
	if taken < 0 {
		return len(src) + 1
	}
	at, widest := uint(taken), 0 // in bits
	codeMask := uint64(1)<<codeBits - 1
	step, perWord := codeBits&3, 32 // 2 bits of code for each number fill a word
	for from := done; from < len(dst); from += perWord {
		code := codeWord(codes, from*codeBits)
		out := dst[from:min(from+perWord, len(dst))]
		if scales != nil {
			for i, scale := range scales[from:][:len(out)] {
				w := max(int(widths[code&codeMask%maxClasses])+int(scale), 0)
				code >>= step
				widest = max(widest, w)
				out[i] = int64(wordAt(src, at>>3) >> (at & 7) & (1<<(w&63) - 1))
				at += uint(w)
			}
			continue
		}
		for i := range out {
			w := uint(widths[code&codeMask%maxClasses])
			code >>= step
			out[i] = int64(wordAt(src, at>>3) >> (at & 7) & (1<<(w&63) - 1))
			at += w
		}
	}
	if widest > maxClassWidth {
		return len(src) + 1
	}
	return int(at+7) / 8
}

// wordAt returns the 8 bytes of src from at on, as far as there are any.
func wordAt(src []byte, at uint) uint64 {
	if at+8 <= uint(len(src)) {
		return binary.LittleEndian.Uint64(src[at : at+8])
	}
	return lastWord(src, at)
}

// codeWord returns the 64 bits from bit at on, which begins a byte, as far as there are any.
func codeWord(codes []byte, at int) uint64 {
	if at /= 8; at+8 <= len(codes) {
		return binary.LittleEndian.Uint64(codes[at:])
	}
	return lastWord(codes, uint(at))
}

// lastWord returns up to 8 bytes from at on, and zeros after them.
func lastWord(src []byte, at uint) uint64 {
	var last [8]byte
	if at < uint(len(src)) {
		copy(last[:], src[at:])
	}
	return binary.LittleEndian.Uint64(last[:])
}
