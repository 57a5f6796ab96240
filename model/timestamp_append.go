package model

import (
	"encoding/binary"

	"gnocco/carbonara"
)

// AppendTimestamp writes t as answers about measures have it, 2014-10-06T14:33:57+00:00: whole seconds, the rest cut.
// t must be valid.
func AppendTimestamp(dst []byte, t carbonara.Timestamp) []byte {
	seconds := uint64(t) / 1e9
	days, second := uint32(seconds/86400), uint32(seconds%86400)

	// From the day to the date in 32-bit multiplications and shifts: Neri and Schneider, "Euclidean affine functions
	// and their application to calendar algorithms", 2022. Years run from March.
	n1 := 4*(days+719468) + 3
	century, n2 := n1/146097, n1%146097|3
	p2 := uint64(2939745) * uint64(n2)
	yearOfCentury := uint32(p2 >> 32)
	dayOfYear := uint32(p2) / 2939745 / 4
	n3 := 2141*dayOfYear + 197913
	year, month, day := 100*century+yearOfCentury, n3>>16, n3&0xffff/2141+1
	if dayOfYear >= 306 {
		year++
		month -= 12
	}

	const shape = "0000-00-00T00:00:00+00:00"
	start := len(dst)
	dst = append(dst, shape...)
	b := dst[start : start+len(shape)]
	putPair(b, 0, year/100)
	putPair(b, 2, year%100)
	putPair(b, 5, month)
	putPair(b, 8, day)
	putPair(b, 11, second/3600)
	putPair(b, 14, second/60%60)
	putPair(b, 17, second%60)
	return dst
}

// putPair writes n < 100 as two digits.
func putPair(b []byte, at int, n uint32) {
	tens := n * 103 >> 10 // n / 10 for n < 179
	binary.LittleEndian.PutUint16(b[at:], uint16(zeros&0xffff+tens+(n-10*tens)<<8))
}
