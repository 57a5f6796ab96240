package csv

import (
	"encoding/binary"
	"math"
	"strconv"
	"unsafe"

	"github.com/gnocco-db/gnocco/internal/decimal"
)

// parseNumber reads a decimal number that fills text, as strconv.ParseFloat does, but refuses hexadecimal, underscores
// and words. Too large a number is infinite, which is no number here.
func parseNumber(text []byte) (float64, bool) {
	i := 0
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		i = 1
	}
	var mantissa uint64
	digits, point, exponent := 0, -1, 0 // digits: significant ones in mantissa
	start := i
	for ; i < len(text); i++ {
		c := text[i]
		if d := c - '0'; d <= 9 {
			if point >= 0 && digits < 11 && i+8 <= len(text) {
				if eight, ok := parseEight(text[i:]); ok {
					mantissa = mantissa*100_000_000 + uint64(eight)
					digits += 8
					if mantissa < 100_000_000 {
						digits = significant(mantissa)
					}
					i += 7
					continue
				}
			}
			mantissa = mantissa*10 + uint64(d)
			if mantissa != 0 {
				if digits++; digits > 18 {
					return parseSlowly(text)
				}
			}
			continue
		}
		if c == '.' && point < 0 {
			point = i
			continue
		}
		break
	}
	end := i
	if end == start || end == start+1 && point >= 0 {
		return 0, false // no digit
	}
	if point >= 0 {
		exponent = point + 1 - end
	}
	if i < len(text) {
		if text[i]|0x20 != 'e' {
			return 0, false
		}
		written, ok := parseExponent(text[i+1:])
		if !ok {
			return 0, false
		}
		exponent += written
	}
	v, ok := decimal.Float(mantissa, exponent)
	if !ok {
		return parseScaled(text, mantissa, exponent, negative)
	}
	if negative {
		v = -v
	}
	return v, true
}

// significant counts the digits of a number below 1e8.
func significant(n uint64) (digits int) {
	for ; n > 0; n /= 10 {
		digits++
	}
	return digits
}

// parseEight reads eight digits at once, if that is what text begins with.
func parseEight(text []byte) (uint32, bool) {
	v := binary.LittleEndian.Uint64(text)
	if (v&0xf0f0f0f0f0f0f0f0)|((v+0x0606060606060606)&0xf0f0f0f0f0f0f0f0)>>4 != 0x3333333333333333 {
		return 0, false
	}
	v -= 0x3030303030303030
	v = v*10 + v>>8 // pairs
	const mask = 0x000000ff000000ff
	return uint32(((v&mask)*(100+1_000_000<<32) + (v>>16&mask)*(1+10_000<<32)) >> 32), true
}

// parseExponent reads what stands behind an e.
func parseExponent(text []byte) (int, bool) {
	negative := false
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		negative = text[0] == '-'
		text = text[1:]
	}
	if len(text) == 0 {
		return 0, false
	}
	exponent := 0
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		exponent = min(exponent*10+int(c-'0'), 100_000) // beyond that, all is 0 or too large
	}
	if negative {
		exponent = -exponent
	}
	return exponent, true
}

// parseSlowly leaves text to strconv, once it is sure to be a plain decimal number.
func parseSlowly(text []byte) (float64, bool) {
	for _, c := range text {
		if (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c|0x20 != 'e' {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(view(text), 64)
	return v, err == nil && !math.IsInf(v, 0)
}

// view is text as a string, for a call that does not keep it.
func view(text []byte) string { return unsafe.String(unsafe.SliceData(text), len(text)) }
