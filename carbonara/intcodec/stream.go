package intcodec

import "math/bits"

// MaxLen is how many integers a stream has at most.
const MaxLen = 1024

// A stream holds up to 1,024 integers: themselves, their differences or the differences of these, less a base,
// bit-packed (bitpack.go) with a width for each mini-vector; a number that is wider than its mini-vector's width is
// patched. All arithmetic wraps around in 64 bits, so that any integers come back.
//
//	head      1 byte: bits 0-1 the order of differences, 0 to 2; the flags below
//	base      varint
//	start     a varint for each order: the first integer, the first difference
//	shift     1 byte: all numbers are multiples of 2^shift and packed without it
//	widths    a byte for each mini-vector
//	packed    the numbers; at order 1 the first is 0, at order 2 the first two are
//	patches   uvarint how many; for each a uvarint how many numbers lie between it and the one before, and a uvarint,
//	          its bits above the width
const (
	streamOrderMask = 0x03
	streamConstant  = 0x04 // all numbers are 0; the stream ends after start
	streamShifted   = 0x08 // shift is there
	streamOneWidth  = 0x10 // one width for all mini-vectors
	streamPatched   = 0x20 // patches are there
	streamClassed   = 0x40 // width classes (width_classes.go) in place of widths, packed and patches
	streamKnown     = 0x7f
)

// Encoder is the memory of AppendStream.
type Encoder struct {
	work    [2][MaxLen]int64
	numbers [MaxLen]uint64
	patches []patch
	widths  [MaxLen / miniValues]byte
	patched [MaxLen / miniValues]bool
	samples orderSamples
	sample  [SampleLen]int64
	words   [MaxLen]uint64
	sizes   [MaxLen]uint8
	needs   needs
}

type patch struct {
	position int
	high     uint64
}

// SampleLen is how many integers, at most, the order of differences and the base are chosen by.
const SampleLen = 32

// SampleCount returns how many of n values to look at: all below 8, else 8, 16 or 32.
func SampleCount(n int) int {
	switch {
	case n < 8:
		return n
	case n < 128:
		return 8
	case n < 256:
		return 16
	}
	return SampleLen
}

// SampleIndex returns the index of the k-th of count samples of n values: evenly apart but for a jitter, because data
// may have periods.
func SampleIndex(k, count, n int) int {
	if count < 8 {
		return k
	}
	shift := bits.TrailingZeros8(uint8(count))
	return k*n>>shift + (k*37&31)*(n>>shift)>>5
}

// AppendStream appends ints, 1 to MaxLen of them.
func (c *Encoder) AppendStream(dst []byte, ints []int64) []byte {
	order, sample := c.chooseOrder(ints)
	return c.appendStream(dst, ints, order, sample, 16)
}

// AppendUndifferenced appends ints as they are, not as differences. Classes, which take longer to decode, must take
// less than anything else by one part in worth.
func (c *Encoder) AppendUndifferenced(dst []byte, ints []int64, worth int) []byte {
	return c.appendStream(dst, ints, 0, sortedSample(c.sample[:0], ints), worth)
}

// appendStream is AppendStream with a given order of differences; sample has some of these, ascending.
func (c *Encoder) appendStream(dst []byte, ints []int64, order int, sample []int64, worth int) []byte {
	var starts [2]int64
	values := ints
	for o := range order {
		starts[o] = values[o]
		differences(c.work[o][o+1:], values[o:])
		values = c.work[o][:len(values)]
	}
	values = values[order:]
	lowest, highest := minMax(values)
	headAt := len(dst)
	if lowest == highest {
		return appendStarts(append(dst, byte(order)|streamConstant), lowest, starts[:order])
	}
	trimmed, median := trimmedLowest(sample)
	base := c.baseOf(values, lowest, highest, trimmed)
	numbers := c.numbers[:len(ints)]
	clear(numbers[:order])
	all := subtractBase(numbers[order:], values, base)
	shift := bits.TrailingZeros64(all)
	if shift > 0 {
		for i := range numbers {
			numbers[i] >>= shift
		}
	}
	plain := c.chooseWidths(numbers)
	// Classes would need another shift where the base is trimmed; and what is told against the median must not
	// overflow.
	if (base == lowest || shift == 0) && bits.Len64(uint64(highest-lowest)) < maxClassWidth {
		limit := 8 * (plain - plain/worth)
		if flags, from, ok := classesOf(sample, len(values), lowest, median, shift, limit); ok {
			if k, ok := c.chooseClasses(values, flags, from, lowest, highest, shift, limit); ok {
				return c.appendClassedStream(dst, values, order, starts[:order], shift, &k)
			}
		}
	}
	dst = appendStarts(append(dst, byte(order)), base, starts[:order])
	if shift > 0 {
		dst[headAt] |= streamShifted
		dst = append(dst, byte(shift))
	}
	dst, flags := c.appendNumbers(dst, numbers)
	dst[headAt] |= flags
	return dst
}

