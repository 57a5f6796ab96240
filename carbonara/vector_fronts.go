package carbonara

import (
	"encoding/binary"
	"math"
	"slices"
)

// Floats that are no decimals have few signs and exponents, and mantissas that do not compress. vectorFronts keeps the
// different fronts, their 12 leading bits, in a list; of each value its place there, and the 52 bits of the mantissa:
//
//	number    1 byte: of fronts, 1 to 16
//	fronts    2 bytes each, little endian, the most frequent one first
//	places    a stream
//	mantissas a stream
//
// It stands in place of the integers.
const (
	mantissaBits = 52
	maxFronts    = 16
)

// frontEncoder is the memory of appendFronts.
type frontEncoder struct {
	counts [1 << (64 - mantissaBits)]uint16 // 0 between calls
	fronts []uint16
	places [1 << (64 - mantissaBits)]uint8
}

// appendFronts appends values by their fronts and mantissas; ok is false if too many are of other fronts than the list
// holds.
func (c *vectorCodec) appendFronts(dst []byte, values []float64) (_ []byte, ok bool) {
	if c.fronts == nil {
		c.fronts = new(frontEncoder)
	}
	f := c.fronts
	f.fronts = f.fronts[:0]
	for _, v := range values {
		front := uint16(math.Float64bits(v) >> mantissaBits)
		if f.counts[front] == 0 {
			f.fronts = append(f.fronts, front)
		}
		f.counts[front]++
	}
	slices.SortFunc(f.fronts, func(a, b uint16) int {
		if d := int(f.counts[b]) - int(f.counts[a]); d != 0 {
			return d
		}
		return int(a) - int(b)
	})
	others := 0
	for i, front := range f.fronts {
		if i >= maxFronts {
			others += int(f.counts[front])
		}
		f.counts[front] = 0
		f.places[front] = uint8(min(i, maxFronts))
	}
	if others > len(values)/32 {
		return dst, false
	}
	f.fronts = f.fronts[:min(len(f.fronts), maxFronts)]
	c.exceptions = c.exceptions[:0]
	ints, places := c.ints[:len(values)], c.residuals[:len(values)]
	for i, v := range values {
		b := math.Float64bits(v)
		place := f.places[b>>mantissaBits]
		if place == maxFronts {
			c.exceptions = append(c.exceptions, i)
			place = 0
		}
		ints[i], places[i] = int64(b&(1<<mantissaBits-1)), int64(place)
	}
	head := byte(vectorFronts)
	if len(c.exceptions) > 0 {
		head |= vectorExceptions
	}
	dst = appendZone(append(dst, head, 0), values)
	dst = append(dst, byte(len(f.fronts)))
	for _, front := range f.fronts {
		dst = binary.LittleEndian.AppendUint16(dst, front)
	}
	dst = c.streams.appendPlainStream(dst, places, 16)
	dst = c.streams.appendOneWidth(dst, ints, mantissaBits)
	if len(c.exceptions) > 0 {
		dst = appendExceptions(dst, c.exceptions, values)
	}
	return dst, true
}

// decodeFronts fills out with floats told by fronts and mantissas, of so many groups those from from on, and returns what
// follows these.
func (c *vectorCodec) decodeFronts(out []float64, src []byte, groups, from int) (rest []byte, ok bool) {
	if len(src) == 0 || src[0] == 0 || src[0] > maxFronts || len(src) < 1+2*int(src[0]) {
		return nil, false
	}
	var fronts [maxFronts]uint64
	n := int(src[0])
	for i := range n {
		front := binary.LittleEndian.Uint16(src[1+2*i:])
		if front>>(64-mantissaBits) != 0 {
			return nil, false
		}
		fronts[i] = uint64(front) << mantissaBits
	}
	places, mantissas := c.residuals[:groups], c.ints[:groups]
	src, ok = decodeStream(places, src[1+2*n:], nil)
	if !ok {
		return nil, false
	}
	if src, ok = decodeStream(mantissas, src, nil); !ok {
		return nil, false
	}
	mantissas = mantissas[from : from+len(out)]
	places = places[from : from+len(out)]
	known := uint64(1)<<mantissaBits - 1
	greatest, bits := uint64(0), uint64(0)
	for i := range out {
		place, mantissa := places[i], uint64(mantissas[i])
		greatest, bits = max(greatest, uint64(place)), bits|mantissa
		out[i] = math.Float64frombits(fronts[place&(maxFronts-1)] | mantissa)
	}
	return src, greatest < uint64(n) && bits <= known
}
