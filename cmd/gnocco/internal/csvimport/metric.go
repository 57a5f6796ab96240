package csvimport

import (
	"strconv"
	"time"
	"unsafe"

	"gnocco/carbonara"
)

// metric gathers the measures of one metric for its sender's next request.
type metric struct {
	id      string
	sender  *sender
	pending []byte // `{"timestamp":1392388200,"value":0.132},` …
}

// appendMeasure appends a measure as JSON. text is the value as it was written, which is kept where JSON allows it.
func appendMeasure(dst []byte, t carbonara.Timestamp, value float64, text []byte) []byte {
	dst = append(dst, `{"timestamp":`...)
	dst = strconv.AppendInt(dst, int64(t)/int64(time.Second), 10)
	if nanoseconds := int64(t) % int64(time.Second); nanoseconds != 0 {
		dst = append(dst, '.')
		for unit := int64(time.Second) / 10; nanoseconds != 0; unit /= 10 {
			dst = append(dst, byte('0'+nanoseconds/unit))
			nanoseconds %= unit
		}
	}
	dst = append(dst, `,"value":`...)
	switch {
	case value-value != 0: // NaN or infinite: words that Gnocchi knows, but JSON doesn't
		dst = append(dst, '"')
		dst = strconv.AppendFloat(dst, value, 'g', -1, 64)
		dst = append(dst, '"')
	case isJSONNumber(text):
		dst = append(dst, text...)
	default:
		dst = strconv.AppendFloat(dst, value, 'g', -1, 64)
	}
	return append(dst, "},"...)
}

// isJSONNumber reports whether text is a number in JSON's grammar.
func isJSONNumber(text []byte) bool {
	i := 0
	digits := func() bool {
		from := i
		for i < len(text) && text[i]-'0' <= 9 {
			i++
		}
		return i > from
	}
	if i < len(text) && text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return false
	}
	if i < len(text) && text[i] == '.' {
		i++
		if !digits() {
			return false
		}
	}
	if i < len(text) && text[i]|0x20 == 'e' {
		i++
		if i < len(text) && (text[i] == '-' || text[i] == '+') {
			i++
		}
		if !digits() {
			return false
		}
	}
	return i == len(text)
}

// view is b as a string without a copy. It must not be kept longer than b stays as it is.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }
