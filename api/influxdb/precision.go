package influxdb

import (
	"math"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Precision is the unit of timestamps.
type Precision time.Duration

// ParsePrecision reads the parameter of that name, "" for nanoseconds.
func ParsePrecision(text string) (_ Precision, ok bool) {
	switch text {
	case "", "n", "ns":
		return Precision(time.Nanosecond), true
	case "u", "us", "µ":
		return Precision(time.Microsecond), true
	case "ms":
		return Precision(time.Millisecond), true
	case "s":
		return Precision(time.Second), true
	case "m":
		return Precision(time.Minute), true
	case "h":
		return Precision(time.Hour), true
	}
	return 0, false
}

// parse reads a timestamp, which is digits and nothing else.
func (p Precision) parse(text []byte) (t carbonara.Timestamp, reason string) {
	if len(text) > 0 && text[0] == '-' {
		return 0, "the timestamp lies before 1970"
	}
	var n uint64
	for _, c := range text {
		if c-'0' > 9 {
			return 0, "the timestamp is not a whole number"
		}
		if n > math.MaxInt64/10 {
			return 0, "the timestamp lies beyond 2262"
		}
		n = 10*n + uint64(c-'0')
	}
	if n > uint64(math.MaxInt64)/uint64(p) {
		return 0, "the timestamp lies beyond 2262"
	}
	return carbonara.Timestamp(n) * carbonara.Timestamp(p), ""
}
