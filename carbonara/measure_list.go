package carbonara

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

// MeasureList holds measures in the order in which they were appended, most of them in two to five bytes: a measure is
// written as the difference from the one before, its value as a decimal number if it is one. It is for memory only.
//
// A measure is a byte and two integers of as many bytes as they need, the least significant first: the change of the
// step between two timestamps, and that of value*10^exponent, zigzag. The byte has the length of the first in its lower
// half, and above that the length of the second or:
//
//	9   a float64 follows in its place
//	10  no measure: a byte follows, the exponent of values from here on, of which the last one counts as 0
//
// The bytes lie in chunks, each of which begins anew: a long slice that grows is copied again and again, and with many
// cores that takes what memory can move.
type MeasureList struct {
	last       []byte // the chunk that grows
	time, step Timestamp
	decimal    int64  // the last decimal number, times 10^exponent
	n          uint32 // measures
	before     uint32 // of them, those before the last chunk
	exponent   uint8
	full       *[]measureChunk // oldest first; nil for none, as in most of many heads
}

// measureChunk is a chunk that is full.
type measureChunk struct {
	bytes  []byte
	before uint32
}

const (
	floatFollows    = 9
	exponentFollows = 10
	// noDecimals is the exponent behind a value that is no decimal number: to find that out again and again would cost.
	noDecimals = math.MaxUint8

	// measureChunkBytes is a size that a slice takes when it grows by appending, as the first chunk does.
	measureChunkBytes = 896
	// maxMeasureBytes are those of an exponent and a measure.
	maxMeasureBytes = 2 + 1 + 8 + 8
)

// Len returns the number of measures.
func (l *MeasureList) Len() int { return int(l.n) }

// Bytes returns how much memory the measures take.
func (l *MeasureList) Bytes() int { return cap(l.last) + len(l.chunks())*measureChunkBytes }

// chunks returns those that are full.
func (l *MeasureList) chunks() []measureChunk {
	if l.full == nil {
		return nil
	}
	return *l.full
}

// LastTimestamp returns that of the measure that was appended last.
func (l *MeasureList) LastTimestamp() Timestamp { return l.time }

// Touch reads the memory that Append writes to. The result means nothing.
func (l *MeasureList) Touch() int {
	if n := len(l.last); n > 0 {
		return int(l.last[n-1])
	}
	return 0
}

// Reset empties the list. It keeps its memory up to so many bytes.
func (l *MeasureList) Reset(keep int) {
	if cap(l.last) > keep {
		l.last = nil
	}
	*l = MeasureList{last: l.last[:0]}
}

// Append appends a measure.
func (l *MeasureList) Append(m Measure) {
	if len(l.last) > measureChunkBytes-maxMeasureBytes {
		if l.full == nil {
			l.full = new([]measureChunk)
		}
		*l.full = append(*l.full, measureChunk{l.last, l.before})
		*l = MeasureList{last: make([]byte, 0, measureChunkBytes), n: l.n, before: l.n, full: l.full}
	}
	step := m.Timestamp - l.time
	change := step - l.step
	l.time, l.step = m.Timestamp, step
	if l.n == l.before {
		l.step = 0 // the first one is no distance between measures
	}
	l.n++
	difference, length := l.difference(m.Value)
	at := intcodec.Zigzag(int64(change))
	atLength := byteLen(at)
	dst := appendLittleEndian(append(l.last, byte(atLength|length<<4)), at, atLength)
	l.last = appendLittleEndian(dst, difference, min(length, 8))
}

// byteLen returns the number of bytes that u needs.
func byteLen(u uint64) int { return (bits.Len64(u) + 7) / 8 }

// difference returns what is written of a value, and its length or floatFollows. It may write an exponent.
func (l *MeasureList) difference(v float64) (difference uint64, length int) {
	if l.exponent != noDecimals {
		i, ok := integer(v, int(l.exponent))
		if !ok {
			i, ok = l.raise(v)
		}
		if ok {
			difference = intcodec.Zigzag(i - l.decimal)
			l.decimal = i
			return difference, byteLen(difference)
		}
	}
	return math.Float64bits(v), floatFollows
}

