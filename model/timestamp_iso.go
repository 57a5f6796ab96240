package model

import (
	"encoding/binary"
	"time"
	"unsafe"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/decimal"
)

const (
	maxSeconds      = int64(carbonara.MaxTimestamp) / int64(time.Second)
	maxSecondsNanos = int64(carbonara.MaxTimestamp) % int64(time.Second)

	zeros    = 0x3030303030303030
	sixes    = 0x0606060606060606
	highHalf = 0xF0F0F0F0F0F0F0F0
)

// ParseISO reads the one shape that nearly all clients send, by position: 2006-01-02T15:04:05 (or with a space), then
// perhaps a point and 1 to 9 digits, then perhaps Z, +hh:mm or -hh:mm. False means only that s has another shape or
// is out of range, not that it is no timestamp: ask ParseTimestamp then.
func ParseISO(s string) (carbonara.Timestamp, bool) {
	if len(s) < len("2006-01-02T15:04:05") {
		return 0, false
	}
	b := unsafe.Slice(unsafe.StringData(s), len(s))
	// Three loads cover the 19 bytes; separators are turned into the digit 0 if they are what they must be, so that
	// every byte must then be a digit, and those bytes 0.
	x := binary.LittleEndian.Uint64(b) ^ sep(4, '-') ^ sep(7, '-')      // 2006-01-
	y := binary.LittleEndian.Uint64(b[8:]) ^ sep(5, ':')                // 02T15:04
	z := binary.LittleEndian.Uint64(b[11:]) ^ sep(2, ':') ^ sep(5, ':') // 15:04:05
	if b[10] == 'T' {
		y ^= sep(2, 'T')
	} else {
		y ^= sep(2, ' ')
	}
	x ^= zeros
	y ^= zeros
	z ^= zeros
	separators := x&(byteAt(4)|byteAt(7)) | y&(byteAt(2)|byteAt(5)) | z&(byteAt(2)|byteAt(5))
	if separators|(x|(x+sixes)|y|(y+sixes)|z|(z+sixes))&highHalf != 0 {
		return 0, false
	}
	// Pairs of digits: byte i of t holds 10 x digit i + digit i+1.
	tx, tz := x*10+x>>8, z*10+z>>8
	ty := y*10 + y>>8
	year := int64(tx&0xff)*100 + int64(tx>>16&0xff)
	month, day := int64(tx>>40&0xff), int64(ty&0xff)
	hour, minute, second := int64(tz&0xff), int64(tz>>24&0xff), int64(tz>>48&0xff)
	if uint64(month-1) > 11 || day == 0 || day > 28 && day > daysIn(year, month) ||
		hour > 23 || minute > 59 || second > 59 {
		return 0, false
	}
	seconds := daysFromCivil(year, month, day)*86400 + hour*3600 + minute*60 + second
	var nanos int64
	if len(s) > 19 {
		var ok bool
		if nanos, seconds, ok = isoTail(s[19:], seconds); !ok {
			return 0, false
		}
	}
	// One comparison for both ends, a second short of the last one, which the general parser decides.
	if uint64(seconds) >= uint64(maxSeconds) {
		return 0, false
	}
	return carbonara.Timestamp(seconds*int64(time.Second) + nanos), true
}

// sep returns what turns separator c at byte i of a load into the digit 0.
func sep(i int, c byte) uint64 { return uint64(c^'0') << (8 * i) }

// byteAt masks byte i of a load.
func byteAt(i int) uint64 { return 0xff << (8 * i) }

// isoTail reads the fraction and offset of ParseISO and applies the latter to seconds.
func isoTail(s string, seconds int64) (nanos, utc int64, ok bool) {
	i := 0
	if s[0] == '.' {
		for i = 1; i < len(s) && isDigit(s[i]); i++ {
			nanos = nanos*10 + int64(s[i]-'0')
			if i > 9 {
				return 0, 0, false
			}
		}
		if i == 1 {
			return 0, 0, false
		}
		nanos *= int64(decimal.Powers[10-i])
	}
	switch s = s[i:]; {
	case s == "" || s == "Z":
		return nanos, seconds, true
	case len(s) != len("+15:04") || s[0] != '+' && s[0] != '-' || s[3] != ':' ||
		!isDigit(s[1]) || !isDigit(s[2]) || !isDigit(s[4]) || !isDigit(s[5]):
		return 0, 0, false
	}
	hours, minutes := int64(s[1]-'0')*10+int64(s[2]-'0'), int64(s[4]-'0')*10+int64(s[5]-'0')
	if hours > 23 || minutes > 59 {
		return 0, 0, false
	}
	offset := hours*3600 + minutes*60
	if s[0] == '-' {
		offset = -offset
	}
	return nanos, seconds - offset, true
}

