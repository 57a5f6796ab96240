package carbonara

import (
	"encoding/binary"
	"math"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
)

// Floats that are no decimals have few signs and exponents, and mantissas that do not compress. vectorPrefixes keeps
// the different prefixes, their 12 leading bits, in a list; of each value its place there, and the 52 bits of the
// mantissa:
//
//	number    1 byte: of prefixes, 1 to 16
//	prefixes  2 bytes each, little endian, the most frequent one first
//	places    a stream
//	mantissas a stream
//
// It stands in place of the integers.
const (
	mantissaBits = 52
	maxPrefixes  = 16
)

// prefixEncoder is the memory of appendPrefixes.
type prefixEncoder struct {
	counts   [1 << (64 - mantissaBits)]uint16 // 0 between calls
	prefixes []uint16
	places   [1 << (64 - mantissaBits)]uint8
}

// appendPrefixes appends values by their prefixes and mantissas; ok is false if too many are of other prefixes than the
// list holds.
func (c *vectorCodec) appendPrefixes(dst []byte, values []float64) (_ []byte, ok bool) {
	if c.prefixes == nil {
		c.prefixes = new(prefixEncoder)
	}
	f := c.prefixes
	f.prefixes = f.prefixes[:0]
	for _, v := range values {
		prefix := uint16(math.Float64bits(v) >> mantissaBits)
		if f.counts[prefix] == 0 {
			f.prefixes = append(f.prefixes, prefix)
		}
		f.counts[prefix]++
	}
	slices.SortFunc(f.prefixes, func(a, b uint16) int {
		if d := int(f.counts[b]) - int(f.counts[a]); d != 0 {
			return d
		}
		return int(a) - int(b)
	})
	others := 0
	for i, prefix := range f.prefixes {
		if i >= maxPrefixes {
			others += int(f.counts[prefix])
		}
		f.counts[prefix] = 0
		f.places[prefix] = uint8(min(i, maxPrefixes))
	}
	if others > len(values)/32 {
		return dst, false
	}
	f.prefixes = f.prefixes[:min(len(f.prefixes), maxPrefixes)]
	c.exceptions = c.exceptions[:0]
	ints, places := c.ints[:len(values)], c.residuals[:len(values)]
	for i, v := range values {
		b := math.Float64bits(v)
		place := f.places[b>>mantissaBits]
		if place == maxPrefixes {
			c.exceptions = append(c.exceptions, i)
			place = 0
		}
		ints[i], places[i] = int64(b&(1<<mantissaBits-1)), int64(place)
	}
	head := byte(vectorPrefixes)
	if len(c.exceptions) > 0 {
		head |= vectorExceptions
	}
	dst = appendZone(append(dst, head, 0), values)
	dst = append(dst, byte(len(f.prefixes)))
	for _, prefix := range f.prefixes {
		dst = binary.LittleEndian.AppendUint16(dst, prefix)
	}
	dst = c.streams.AppendUndifferenced(dst, places, 16)
	dst = c.streams.AppendOneWidth(dst, ints, mantissaBits)
	if len(c.exceptions) > 0 {
		dst = appendExceptions(dst, c.exceptions, values)
	}
	return dst, true
}

// decodePrefixes fills out with floats told by prefixes and mantissas, of so many groups those from from on, and
// returns what follows these.
func (c *vectorCodec) decodePrefixes(out []float64, src []byte, groups, from int) (rest []byte, ok bool) {
	if len(src) == 0 || src[0] == 0 || src[0] > maxPrefixes || len(src) < 1+2*int(src[0]) {
		return nil, false
	}
	var prefixes [maxPrefixes]uint64
	n := int(src[0])
	for i := range n {
		prefix := binary.LittleEndian.Uint16(src[1+2*i:])
		if prefix>>(64-mantissaBits) != 0 {
			return nil, false
		}
		prefixes[i] = uint64(prefix) << mantissaBits
	}
	places, mantissas := c.residuals[:groups], c.ints[:groups]
	src, ok = intcodec.Decode(places, src[1+2*n:], nil)
	if !ok {
		return nil, false
	}
	if src, ok = intcodec.Decode(mantissas, src, nil); !ok {
		return nil, false
	}
	mantissas = mantissas[from : from+len(out)]
	places = places[from : from+len(out)]
	known := uint64(1)<<mantissaBits - 1
	greatest, bits := uint64(0), uint64(0)
	for i := range out {
		place, mantissa := places[i], uint64(mantissas[i])
		greatest, bits = max(greatest, uint64(place)), bits|mantissa
		out[i] = math.Float64frombits(prefixes[place&(maxPrefixes-1)] | mantissa)
	}
	return src, greatest < uint64(n) && bits <= known
}