// raise finds an exponent for a value that is no integer at the present one, and writes it.
func (l *MeasureList) raise(v float64) (i int64, ok bool) {
	i, exponent, ok := raiseExponent(v, int(l.exponent))
	switch {
	case ok:
		l.exponent, l.decimal = uint8(exponent), 0
		l.last = append(l.last, exponentFollows<<4, byte(exponent))
	case v == v: // not NaN, which means that there is no value
		l.exponent = noDecimals
	}
	return i, ok
}

// chunk returns the chunk with an index; the one that grows is the last.
func (l *MeasureList) chunk(i int) measureChunk {
	if full := l.chunks(); i < len(full) {
		return full[i]
	}
	return measureChunk{l.last, l.before}
}

// AppendTo appends the measures from index i on to dst.
func (l *MeasureList) AppendTo(dst []Measure, i int) []Measure {
	chunk, last, from := len(l.chunks()), len(l.chunks()), len(dst)
	for int(l.chunk(chunk).before) > i {
		chunk--
	}
	before := int(l.chunk(chunk).before)
	for dst = slices.Grow(dst, l.Len()-before); chunk <= last; chunk++ {
		dst = appendMeasures(dst, l.chunk(chunk).bytes)
	}
	return slices.Delete(dst, from, from+i-before)
}

// AppendBetween appends the measures to dst. If timestamps ascend, it may leave out those before from, and from to on.
func (l *MeasureList) AppendBetween(dst []Measure, from, to Timestamp) []Measure {
	chunk, last := len(l.chunks()), len(l.chunks())
	for chunk > 0 && firstTimestamp(l.chunk(chunk).bytes) > from {
		chunk--
	}
	for ; chunk <= last && l.n > 0 && firstTimestamp(l.chunk(chunk).bytes) < to; chunk++ {
		dst = appendMeasures(dst, l.chunk(chunk).bytes)
	}
	return dst
}

// firstTimestamp returns that of the first measure of a chunk.
func firstTimestamp(src []byte) Timestamp {
	if src[0] == exponentFollows<<4 {
		src = src[2:]
	}
	return Timestamp(intcodec.Unzigzag(littleEndian(src[1:], int(src[0]&15))))
}

// appendMeasures appends the measures of a chunk to dst.
func appendMeasures(dst []Measure, src []byte) []Measure {
	var m Measure
	var step Timestamp
	var i int64
	exponent := uint8(0)
	for first := true; len(src) > 0; first = false {
		if src[0] == exponentFollows<<4 {
			exponent, i, src = src[1], 0, src[2:]
		}
		atLength, length := int(src[0]&15), int(src[0]>>4)
		src = src[1:]
		if atLength > 0 {
			step += Timestamp(intcodec.Unzigzag(littleEndian(src, atLength)))
			src = src[atLength:]
		}
		m.Timestamp += step
		if first {
			step = 0
		}
		if length == floatFollows {
			length = 8
			m.Value = math.Float64frombits(binary.LittleEndian.Uint64(src))
		} else {
			i += intcodec.Unzigzag(littleEndian(src, length))
			m.Value = float64(i) / decimal.FloatPowers[exponent]
		}
		src = src[length:]
		dst = append(dst, m)
	}
	return dst
}

// appendLittleEndian appends the n least significant bytes of u.
func appendLittleEndian(dst []byte, u uint64, n int) []byte {
	if cap(dst)-len(dst) >= 8 {
		return binary.LittleEndian.AppendUint64(dst, u)[:len(dst)+n]
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], u)
	return append(dst, b[:n]...)
}

// littleEndian returns the integer that the first n bytes of src are.
func littleEndian(src []byte, n int) uint64 {
	if len(src) < 8 {
		src = append(make([]byte, 0, 16), src...)[:8]
	}
	return binary.LittleEndian.Uint64(src) & (1<<(8*n) - 1)
}