// parseISO reads the ISO 8601 that numpy.datetime64 reads: year, year-month, or a full date, then perhaps T or a space
// and hh, hh:mm, hh:mm:ss or that with a fraction of up to 18 digits, then perhaps Z or an offset (+hh, +hhmm, +hh:mm),
// then perhaps white space. Space and a sign may stand before the year.
func parseISO(s string) (carbonara.Timestamp, error) {
	p := isoParser{rest: s}
	for p.rest != "" && isSpace(p.rest[0]) {
		p.rest = p.rest[1:]
	}
	// Only a sign that is the very first byte counts, as there.
	negative := s != "" && s[0] == '-'
	if !p.accept('+') {
		p.accept('-')
	}
	year, month, day := p.year(), int64(1), int64(1)
	var hour, minute, second, nanos, offset int64
	if p.rest != "" && p.expect('-') {
		month = p.pair(1, 12)
		if p.rest != "" && p.expect('-') {
			day = p.pair(1, daysIn(year, month))
			if p.rest != "" {
				if !p.accept(' ') {
					p.expect('T')
				}
				hour = p.pair(0, 23)
				if p.accept(':') {
					minute = p.pair(0, 59)
					if p.accept(':') {
						second = p.pair(0, 59)
						if p.accept('.') {
							nanos = p.fraction()
						}
					}
				}
				offset = p.zone()
				for p.rest != "" && isSpace(p.rest[0]) {
					p.rest = p.rest[1:]
				}
			}
		}
	}
	if p.failed || p.rest != "" {
		return 0, ErrTimestampForm
	}
	if negative {
		return 0, ErrTimestampBeforeEpoch
	}
	seconds := daysFromCivil(year, month, day)*86400 + hour*3600 + minute*60 + second - offset
	switch {
	case seconds < 0:
		return 0, ErrTimestampBeforeEpoch
	case seconds > maxSeconds || seconds == maxSeconds && nanos > maxSecondsNanos:
		return 0, ErrTimestampTooLate
	}
	return carbonara.Timestamp(seconds*int64(time.Second) + nanos), nil
}

// isoParser consumes rest; once failed, what it returns means nothing.
type isoParser struct {
	rest   string
	failed bool
}

// accept consumes c if it comes next.
func (p *isoParser) accept(c byte) bool {
	if p.rest == "" || p.rest[0] != c {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

// expect consumes c, or fails.
func (p *isoParser) expect(c byte) bool {
	if !p.accept(c) {
		p.failed = true
	}
	return !p.failed
}

// year consumes any number of digits; years past 9999 become 9999, which is too late as well.
func (p *isoParser) year() (year int64) {
	digits := 0
	for ; digits < len(p.rest) && isDigit(p.rest[digits]); digits++ {
		year = min(year*10+int64(p.rest[digits]-'0'), 9999)
	}
	if digits == 0 {
		p.failed = true
	}
	p.rest = p.rest[digits:]
	return year
}

// pair consumes two digits that make a number from least to most.
func (p *isoParser) pair(least, most int64) int64 {
	if p.failed || len(p.rest) < 2 || !isDigit(p.rest[0]) || !isDigit(p.rest[1]) {
		p.failed = true
		return least
	}
	n := int64(p.rest[0]-'0')*10 + int64(p.rest[1]-'0')
	p.rest = p.rest[2:]
	if n < least || n > most {
		p.failed = true
		return least
	}
	return n
}

// fraction consumes up to 18 digits and returns nanoseconds.
func (p *isoParser) fraction() (nanos int64) {
	for i := range 18 {
		digit := int64(0)
		if p.rest != "" && isDigit(p.rest[0]) {
			digit = int64(p.rest[0] - '0')
			p.rest = p.rest[1:]
		}
		if i < 9 {
			nanos = nanos*10 + digit
		}
	}
	return nanos
}

// zone consumes a time zone, if one comes, and returns its offset from UTC in seconds.
func (p *isoParser) zone() int64 {
	if p.accept('Z') {
		return 0
	}
	negative := p.accept('-')
	if !negative && !p.accept('+') {
		return 0
	}
	offset := p.pair(0, 23) * 3600
	if p.rest != "" {
		p.accept(':')
		offset += p.pair(0, 59) * 60
	}
	if negative {
		return -offset
	}
	return offset
}

// daysFromCivil returns the days from 1970-01-01 to a date of the Gregorian calendar, year >= 0. Years are counted from
// March, so that the leap day is the last.
func daysFromCivil(year, month, day int64) int64 {
	y, m := uint32(year)+400, uint32(month) // +400: never negative
	if m <= 2 {
		y--
		m += 12
	}
	days := y*365 + y/4 - y/100 + y/400 + (153*m-457)/5 + uint32(day)
	const epoch = 719469 + 146097 // the same sum for 1970-01-01
	return int64(days) - epoch
}

// daysIn returns the length of a month.
func daysIn(year, month int64) int64 {
	switch {
	case month == 2 && year%4 == 0 && (year%100 != 0 || year%400 == 0):
		return 29
	case month == 2:
		return 28
	}
	return 30 + (month+month>>3)&1
}
