package model

import (
	"math"
	"strconv"
	"strings"
	"time"
)

// The errors of timespans, in Gnocchi's words. All are ErrInvalid.
var (
	ErrTimespanForm     error = timeError("Unable to parse timespan")
	ErrTimespanNegative error = timeError("Timespan must be positive")
	ErrTimespanTooLong  error = timeError("Timespan must be shorter than 292 years")
)

// ParseTimespan reads a timespan, which must be positive: a number of seconds, or what ParseSignedTimespan takes.
func ParseTimespan(s string) (time.Duration, error) {
	d, err := ParseSignedTimespan(s)
	if err == nil && d <= 0 {
		return 0, ErrTimespanNegative
	}
	return d, err
}

// ParseSignedTimespan reads a number of seconds, or one of these, with a sign before it or none:
//
//	1 week, 2 days 3h/4.5 mins 5s     any of the units, in this order; comma or slash between them or nothing
//	:ss   mm:ss   hh:mm:ss   dd:hh:mm:ss   1w 2 days, hh:mm:ss     seconds also with a fraction
//
// Decimals are read exactly; digits below a nanosecond are cut.
func ParseSignedTimespan(s string) (time.Duration, error) {
	trimmed := trimSpace(s)
	if d, ok := scanDecimal(trimmed); ok {
		ns, ok := d.scale(uint64(time.Second))
		if !ok {
			return 0, ErrTimespanTooLong
		}
		return time.Duration(ns), nil
	}
	if f, ok := parseNonFinite(trimmed); ok {
		if math.IsNaN(f) {
			return 0, ErrTimespanForm
		}
		return 0, ErrTimespanTooLong
	}
	sign := time.Duration(1)
	if trimmed != "" {
		switch trimmed[0] {
		case '-':
			sign = -1
			trimmed = trimmed[1:]
		case '+', '|': // the bar is a slip in Gnocchi's pattern; it means nothing
			trimmed = trimmed[1:]
		}
	}
	var t timespanText
	if !t.parse(trimSpace(trimmed)) {
		return 0, ErrTimespanForm
	}
	return t.duration(sign)
}

// timespanText is a timespan taken apart: the numbers as written, "" where a unit is missing.
type timespanText struct {
	fields [5]string
}

// The fields of a timespanText.
const (
	unitWeeks = iota
	unitDays
	unitHours
	unitMinutes
	unitSeconds
)

var timespanUnits = [5]struct {
	length time.Duration
	names  []string
}{
	{7 * 24 * time.Hour, []string{"w", "wk", "wks", "week", "weeks"}},
	{24 * time.Hour, []string{"d", "dy", "dys", "day", "days"}},
	{time.Hour, []string{"h", "hr", "hrs", "hour", "hours"}},
	{time.Minute, []string{"m", "min", "mins", "minute", "minutes"}},
	{time.Second, []string{"s", "sec", "secs", "second", "seconds"}},
}

// parse takes s apart; false if it is in no known shape.
func (t *timespanText) parse(s string) bool {
	if s == "" {
		return false
	}
	for unit := range timespanUnits {
		if unit == unitHours && strings.Contains(s, ":") {
			return t.parseClock(s)
		}
		number, rest, ok := cutUnit(s, timespanUnits[unit].names)
		if !ok {
			continue
		}
		t.fields[unit], s = number, rest
		if unit == unitSeconds {
			break
		}
		s = strings.TrimLeftFunc(s, isSpaceRune)
		if s != "" && (s[0] == ',' || s[0] == '/') {
			s = strings.TrimLeftFunc(s[1:], isSpaceRune)
		}
	}
	return s == ""
}