// appendClassedStream appends a stream in classes.
func (c *Encoder) appendClassedStream(dst []byte, values []int64, order int, starts []int64, shift int,
	k *widthClasses) []byte {
	headAt := len(dst)
	dst = appendStarts(append(dst, byte(order)|streamClassed), k.base, starts)
	if shift > 0 {
		dst[headAt] |= streamShifted
		dst = append(dst, byte(shift))
	}
	numbers := c.numbers[:order+len(values)]
	clear(numbers[:order])
	if of := numbers[order:]; k.flags&classZigzag != 0 {
		zigzagAll(of, values, k.base, shift)
	} else {
		subtractBase(of, values, k.base)
		if shift > 0 {
			for i, u := range of {
				of[i] = u >> (shift & 63)
			}
		}
	}
	return c.appendClassed(dst, k, numbers, nil)
}

// AppendScaled is AppendUndifferenced for integers with about as many bits as scales tell. The reader must know scales.
func (c *Encoder) AppendScaled(dst []byte, ints []int64, scales []uint8) []byte {
	lowest, highest := minMax(ints)
	k, ok := c.scaledClasses(ints, scales, len(ints)*bits.Len64(uint64(highest-lowest))*15/16)
	if !ok {
		return c.AppendUndifferenced(dst, ints, 16)
	}
	dst = appendStarts(append(dst, streamClassed), 0, nil)
	numbers := c.numbers[:len(ints)]
	zigzagAll(numbers, ints, 0, 0)
	return c.appendClassed(dst, &k, numbers, scales)
}

// AppendOneWidth appends ints, which have so many bits at most, without looking for anything better.
func (c *Encoder) AppendOneWidth(dst []byte, ints []int64, width int) []byte {
	dst = append(dst, streamOneWidth, 0, byte(width))
	for from := 0; from < len(ints); from += miniValues {
		mini := ints[from:min(from+miniValues, len(ints))]
		subtractBase(c.numbers[:], mini, 0)
		dst = appendMini(dst, c.numbers[:len(mini)], width)
	}
	return dst
}

func appendStarts(dst []byte, base int64, starts []int64) []byte {
	dst = AppendUvarint(dst, Zigzag(base))
	for _, start := range starts {
		dst = AppendUvarint(dst, Zigzag(start))
	}
	return dst
}

// baseOf returns what values are told against: the lowest, or one that few lie below, which wrap around and are
// patched.
func (c *Encoder) baseOf(values []int64, lowest, highest, trimmed int64) int64 {
	if bits.Len64(uint64(highest-trimmed)) >= bits.Len64(uint64(highest-lowest)) {
		return lowest
	}
	below := 0
	for _, v := range values {
		if v < trimmed {
			below++
		}
	}
	if below > len(values)/16 {
		return lowest
	}
	return trimmed
}

// classesOf estimates by a sample which numbers n values are classed as best, and whether their bits can come to less
// than limit.
func classesOf(sample []int64, n int, lowest, median int64, shift, limit int) (flags byte, base int64, ok bool) {
	signed, unsigned := 0, 0
	for _, v := range sample {
		signed += bits.Len64(Zigzag((v - median) >> shift))
		unsigned += bits.Len64(uint64(v-lowest) >> shift)
	}
	least := min(signed, unsigned)
	if n*(least+len(sample)) >= limit*len(sample) {
		return 0, 0, false
	}
	if signed < unsigned {
		return classZigzag, median, true
	}
	return 0, lowest, true
}

// chooseClasses returns the classes in which values less base take the fewest bits, if these are below limit. Of many
// values it counts some: the widest class holds all the others in any case.
func (c *Encoder) chooseClasses(values []int64, flags byte, base, lowest, highest int64, shift,
	limit int) (widthClasses, bool) {
	n := &c.needs
	n.reset(false)
	stride := 1 + len(values)/maxCounted
	counted := 0
	if flags&classZigzag != 0 {
		for i := 0; i < len(values); i += stride {
			n.counts[widthOffset+bits.Len64(Zigzag((values[i]-base)>>(shift&63)))]++
			counted++
		}
		n.high = max(bits.Len64(Zigzag((lowest-base)>>shift)), bits.Len64(Zigzag((highest-base)>>shift)))
	} else {
		for i := 0; i < len(values); i += stride {
			n.counts[widthOffset+bits.Len64(uint64(values[i]-base)>>(shift&63))]++
			counted++
		}
		n.high = bits.Len64(uint64(highest-base) >> shift)
	}
	n.high += widthOffset
	n.n = counted
	return n.widthClasses(flags, base, limit*counted/len(values))
}

