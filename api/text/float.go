package text

import (
	"math"
	"strconv"
)

// Seconds is a number that JSON shows with a point, such as a granularity in an error.
type Seconds float64

func (s Seconds) MarshalJSON() ([]byte, error) { return AppendFloat(nil, float64(s)), nil }

// AppendFloat appends f as Python's repr writes it: the shortest text that reads back as f, always with a point or an
// exponent. NaN and infinities get Gnocchi's words, although strict JSON has none.
func AppendFloat(dst []byte, f float64) []byte {
	size := math.Abs(f)
	switch {
	case size < 1e15 && f == math.Trunc(f) && (f != 0 || !math.Signbit(f)):
		if f < 0 {
			dst = append(dst, '-')
		}
		return append(appendWhole(dst, uint64(size)), '.', '0')
	case size == 0 || size >= 1e-4 && size < 1e16:
		at := len(dst)
		if size >= 1e-4 && size < 1e15 {
			if f < 0 {
				dst = append(dst, '-')
			}
			var ok bool
			if dst, ok = appendShortest(dst, size); ok {
				return dst
			}
			dst = dst[:at]
		}
		dst = strconv.AppendFloat(dst, f, 'f', -1, 64)
		for _, c := range dst[at:] {
			if c == '.' {
				return dst
			}
		}
		return append(dst, '.', '0')
	case math.IsNaN(f):
		return append(dst, "NaN"...)
	case math.IsInf(f, 1):
		return append(dst, "Infinity"...)
	case math.IsInf(f, -1):
		return append(dst, "-Infinity"...)
	}
	return strconv.AppendFloat(dst, f, 'e', -1, 64)
}
