package model

import (
	"encoding/binary"
	"strconv"

	"github.com/gnocco-db/gnocco/carbonara"
)

// AppendTimestamp writes t as answers about measures have it: 2014-10-06T14:33:57+00:00, or, between two seconds, with
// six digits of a fraction, nine if these do not suffice: 2014-10-06T14:33:57.500000+00:00. t must be valid.
func AppendTimestamp(dst []byte, t carbonara.Timestamp) []byte {
	start := len(dst)
	dst = append(dst, timestampShape...)
	seconds, nanos := uint64(t)/1e9, uint64(t)%1e9
	putDate(dst[start:], uint32(seconds/86400))
	putTime(dst[start:], uint32(seconds%86400))
	if nanos == 0 {
		return dst
	}
	dst = dst[:len(dst)-len(utc)]
	return append(appendFraction(dst, nanos), utc...)
}

// appendFraction writes nanoseconds as a fraction of a second: a point and six digits, nine if these do not suffice.
func appendFraction(dst []byte, nanos uint64) []byte {
	point := len(dst)
	dst = strconv.AppendUint(dst, 1e9+nanos, 10)
	dst[point] = '.'
	if nanos%1000 == 0 {
		dst = dst[:len(dst)-3]
	}
	return dst
}

const (
	timestampShape = "0000-00-00T00:00:00" + utc
	utc            = "+00:00"
)

// TimestampText is one timestamp after the other, whole seconds as AppendTimestamp writes them, in the same memory: of
// the same day, only the time is written anew.
type TimestampText struct {
	text     []byte
	midnight uint64 // seconds; of the date in text
}

// NewTimestampText makes all of text the text of t, which must be valid and a whole second. It has the length that
// AppendTimestamp appends.
func NewTimestampText(text []byte, t carbonara.Timestamp) TimestampText {
	x := TimestampText{text: text[:len(timestampShape):len(timestampShape)]}
	AppendTimestamp(text[:0], t/1e9*1e9)
	x.midnight = uint64(t) / 86400e9 * 86400
	return x
}

// Set makes it the text of t, which must be valid, without the fraction of a second, and reports whether t has none.
func (x *TimestampText) Set(t carbonara.Timestamp) (whole bool) {
	seconds := uint64(t) / 1e9
	if second := seconds - x.midnight; second < 86400 {
		putTime(x.text, uint32(second))
	} else {
		*x = NewTimestampText(x.text, t)
	}
	return uint64(t) == seconds*1e9
}

// Len returns the length of the text.
func (x *TimestampText) Len() int { return len(x.text) }

// putTime writes the second of a day.
func putTime(b []byte, second uint32) {
	putPair(b, 11, second/3600)
	putPair(b, 14, second/60%60)
	putPair(b, 17, second%60)
}

// putDate writes the date of a day since 1970.
func putDate(b []byte, days uint32) {
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
	putPair(b, 0, year/100)
	putPair(b, 2, year%100)
	putPair(b, 5, month)
	putPair(b, 8, day)
}

// putPair writes n < 100 as two digits.
func putPair(b []byte, at int, n uint32) {
	tens := n * 103 >> 10 // n / 10 for n < 179
	binary.LittleEndian.PutUint16(b[at:], uint16(zeros&0xffff+tens+(n-10*tens)<<8))
}