// maxCounted is about how many values classes are chosen by.
const maxCounted = 200

// scaledClasses is chooseClasses relative to scales.
func (c *Encoder) scaledClasses(values []int64, scales []uint8, limit int) (widthClasses, bool) {
	n := &c.needs
	n.reset(true)
	for i, v := range values {
		n.add(bits.Len64(Zigzag(v)), int(scales[i]))
	}
	return n.widthClasses(classZigzag|classScaled, 0, limit)
}

// chooseOrder estimates which order of differences packs smallest: by the bits of a sample's distances from its median.
// It also returns that sample, ascending.
func (c *Encoder) chooseOrder(ints []int64) (order int, sample []int64) {
	n := len(ints)
	if n < 4 {
		return 0, sortedSample(c.sample[:0], ints)
	}
	samples := &c.samples
	count := SampleCount(n - 2)
	for k := range samples[:count] {
		i := 2 + SampleIndex(k, count, n-2)
		v, d := ints[i], ints[i]-ints[i-1]
		samples[k] = [4]int64{v, d, d - (ints[i-1] - ints[i-2])}
	}
	var costs [4]int64
	sortSamples(samples, &costs, count)
	best, bestCost := 0, 1<<30
	for order := range 3 {
		// The width follows the wider numbers, not the average: cost is that of the 90th percentile of distances. A
		// further order must win by half a bit: it is a sample.
		median := samples[count/2][order]
		spread := max(uint64(samples[count-1-count/16][order]-median), uint64(median-samples[count/16][order]))
		cost := count*order + count*bits.Len64(spread) + int(costs[order])
		if cost < bestCost {
			best, bestCost = order, cost
		}
	}
	return best, samples.column(&c.sample, count, best)
}

// sortedSample returns samples of values, ascending, in the memory of dst.
func sortedSample(dst, values []int64) []int64 {
	count := SampleCount(len(values))
	for k := range count {
		dst = append(dst, values[SampleIndex(k, count, len(values))])
	}
	sortSample(dst)
	return dst
}

// trimmedLowest returns, by a sample, a value below which few lie, and one that is about the median.
func trimmedLowest(sample []int64) (trimmed, median int64) {
	median = sample[len(sample)/2]
	return sample[0] - (median-sample[0])/4, median
}

// chooseWidths sets the widths that appendNumbers packs numbers with, and returns about how many bytes they take.
func (c *Encoder) chooseWidths(numbers []uint64) (bytes int) {
	for m := 0; m*miniValues < len(numbers); m++ {
		w, patched, cost := bestWidth(numbers[m*miniValues : min((m+1)*miniValues, len(numbers))])
		c.widths[m], c.patched[m] = byte(w), patched
		bytes += cost
	}
	return bytes
}

// appendNumbers appends widths, packed numbers and patches.
func (c *Encoder) appendNumbers(dst []byte, numbers []uint64) ([]byte, byte) {
	minis := (len(numbers) + miniValues - 1) / miniValues
	widths := c.widths[:minis]
	flags := byte(streamOneWidth)
	for _, w := range widths {
		if w != widths[0] {
			flags = 0
		}
	}
	if flags != 0 {
		dst = append(dst, widths[0])
	} else {
		dst = append(dst, widths...)
	}
	c.patches = c.patches[:0]
	for m := range minis {
		mini := numbers[m*miniValues : min((m+1)*miniValues, len(numbers))]
		w := int(widths[m])
		dst = appendMini(dst, mini, w)
		if !c.patched[m] {
			continue
		}
		for i, v := range mini {
			if v>>w > 0 {
				c.patches = append(c.patches, patch{m*miniValues + i, v >> w})
			}
		}
	}
	if len(c.patches) > 0 {
		flags |= streamPatched
		dst = AppendUvarint(dst, uint64(len(c.patches)))
		next := 0
		for _, p := range c.patches {
			dst = AppendUvarint(dst, uint64(p.position-next))
			dst = AppendUvarint(dst, p.high)
			next = p.position + 1
		}
	}
	return dst, flags
}

// bestWidth returns the width at which numbers, at most miniValues, take the fewest bytes, whether some must be patched
// then, and about how many bytes that is.
func bestWidth(numbers []uint64) (width int, patched bool, bytes int) {
	var above64 [64]uint8
	widest := countWider(&above64, numbers)
	best, bestCost := widest, packedLen(len(numbers), widest)
	for w := widest - 1; w >= 0; w-- {
		above := int(above64[w])
		if above > len(numbers)/4 {
			break
		}
		// A patch takes a byte for its position and its high bits as a uvarint. Each narrower width makes the high bits
		// of the numbers met so far longer: about a bit each, counted as a seventh of a byte.
		if cost := packedLen(len(numbers), w) + 2*above + above*(widest-w)/7; cost < bestCost {
			best, bestCost = w, cost
		}
	}
	return best, best < widest, bestCost
}

