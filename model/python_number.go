package model

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
	"unicode"

	"github.com/gnocco-db/gnocco/internal/decimal"
)

// ParseNumber reads a number as a client may write it in a string, in the syntax of Python's float(): white space
// around it, a sign, digits with single underscores between them, a fraction, an exponent, "inf", "infinity" and "nan"
// in any case. Too large a number is infinite. Digits other than ASCII's are refused, unlike there.
func ParseNumber(s string) (float64, bool) {
	s = trimSpace(s)
	if f, ok := parseNonFinite(s); ok {
		return f, true
	}
	d, ok := scanDecimal(s)
	if !ok {
		return 0, false
	}
	if f, ok := decimal.Float(d.mantissa, d.exponent); ok { // so many digits were not cut
		if d.negative {
			f = -f
		}
		return f, true
	}
	// The syntax is checked, so the only error left is the range, whose value is the right infinity.
	f, _ := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	return f, true
}

// parseNonFinite reads the names of the numbers that are not finite.
func parseNonFinite(s string) (float64, bool) {
	negative := strings.HasPrefix(s, "-")
	name := s
	if negative || strings.HasPrefix(s, "+") {
		name = s[1:]
	}
	switch {
	case len(name) != len("nan") && len(name) != len("infinity"):
		return 0, false
	case strings.EqualFold(name, "nan"):
		return math.NaN(), true
	case !strings.EqualFold(name, "inf") && !strings.EqualFold(name, "infinity"):
		return 0, false
	case negative:
		return math.Inf(-1), true
	}
	return math.Inf(1), true
}

// scanned is a number as it is written, mantissa x 10^exponent, so that times are not rounded to a float64 on their
// way to nanoseconds. Digits after the 19th are cut.
type scanned struct {
	negative bool
	mantissa uint64
	exponent int
}

// maxExponent is where exponents stop growing: far beyond what any number of nanoseconds can make up for.
const maxExponent = 1 << 20

// scanDecimal reads all of s as [sign] digits [. digits] [e [sign] digits], with digits on at least one side of the
// point and underscores between digits.
func scanDecimal(s string) (d scanned, ok bool) {
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		d.negative = s[i] == '-'
		i++
	}
	digits, fraction := 0, false
	significant := 0
	for ; i < len(s); i++ {
		c := s[i]
		switch {
		case isDigit(c):
			digits++
			if significant < 19 {
				d.mantissa = d.mantissa*10 + uint64(c-'0')
				if d.mantissa > 0 {
					significant++
				}
				if fraction {
					d.exponent--
				}
			} else if !fraction {
				d.exponent++
			}
			continue
		case c == '.' && !fraction:
			fraction = true
			continue
		case c == '_' && betweenDigits(s, i):
			continue
		}
		break
	}
	if digits == 0 {
		return scanned{}, false
	}
	if i == len(s) {
		return d, true
	}
	exponent, ok := scanExponent(s[i:])
	d.exponent += exponent
	return d, ok
}

// scanExponent reads all of s as e [sign] digits.
func scanExponent(s string) (exponent int, ok bool) {
	if s[0] != 'e' && s[0] != 'E' {
		return 0, false
	}
	i := 1
	negative := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		negative = s[i] == '-'
		i++
	}
	if i == len(s) {
		return 0, false
	}
	for ; i < len(s); i++ {
		switch {
		case isDigit(s[i]):
			exponent = min(exponent*10+int(s[i]-'0'), maxExponent)
		case s[i] != '_' || !betweenDigits(s, i):
			return 0, false
		}
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

// scale returns d x unit, cut towards zero; false if it does not fit.
func (d scanned) scale(unit uint64) (int64, bool) {
	hi, lo := bits.Mul64(d.mantissa, unit)
	if hi == 0 && lo == 0 {
		return 0, true
	}
	exponent := d.exponent
	for ; exponent < 0 && (hi > 0 || lo > 0); exponent += min(-exponent, len(decimal.Powers)-1) {
		power := decimal.Powers[min(-exponent, len(decimal.Powers)-1)]
		rem := hi % power
		hi /= power
		lo, _ = bits.Div64(rem, lo, power)
	}
	for ; exponent > 0; exponent-- {
		var carry uint64
		carry, lo = bits.Mul64(lo, 10)
		if hi > 0 || carry > 0 {
			return 0, false
		}
	}
	if hi > 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if d.negative {
		return -int64(lo), true
	}
	return int64(lo), true
}

func isDigit(c byte) bool { return c-'0' <= 9 }

// betweenDigits reports whether s[i] has a digit on either side.
func betweenDigits(s string, i int) bool {
	return i > 0 && i+1 < len(s) && isDigit(s[i-1]) && isDigit(s[i+1])
}

// trimSpace removes what Python's float() removes around a number.
func trimSpace(s string) string {
	return strings.TrimFunc(s, func(r rune) bool {
		if r < 0x80 {
			return isSpace(byte(r))
		}
		return unicode.IsSpace(r)
	})
}

// isSpace is C's isspace.
func isSpace(c byte) bool { return c == ' ' || c-'\t' <= '\r'-'\t' }
