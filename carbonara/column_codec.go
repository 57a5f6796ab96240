package carbonara

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// The codec of format 1 for the values of one column. It is used through appendColumn, parseColumn and
// columnBody.appendTo only, by splits and by raw series, so that a later format can bring its own.
//
// A column is a codec byte and its body. The codec byte:
//
//	bits 0-2  codec, below
//	bit  3    the body is compressed: uvarint of its size before, then a zstd frame
//	bits 4-7  parameter: the exponent e of decimals; for codecSame, which column
//
// Constants have a body of a known end; before any other stands its length, a uvarint.
const (
	codecSame            = iota // no body: the same as the parameter-th column that is not codecSame, from 0
	codecConstant               // 8 bytes: the float64 of all values, little endian
	codecConstantDecimal        // varint i: all values are i / 10^e
	codecPlain                  // a varint for each value
	codecDelta                  // a varint for each value: the difference from the one before, from 0 for the first
	codecHoles                  // runs of values and holes, then codecDelta of those that are not NaN
	codecFloat                  // 8 bytes for each value
	codecShuffled               // the first byte of every value, then the second of every value, and so on

	codecMask       = 0x07
	compressedBit   = 0x08
	parameterShift  = 4
	maxCodecSameRef = 15
)

var codecNames = [...]string{"same", "constant", "decimal constant", "decimal", "decimal delta",
	"decimal delta with holes", "float", "shuffled float"}

// columnBody is an encoded column that has not been decoded. It shares the memory of its source.
type columnBody struct {
	codec byte // the codec byte
	bytes []byte
}

func (b columnBody) String() string {
	name := codecNames[b.codec&codecMask]
	switch b.codec & codecMask {
	case codecConstantDecimal, codecPlain, codecDelta, codecHoles:
		name = fmt.Sprintf("%s e=%d", name, b.codec>>parameterShift)
	}
	if b.codec&compressedBit != 0 {
		name += " zstd"
	}
	return name
}

// appendColumn appends the codec byte and body of values (at least one).
func appendColumn(dst []byte, values []float64, s *scratch) []byte {
	if isConstant(values) {
		return appendConstant(dst, values[0])
	}
	if codec, ok := s.decimalBody(values); ok {
		return s.appendBody(dst, codec, s.body)
	}
	s.body = s.body[:0]
	for _, v := range values {
		s.body = binary.LittleEndian.AppendUint64(s.body, math.Float64bits(v))
	}
	if len(s.body) >= minCompressLen {
		s.planes = appendPlanes(s.planes[:0], s.body)
		if packed := s.compressed(s.planes); len(packed) < len(s.body) {
			dst = intcodec.AppendUvarint(append(dst, codecShuffled|compressedBit), uint64(len(packed)))
			return append(dst, packed...)
		}
	}
	dst = intcodec.AppendUvarint(append(dst, codecFloat), uint64(len(s.body)))
	return append(dst, s.body...)
}

func isConstant(values []float64) bool { return sameBits(values[1:], values[:len(values)-1]) }

func appendConstant(dst []byte, v float64) []byte {
	i, ok := integer(v, 0)
	e := 0
	if !ok {
		i, e, ok = raiseExponent(v, 0)
	}
	if ok && intcodec.UvarintLen(intcodec.Zigzag(i)) <= 8 {
		return intcodec.AppendUvarint(append(dst, codecConstantDecimal|byte(e)<<parameterShift), intcodec.Zigzag(i))
	}
	return binary.LittleEndian.AppendUint64(append(dst, codecConstant), math.Float64bits(v))
}