// streamHead is what a stream begins with.
type streamHead struct {
	flags  byte
	order  int
	shift  int
	base   int64
	starts [2]int64
}

// consume splits the head of a stream of n integers off src.
func (h *streamHead) consume(src []byte, n int) (rest []byte, ok bool) {
	if len(src) == 0 || src[0]&^streamKnown != 0 || src[0]&streamOrderMask > 2 {
		return nil, false
	}
	h.flags, h.order = src[0], int(src[0]&streamOrderMask)
	if h.base, src, ok = ConsumeVarint(src[1:]); !ok || h.order >= n {
		return nil, false
	}
	for o := range h.order {
		if h.starts[o], src, ok = ConsumeVarint(src); !ok {
			return nil, false
		}
	}
	h.shift = 0
	if h.flags&streamConstant != 0 {
		return src, h.flags&^(streamConstant|streamOrderMask) == 0
	}
	if h.flags&streamShifted != 0 {
		if len(src) == 0 || src[0] > 63 {
			return nil, false
		}
		h.shift, src = int(src[0]), src[1:]
	}
	return src, h.flags&streamClassed == 0 || h.flags&(streamOneWidth|streamPatched) == 0
}

// streamWidths are those of a stream's mini-vectors.
type streamWidths [MaxLen / miniValues]byte

// consume splits the widths of a stream of n integers off src.
func (w *streamWidths) consume(src []byte, n int, flags byte) (rest []byte, ok bool) {
	minis := (n + miniValues - 1) / miniValues
	given := minis
	if flags&streamOneWidth != 0 {
		given = 1
	}
	if len(src) < given {
		return nil, false
	}
	for m := range minis {
		w[m] = src[min(m, given-1)]
		if w[m] > 64 {
			return nil, false
		}
	}
	return src[given:], true
}

// Decode splits the stream of len(dst) integers off src. Scales are those that it was encoded with, nil for none.
func Decode(dst []int64, src []byte, scales []uint8) (rest []byte, ok bool) {
	var h streamHead
	if src, ok = h.consume(src, len(dst)); !ok {
		return nil, false
	}
	switch {
	case h.flags&streamConstant != 0:
		for i := range dst {
			dst[i] = h.base
		}
	case h.flags&streamClassed != 0:
		src, ok = decodeClassed(dst, src, h.base, h.shift, scales)
	default:
		src, ok = decodeNumbers(dst, src, &h)
	}
	if !ok {
		return nil, false
	}
	switch h.order {
	case 1:
		sum := h.starts[0] - dst[0]
		for i, d := range dst {
			sum += d
			dst[i] = sum
		}
	case 2:
		value, step := h.starts[0], h.starts[1]
		dst[0] = value
		value += step
		dst[1] = value
		for i, d := range dst[2:] {
			step += d
			value += step
			dst[i+2] = value
		}
	}
	return src, true
}

// decodeNumbers decodes the numbers of a stream from its widths and patches into dst, added to its base.
func decodeNumbers(dst []int64, src []byte, h *streamHead) (rest []byte, ok bool) {
	n, base, shift := len(dst), h.base, h.shift
	var widths streamWidths
	if src, ok = widths.consume(src, n, h.flags); !ok {
		return nil, false
	}
	for m := 0; m*miniValues < n; m++ {
		out := dst[m*miniValues : min((m+1)*miniValues, n)]
		w := int(widths[m])
		size := packedLen(len(out), w)
		if len(src) < size {
			return nil, false
		}
		if shift == 0 {
			unpackMini(out, src, w, base)
		} else {
			unpackMini(out, src, w, 0)
			for i, v := range out {
				out[i] = base + v<<(shift&63)
			}
		}
		src = src[size:]
	}
	if h.flags&streamPatched == 0 {
		return src, true
	}
	count, src, ok := ConsumeUvarint(src)
	if !ok || count > uint64(n) {
		return nil, false
	}
	at := uint64(0)
	for range count {
		gap, rest, ok := ConsumeUvarint(src)
		if !ok || gap >= uint64(n)-at {
			return nil, false
		}
		high, rest, ok := ConsumeUvarint(rest)
		if !ok {
			return nil, false
		}
		src = rest
		at += gap
		dst[at] += int64(high << widths[at/miniValues] << (shift & 63))
		at++
	}
	return src, true
}