// parseClock reads hh:mm:ss; or, if neither weeks nor days were given before it, a longer or shorter clock.
func (t *timespanText) parseClock(s string) bool {
	parts := strings.Split(s, ":")
	alone := t.fields[unitWeeks] == "" && t.fields[unitDays] == ""
	last := parts[len(parts)-1]
	if len(parts) > 4 || len(parts) != 3 && !alone || !isClockSeconds(last) {
		return false
	}
	first := parts[0]
	switch {
	case len(parts) == 2 && (first == "" || len(first) <= 2 && isDigits(first)):
	case len(parts) > 2 && first != "" && isDigits(first):
		for _, middle := range parts[1 : len(parts)-1] {
			if len(middle) != 2 || !isDigits(middle) {
				return false
			}
		}
	default:
		return false
	}
	copy(t.fields[len(t.fields)-len(parts):], parts)
	return true
}

// duration adds up the fields.
func (t *timespanText) duration(sign time.Duration) (time.Duration, error) {
	var sum time.Duration
	fractions := false
	for unit, number := range t.fields {
		if number == "" {
			continue
		}
		d, ok := scanDecimal(number)
		if !ok {
			return 0, ErrTimespanForm
		}
		if unit == unitSeconds && fractions && isDigits(number) {
			// Gnocchi's code, which decides: beside whole seconds, fractions of larger units are cut to whole
			// seconds, and the sign is not that of the seconds.
			return addSeconds(sign*sum.Truncate(time.Second), d)
		}
		ns, ok := d.scale(uint64(timespanUnits[unit].length))
		if !ok || sum+time.Duration(ns) < sum {
			return 0, ErrTimespanTooLong
		}
		sum += time.Duration(ns)
		fractions = fractions || !isDigits(number)
	}
	if fractions && t.fields[unitSeconds] == "" {
		sum = sum.Truncate(time.Second)
	}
	return sign * sum, nil
}

// addSeconds returns d + seconds.
func addSeconds(d time.Duration, seconds scanned) (time.Duration, error) {
	ns, ok := seconds.scale(uint64(time.Second))
	if !ok || d+time.Duration(ns) < d {
		return 0, ErrTimespanTooLong
	}
	return d + time.Duration(ns), nil
}

// cutUnit cuts a number and one of the names off s; white space may stand between them.
func cutUnit(s string, names []string) (number, rest string, ok bool) {
	number = s[:len(s)-len(strings.TrimLeft(s, "0123456789."))]
	rest = strings.TrimLeftFunc(s[len(number):], isSpaceRune)
	letters := 0
	for letters < len(rest) && rest[letters]|0x20-'a' < 26 {
		letters++
	}
	if number == "" {
		return "", s, false
	}
	for _, name := range names {
		if strings.EqualFold(rest[:letters], name) {
			return number, rest[letters:], true
		}
	}
	return "", s, false
}

// isClockSeconds reports whether s is two digits, perhaps with a fraction.
func isClockSeconds(s string) bool {
	whole, fraction, pointed := strings.Cut(s, ".")
	return len(whole) == 2 && isDigits(whole) && (!pointed || fraction != "" && isDigits(fraction))
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

func isSpaceRune(r rune) bool { return r < 0x80 && isSpace(byte(r)) }

// FormatTimespan writes d as Python writes a timedelta, which is how archive policies show it: "1:00:00", "365 days,
// 0:00:00", "0:00:00.500000". A timedelta ends at microseconds; a finer d has nine digits. d must not be negative.
func FormatTimespan(d time.Duration) string {
	text := make([]byte, 0, 32)
	if day := int64(d / (24 * time.Hour)); day > 0 {
		text = strconv.AppendInt(text, day, 10)
		text = append(text, " day"...)
		if day != 1 {
			text = append(text, 's')
		}
		text = append(text, ", "...)
	}
	s := int64(d / time.Second % 86400)
	text = strconv.AppendInt(text, s/3600, 10)
	text = append(text, ':', byte('0'+s/600%6), byte('0'+s/60%10), ':', byte('0'+s/10%6), byte('0'+s%10))
	if fraction := d % time.Second; fraction > 0 {
		text = appendFraction(text, uint64(fraction))
	}
	return string(text)
}
