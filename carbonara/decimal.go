package carbonara

import (
	"math"

	"github.com/gnocco-db/gnocco/internal/decimal"
)

// maxExponent is the greatest e for which a value is tried as an integer divided by 10^e.
const maxExponent = 10

const (
	// maxDecimal bounds integers at an exponent above 0: they and the powers are exact as float64, so that their
	// quotient is the float64 next to the decimal number, the same on every machine.
	maxDecimal = 1 << 53
	// maxInteger bounds integers at exponent 0, where any float64 that is whole survives. It leaves room for deltas.
	maxInteger = 1 << 62
	// maxQuickDecimal is a bound below which v*10^10 is rounded to the right integer for certain.
	maxQuickDecimal = 200_000
)

// nanBits is the NaN that this package and strconv produce. It marks absent values and is stored as a hole; other NaNs
// keep their payload as floats.
const nanBits = 0x7FF8000000000001

// integer returns i if v is bit for bit float64(i) / 10^e.
func integer(v float64, e int) (i int64, ok bool) {
	if e == 0 {
		i = int64(v)
		return i, float64(i) == v && (i != 0 || math.Float64bits(v) == 0) && i < maxInteger && i > -maxInteger
	}
	i = int64(math.RoundToEven(v * decimal.FloatPowers[e]))
	return i, i <= maxDecimal && i >= -maxDecimal && float64(i)/decimal.FloatPowers[e] == v &&
		(i != 0 || math.Float64bits(v) == 0)
}

// appendIntegers finds the least exponent e at which every value that is not a hole is an integer divided by 10^e, and
// appends these integers. ok is false if there is none.
func appendIntegers(ints []int64, values []float64) (_ []int64, e, holes int, ok bool) {
	base, greatest := len(ints), int64(0)
	for _, v := range values {
		i, fits := integer(v, e)
		if !fits {
			if math.Float64bits(v) == nanBits {
				holes++
				continue
			}
			was := e
			if i, e, fits = raiseExponent(v, e); !fits {
				return ints[:base], 0, 0, false
			}
			// i/10^was and i*10^k/10^(was+k) are the same number, so what fitted still does.
			factor := int64(decimal.Powers[e-was])
			if greatest > maxDecimal/factor {
				return ints[:base], 0, 0, false
			}
			for j := base; j < len(ints); j++ {
				ints[j] *= factor
			}
			greatest *= factor
		}
		greatest = max(greatest, i, -i)
		ints = append(ints, i)
	}
	return ints, e, holes, true
}

// raiseExponent returns the least exponent above e at which v fits.
func raiseExponent(v float64, e int) (i int64, exponent int, ok bool) {
	if math.Abs(v) < maxQuickDecimal {
		// A value that fits at any exponent fits at the greatest one: most floats that are no decimals are refused
		// here.
		if _, ok := integer(v, maxExponent); !ok {
			return 0, 0, false
		}
	}
	for e++; e <= maxExponent; e++ {
		if i, ok := integer(v, e); ok {
			return i, e, true
		}
	}
	return 0, 0, false
}
