package text

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"

	"github.com/gnocco-db/gnocco/internal/decimal"
)

// decimalScale is how a float64 whose last bit is worth w = 2^-i becomes decimal: times 10^digits, which makes w times
// it at least 1 and less than 10, so that of the decimals between v's neighbours' middles one or more have as many
// digits after the point, and at most one has fewer.
type decimalScale struct {
	five   uint64 // 5^digits
	ten    uint64 // 10^digits, modulo 2^64
	shift  uint8  // i - digits + 1: bits after the point of a product of twice the mantissa and five
	digits uint8
}

// maxScale is the scale of 2^-14: the least power of two with numbers of 1e-4.
const maxScale = 66

// decimalScales are by i. All is exact: five has up to 47 bits, mantissas have 53.
var decimalScales = func() (scales [maxScale + 1]decimalScale) {
	for i := 1; i <= maxScale; i++ {
		s := decimalScale{five: 1, ten: 1}
		for bits.Len64(s.five) <= i-int(s.digits) { // 5^digits < 2^(i-digits), that is w times 10^digits < 1
			s.five, s.ten, s.digits = 5*s.five, 10*s.ten, s.digits+1
		}
		s.shift = uint8(i) - s.digits + 1
		scales[i] = s
	}
	return scales
}()

// appendShortest appends v as strconv does with 'f' and -1: the decimal of fewest digits that reads back as v. V is
// from 1e-4 to 1e15 and no integer; ok is false for powers of two, whose neighbours are not equally far. In this range
// 128 bits hold all that is compared, exactly, and one multiplication makes it.
//
// The decimals that read back as v lie up to half of w on both sides of it, those at the ends only if v's mantissa is
// even: ties are read as even. Times 10^digits, which the integers d stand for, that is five in units of 2^-shift. If a
// multiple of ten is among them, there is only one, and it is the one with fewest digits. Else it is the integer next
// to v, even if there are two.
func appendShortest(dst []byte, v float64) (_ []byte, ok bool) {
	raw := math.Float64bits(v)
	exponent, fraction := int(raw>>52), raw&(1<<52-1)
	i := 1075 - exponent
	if i < 1 || i > maxScale || fraction == 0 {
		return dst, false
	}
	s := &decimalScales[i]
	mantissa := fraction | 1<<52
	high, low := bits.Mul64(2*mantissa, s.five)
	unit := uint64(1) << s.shift
	d, rest := high<<(64-s.shift)|low>>s.shift, low&(unit-1)
	reach := s.five
	if mantissa&1 != 0 {
		reach-- // without the ends
	}
	// Which of the four it is cannot be foretold, and costs less to compute than to branch on.
	last := d % 10
	down := last*unit + rest
	up := 10*unit - down
	next, tens := d, d-last
	if rest+d&1 > unit/2 {
		next++
	}
	if up <= reach {
		tens += 10
	}
	if min(down, up) <= reach {
		next = tens
	}
	whole := uint64(v) // also the decimal's: an integer next to v would be v
	return appendFraction(appendWhole(dst, whole), next-whole*s.ten, int(s.digits)), true
}

// appendWhole appends n in decimal.
func appendWhole(dst []byte, n uint64) []byte {
	const eight = 1e8
	if n < 10 {
		return append(dst, '0'+byte(n))
	}
	if n < eight {
		text := spreadEight(n)
		leading := bits.TrailingZeros64(text) / 8
		at := len(dst)
		dst = slices.Grow(dst, 8)[:at+8]
		binary.LittleEndian.PutUint64(dst[at:], (text|asciiZeros)>>(8*leading))
		return dst[:at+8-leading]
	}
	dst = appendWhole(dst, n/eight)
	return binary.LittleEndian.AppendUint64(dst, spreadEight(n%eight)|asciiZeros)
}

// appendFraction appends a point and n, which is not 0, as so many digits, without zeros at the end.
func appendFraction(dst []byte, n uint64, digits int) []byte {
	dst = append(slices.Grow(dst, 24), '.')
	for ; digits > 16; digits-- {
		power := decimal.Powers[digits-1]
		dst = append(dst, '0'+byte(n/power))
		n %= power
	}
	n *= decimal.Powers[16-digits]
	at := len(dst)
	dst = dst[:at+16]
	first, second := spreadEight(n/1e8), n%1e8
	binary.LittleEndian.PutUint64(dst[at:], first|asciiZeros)
	if second == 0 {
		return dst[:at+8-bits.LeadingZeros64(first)/8]
	}
	second = spreadEight(second)
	binary.LittleEndian.PutUint64(dst[at+8:], second|asciiZeros)
	return dst[:at+16-bits.LeadingZeros64(second)/8]
}

const asciiZeros = 0x3030303030303030

// spreadEight returns the decimal digits of n < 1e8, one in each byte, the first in the lowest.
func spreadEight(n uint64) uint64 {
	n = n/10_000 + n%10_000<<32                   // two of four digits
	hundreds := n * 10_486 >> 20 & 0x7f_0000_007f // of each; 10,486 / 2^20 is a little above 1/100
	n = hundreds + (n-100*hundreds)<<16           // four of two
	tens := n * 103 >> 10 & 0x000f_000f_000f_000f // 103 / 2^10 is a little above 1/10
	return tens + (n-10*tens)<<8
}