// decimalBody writes values to s.body as integers and returns the codec byte; ok is false if they are none, or if
// floats are smaller.
func (s *scratch) decimalBody(values []float64) (codec byte, ok bool) {
	ints, e, holes, ok := appendIntegers(s.ints[:0], values)
	s.ints = ints[:0]
	if !ok {
		return 0, false
	}
	s.body = s.body[:0]
	size, plain := varintsLen(ints, true), varintsLen(ints, false)
	switch {
	case holes > 0:
		s.body = appendHoles(s.body, values)
		codec = codecHoles
	case size < plain:
		codec = codecDelta
	default:
		codec, size = codecPlain, plain
	}
	if len(s.body)+size >= 8*len(values) {
		return 0, false
	}
	previous := int64(0)
	for _, i := range ints {
		s.body = intcodec.AppendUvarint(s.body, intcodec.Zigzag(i-previous))
		if codec != codecPlain {
			previous = i
		}
	}
	return codec | byte(e)<<parameterShift, true
}

// varintsLen returns the bytes that ints take as varints, or else the difference of each from the one before.
func varintsLen(ints []int64, differences bool) (n int) {
	previous := int64(0)
	for _, i := range ints {
		n += intcodec.UvarintLen(intcodec.Zigzag(i - previous))
		if differences {
			previous = i
		}
	}
	return n
}

// appendHoles appends which of values are holes: uvarint number of values, uvarint number of holes after them, and so
// on, until all are told.
func appendHoles(dst []byte, values []float64) []byte {
	isHole := func(i int) bool { return math.Float64bits(values[i]) == nanBits }
	for i, hole := 0, false; i < len(values); hole = !hole {
		start := i
		for i < len(values) && isHole(i) == hole {
			i++
		}
		dst = intcodec.AppendUvarint(dst, uint64(i-start))
	}
	return dst
}

// appendPlanes appends the bytes of src, which are 8 to a value, the first byte of every value first.
func appendPlanes(dst, src []byte) []byte {
	n := len(src) / 8
	dst = slices.Grow(dst, len(src))
	planes := dst[len(dst) : len(dst)+len(src)]
	for i := range n {
		v := src[8*i : 8*i+8]
		for b := range 8 {
			planes[b*n+i] = v[b]
		}
	}
	return dst[:len(dst)+len(src)]
}

// appendBody appends the codec byte, the length and body, compressed if that is smaller.
func (s *scratch) appendBody(dst []byte, codec byte, body []byte) []byte {
	if len(body) >= minCompressLen {
		if packed := s.compressed(body); len(packed) < len(body) {
			codec |= compressedBit
			body = packed
		}
	}
	dst = intcodec.AppendUvarint(append(dst, codec), uint64(len(body)))
	return append(dst, body...)
}

// compressed returns body's size and body as a zstd frame, in s.packed.
func (s *scratch) compressed(body []byte) []byte {
	s.packed = compress(intcodec.AppendUvarint(s.packed[:0], uint64(len(body))), body)
	return s.packed
}

// uncompressed is the inverse of compressed. It refuses sizes above limit before it makes room for them.
func (s *scratch) uncompressed(packed []byte, limit int) ([]byte, error) {
	size, packed, ok := intcodec.ConsumeUvarint(packed)
	if !ok || size > uint64(limit) {
		return nil, corrupt("compressed body: size")
	}
	var err error
	s.body, err = decompress(s.body, packed, int(size))
	return s.body, err
}

// parseColumn splits a codec byte other than codecSame and its body off src.
func parseColumn(src []byte) (b columnBody, rest []byte, err error) {
	if len(src) == 0 {
		return b, nil, corrupt("column: no bytes")
	}
	b.codec, src = src[0], src[1:]
	length := uint64(8)
	switch b.codec & codecMask {
	case codecConstant:
	case codecConstantDecimal:
		_, rest, ok := intcodec.ConsumeUvarint(src)
		if !ok {
			return b, nil, corrupt("column: constant")
		}
		length = uint64(len(src) - len(rest))
	default:
		var ok bool
		if length, src, ok = intcodec.ConsumeUvarint(src); !ok {
			return b, nil, corrupt("column: length")
		}
	}
	if length > uint64(len(src)) {
		return b, nil, corrupt("column: cut short")
	}
	b.bytes = src[:length]
	return b, src[length:], nil
}

