package model

import (
	"math"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// The errors of timestamps, in Gnocchi's words. All are ErrInvalid.
var (
	ErrTimestampForm        error = timeError("Unable to convert timestamps")
	ErrTimestampBeforeEpoch error = timeError("Timestamp must be after Epoch")
	ErrTimestampTooLate     error = timeError("Timestamp must be before 2262-04-12")
)

// timeError is an ErrInvalid whose text is only its own.
type timeError string

func (e timeError) Error() string { return string(e) }

func (e timeError) Unwrap() error { return ErrInvalid }

// A TimestampForm is one of the ways to write a timestamp. A list of measures is read in the form of its first one.
type TimestampForm uint8

// The forms, in the order in which they are tried.
const (
	TimestampNumber   TimestampForm = iota + 1 // seconds since 1970
	TimestampISO                               // see parseISO; "now" (whole seconds); "today"
	TimestampRelative                          // a timespan to add to the present: "-1 hour"
)

// TimestampFormOf tells which form s has. Any other text counts as relative, and that parser refuses it.
func TimestampFormOf(s string) TimestampForm {
	trimmed := trimSpace(s)
	if _, ok := scanDecimal(trimmed); ok {
		return TimestampNumber
	}
	if _, ok := parseNonFinite(trimmed); ok {
		return TimestampNumber
	}
	if _, err := TimestampISO.Parse(s, 0); err != ErrTimestampForm {
		return TimestampISO
	}
	return TimestampRelative
}

// ParseTimestamp reads s in any of the forms.
//
// It differs from Gnocchi where that takes a timestamp and stores another, or none: numbers are read as decimals, to
// the nanosecond, not by way of a float64 (1412609637.123456789 is not …768); "", NaN, infinities and times beyond 2262
// or, in ISO form, before 1678 are errors. Where text allows no exact reading, digits below the nanosecond are cut.
func ParseTimestamp(s string, now carbonara.Timestamp) (carbonara.Timestamp, error) {
	if t, ok := ParseISO(s); ok {
		return t, nil
	}
	return TimestampFormOf(s).Parse(s, now)
}

// Parse reads s in form f only. Its errors are the three of timestamps.
func (f TimestampForm) Parse(s string, now carbonara.Timestamp) (carbonara.Timestamp, error) {
	switch f {
	case TimestampNumber:
		return parseSeconds(s)
	case TimestampISO:
		if t, ok := ParseISO(s); ok {
			return t, nil
		}
		switch {
		case strings.EqualFold(s, "now"):
			return now.Floor(time.Second), nil
		case strings.EqualFold(s, "today"):
			return now.Floor(24 * time.Hour), nil
		}
		return parseISO(s)
	}
	d, err := ParseSignedTimespan(s)
	if err != nil {
		return 0, ErrTimestampForm
	}
	return addRelative(now, d)
}

// addRelative returns now + d, or the error of a timestamp out of range.
func addRelative(now carbonara.Timestamp, d time.Duration) (carbonara.Timestamp, error) {
	sum := now + carbonara.Timestamp(d)
	switch {
	case d > 0 && sum < now:
		return 0, ErrTimestampTooLate
	case sum < 0:
		return 0, ErrTimestampBeforeEpoch
	}
	return sum, nil
}

func parseSeconds(s string) (carbonara.Timestamp, error) {
	s = trimSpace(s)
	d, ok := scanDecimal(s)
	if !ok {
		f, ok := parseNonFinite(s)
		switch {
		case !ok || math.IsNaN(f):
			return 0, ErrTimestampForm
		case f < 0:
			return 0, ErrTimestampBeforeEpoch
		}
		return 0, ErrTimestampTooLate
	}
	ns, ok := d.scale(uint64(time.Second))
	switch {
	case d.negative && (!ok || ns < 0):
		return 0, ErrTimestampBeforeEpoch
	case !ok:
		return 0, ErrTimestampTooLate
	}
	return carbonara.Timestamp(ns), nil
}
