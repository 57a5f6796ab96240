package incoming

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/gnocco-db/gnocco/internal/decimal"
)

// The values of one metric in a block: an exponent e (1), then, if it is at most maxExponent, each value times 10^e as
// a zigzag varint, less the one before it; if it is plainValues, 8 bytes each. A metric without measures takes nothing.
const (
	maxExponent = 10
	plainValues = 0xff
)

// maxMantissa bounds what is divided by a power of ten: both are exact as float64, so that their quotient is the
// float64 next to the decimal number, the same on every machine.
const maxMantissa = 1 << 53

// mantissa returns i if v is bit for bit float64(i) / 10^e.
func mantissa(v float64, e int) (i int64, ok bool) {
	if e == 0 {
		i = int64(v)
	} else {
		i = int64(math.RoundToEven(v * decimal.FloatPowers[e]))
	}
	return i, i <= maxMantissa && i >= -maxMantissa && float64(i)/decimal.FloatPowers[e] == v &&
		(i != 0 || math.Float64bits(v) == 0)
}

// putValues writes the values of a metric at buf[at:], which has room, and returns where they end.
func putValues(buf []byte, at int, values []float64) int {
	if len(values) == 0 {
		return at
	}
	for e := 0; e >= 0; {
		var end int
		if end, e = putDecimals(buf, at, values, e); e < 0 {
			return end
		} else if e > maxExponent {
			break
		}
	}
	buf[at] = plainValues
	at++
	for _, v := range values {
		binary.LittleEndian.PutUint64(buf[at:], math.Float64bits(v))
		at += 8
	}
	return at
}

// putDecimals writes values at the exponent e; if one does not fit, it returns the exponent to try next.
func putDecimals(buf []byte, at int, values []float64, e int) (end, next int) {
	buf[at] = byte(e)
	at++
	before := int64(0)
	for _, v := range values {
		i, ok := mantissa(v, e)
		if !ok {
			return 0, raiseExponent(v, e)
		}
		at = putZigzag(buf, at, i-before)
		before = i
	}
	return at, -1
}

// maxQuickDecimal is a bound below which v*10^maxExponent is rounded to the right integer for certain.
const maxQuickDecimal = 200_000

// raiseExponent returns the least exponent above e at which v fits, one above maxExponent if there is none.
func raiseExponent(v float64, e int) int {
	if math.Abs(v) < maxQuickDecimal {
		// A value that fits at any exponent fits at the greatest one: most floats that are no decimals are refused
		// here.
		if _, ok := mantissa(v, maxExponent); !ok {
			return maxExponent + 1
		}
	}
	for e++; e <= maxExponent; e++ {
		if _, ok := mantissa(v, e); ok {
			return e
		}
	}
	return e
}

// consumeValues reads the values of a metric off src.
func consumeValues(values []float64, src []byte) (rest []byte, err error) {
	if len(values) == 0 {
		return src, nil
	}
	if len(src) == 0 {
		return nil, fmt.Errorf("%w: values", errCorrupt)
	}
	e := src[0]
	src = src[1:]
	if e == plainValues {
		if len(src) < 8*len(values) {
			return nil, fmt.Errorf("%w: values", errCorrupt)
		}
		for i := range values {
			values[i] = math.Float64frombits(binary.LittleEndian.Uint64(src[8*i:]))
		}
		return src[8*len(values):], nil
	}
	if e > maxExponent {
		return nil, fmt.Errorf("%w: exponent of values", errCorrupt)
	}
	power, i := decimal.FloatPowers[e], int64(0)
	for j := range values {
		var d int64
		var ok bool
		if d, src, ok = zigzag(src); !ok {
			return nil, fmt.Errorf("%w: values", errCorrupt)
		}
		i += d
		values[j] = float64(i) / power
	}
	return src, nil
}
