package carbonara

import (
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
)

// rawVectorVersion is the first byte of a raw chunk of format 2, which encodes measures in vectors of 1,024. It is
// written from minVectorMeasures on. A checkpoint usually adds fewer, which format 1 writes faster.
const (
	rawVectorVersion  = 2
	minVectorMeasures = 256
)

// appendRawVectors appends a chunk of format 2.
func (s *scratch) appendRawVectors(dst []byte, marks rawMarks, timestamps []Timestamp, values []float64) []byte {
	n, keepFrom := len(timestamps), marks.keepFrom
	unitIndex, _ := shapeOf(keepFrom, timestamps)
	unit := rawUnits[unitIndex]
	flags := byte(unitIndex) | marks.flags()
	at := len(dst)
	dst = beginFrame(dst, rawVectorVersion)
	dst = marks.append(intcodec.AppendUvarint(append(dst, flags), uint64(n)), unit)
	first := timestamps[0] / unit
	dst = intcodec.AppendUvarint(dst, intcodec.Zigzag(int64(first-keepFrom/unit)))
	dst = intcodec.AppendUvarint(dst, uint64(timestamps[n-1]/unit-first))
	c := s.vectorCodec()
	c.begin()
	block := c.block[:0]
	for from := 0; from < n; from += vectorLen {
		part := timestamps[from:min(from+vectorLen, n)]
		ints := c.ints[:len(part)]
		for i, t := range part {
			ints[i] = int64(t/unit - first)
		}
		block = c.streams.AppendStream(block, ints)
	}
	dst = append(intcodec.AppendUvarint(dst, uint64(len(block))), block...)
	for from := 0; from < n; from += vectorLen {
		block = c.appendVectorColumn(block[:0], ColumnLast, values[from:min(from+vectorLen, n)])
		dst = append(intcodec.AppendUvarint(dst, uint64(len(block))), block...)
	}
	c.block = block
	return endFrame(dst, at)
}

// parseRawVectors reads what follows the first timestamp of a chunk of format 2.
func (c *rawChunk) parseRawVectors(src []byte, latest uint64) error {
	span, src, ok := intcodec.ConsumeUvarint(src)
	if !ok || span > latest-uint64(c.first/c.unit) || span < uint64(c.n-1) {
		return corrupt("span of timestamps")
	}
	c.last += Timestamp(span) * c.unit
	length, src, ok := intcodec.ConsumeUvarint(src)
	if !ok || length > uint64(len(src)) {
		return corrupt("timestamps are cut short")
	}
	c.steps, c.columns = src[:length], src[length:]
	return nil
}

// skipBefore drops vectors whose measures are all before since from a chunk of format 2, but never all.
func (c *rawChunk) skipBefore(since Timestamp) error {
	span := int64((c.last - c.origin) / c.unit)
	for c.n > vectorLen && c.first < since {
		_, steps, ok := intcodec.Skip(c.steps, vectorLen)
		if !ok {
			return corrupt("timestamps")
		}
		next, _, ok := intcodec.Skip(steps, min(vectorLen, c.n-vectorLen))
		if !ok || next <= 0 || next > span {
			return corrupt("timestamps")
		}
		first := c.origin + Timestamp(next)*c.unit
		if first > since {
			return nil
		}
		length, columns, ok := intcodec.ConsumeUvarint(c.columns)
		if !ok || length > uint64(len(columns)) {
			return corrupt("values are cut short")
		}
		c.first, c.n, c.steps, c.columns = first, c.n-vectorLen, steps, columns[length:]
	}
	return nil
}

// appendVectorTimestamps is appendTimestamps of format 2.
func (c *rawChunk) appendVectorTimestamps(dst []Timestamp, s *scratch) ([]Timestamp, error) {
	base := len(dst)
	dst = slices.Grow(dst, c.n)
	codec, src := s.vectorCodec(), c.steps
	span := int64((c.last - c.origin) / c.unit)
	previous := int64(-1)
	for from := 0; from < c.n; from += vectorLen {
		ints := codec.ints[:min(vectorLen, c.n-from)]
		var ok bool
		if src, ok = intcodec.Decode(ints, src, nil); !ok {
			return dst[:base], corrupt("timestamps")
		}
		if dst, ok = appendTimes(dst, ints, previous, span, c.origin, c.unit); !ok {
			return dst[:base], corrupt("timestamps")
		}
		previous = ints[len(ints)-1]
	}
	if len(src) > 0 || previous != span || dst[base] != c.first {
		return dst[:base], corrupt("timestamps")
	}
	return dst, nil
}

// appendTimes appends base and as many units as each integer says; ok is false unless they ascend, all above previous
// and up to last.
func appendTimes(dst []Timestamp, ints []int64, previous, last int64, base, unit Timestamp) (_ []Timestamp, ok bool) {
	n := len(dst)
	dst = slices.Grow(dst, len(ints))[:n+len(ints)]
	out := dst[n:]
	for i, t := range ints {
		if t <= previous {
			return dst[:n], false
		}
		previous = t
		out[i] = base + Timestamp(t)*unit
	}
	return dst, previous <= last
}

// appendVectorValues appends the values from measure number from on, a format 2 chunk's.
func (c *rawChunk) appendVectorValues(dst []float64, from int, s *scratch) ([]float64, error) {
	base := len(dst)
	dst = slices.Grow(dst, c.n-from)
	src := c.columns
	for first := 0; first < c.n; first += vectorLen {
		length, rest, ok := intcodec.ConsumeUvarint(src)
		if !ok || length > uint64(len(rest)) {
			return dst[:base], corrupt("values are cut short")
		}
		body := rest[:length]
		src = rest[length:]
		n := min(vectorLen, c.n-first)
		if first+n <= from {
			continue
		}
		if !s.decodeRawValues(n, body) {
			return dst[:base], corrupt("values")
		}
		dst = append(dst, s.vector[max(from-first, 0):n]...)
	}
	if len(src) > 0 {
		return dst[:base], corrupt("%d bytes after the end of a chunk", len(src))
	}
	return dst, nil
}

// decodeRawValues decodes a vector column of n values, of a raw series, into s.vector.
func (s *scratch) decodeRawValues(n int, src []byte) bool {
	codec := s.vectorCodec()
	none := &codec.families[0].family
	none.known, none.hasRange = false, false
	return codec.decodeVectorColumn(s.vector[:n], src, none, n, 0)
}