// appendTo appends the values from row from to row to (exclusive) of a column of n to dst, which it returns as it was
// on errors.
func (b columnBody) appendTo(dst []float64, n, from, to int, s *scratch) ([]float64, error) {
	e, body := int(b.codec>>parameterShift), b.bytes
	if e > maxExponent {
		return dst, corrupt("column: exponent %d", e)
	}
	if b.codec&compressedBit != 0 {
		// No body is longer than a maximal varint for each value, and two for the runs that it may lie in.
		var err error
		if body, err = s.uncompressed(body, (binary.MaxVarintLen64+4)*n+8); err != nil {
			return dst, err
		}
	}
	base := len(dst)
	dst = slices.Grow(dst, to-from)
	out := dst[base : base+to-from]
	ok := true
	switch b.codec & codecMask {
	case codecConstant:
		ok = len(body) == 8
		if ok {
			fill(out, math.Float64frombits(binary.LittleEndian.Uint64(body)))
		}
	case codecConstantDecimal:
		var i int64
		i, _, ok = intcodec.ConsumeVarint(body)
		fill(out, float64(i)/decimal.FloatPowers[e])
	case codecPlain, codecDelta:
		ok = decodeIntegers(out, body, b.codec&codecMask == codecDelta, e, n, from)
	case codecHoles:
		ok = decodeHoles(out, body, e, n, from)
	case codecFloat:
		ok = len(body) == 8*n
		if ok {
			for i := range out {
				out[i] = math.Float64frombits(binary.LittleEndian.Uint64(body[8*(from+i):]))
			}
		}
	case codecShuffled:
		ok = len(body) == 8*n
		if ok {
			for i := range out {
				var bits uint64
				for p := range 8 {
					bits |= uint64(body[p*n+from+i]) << (8 * p)
				}
				out[i] = math.Float64frombits(bits)
			}
		}
	default:
		ok = false
	}
	if !ok {
		return dst[:base], corrupt("column: %v of %d values", b, n)
	}
	return dst[:base+len(out)], nil
}

func fill(out []float64, v float64) {
	for i := range out {
		out[i] = v
	}
}

// decodeIntegers decodes codecPlain and codecDelta.
func decodeIntegers(out []float64, body []byte, delta bool, e, n, from int) bool {
	power := decimal.FloatPowers[e]
	carry := int64(0) // all ones where a value adds to the one before
	if delta {
		carry = -1
	}
	to := from + len(out)
	value, at := int64(0), 0
	for row := range to {
		if at >= len(body) {
			return false
		}
		u := uint64(body[at])
		at++
		if u >= 0x80 {
			var size int
			if u, size = binary.Uvarint(body[at-1:]); size <= 0 {
				return false
			}
			at += size - 1
		}
		value = value&carry + intcodec.Unzigzag(u)
		if row >= from {
			out[row-from] = float64(value) / power
		}
	}
	return to < n || at == len(body)
}

func decodeHoles(out []float64, body []byte, e, n, from int) bool {
	power := decimal.FloatPowers[e]
	to := from + len(out)
	// The runs come first: find where they end.
	runs := body
	for told := uint64(0); told < uint64(n); {
		run, rest, ok := intcodec.ConsumeUvarint(body)
		if !ok || run > uint64(n)-told || (run == 0 && told > 0) {
			return false
		}
		told += run
		body = rest
	}
	sum := int64(0)
	for row, hole := 0, false; row < to; hole = !hole {
		run, rest, _ := intcodec.ConsumeUvarint(runs)
		runs = rest
		for end := row + int(run); row < end && row < to; row++ {
			v := math.NaN()
			if !hole {
				i, rest, ok := intcodec.ConsumeVarint(body)
				if !ok {
					return false
				}
				body = rest
				sum += i
				v = float64(sum) / power
			}
			if row >= from {
				out[row-from] = v
			}
		}
	}
	return to < n || len(body) == 0
}
