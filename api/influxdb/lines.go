package influxdb

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"unsafe"

	"gnocco/carbonara"
)

// Lines are the measures of a body. They are filled by Decode again and again, and keep their memory.
type Lines struct {
	Timestamps []carbonara.Timestamp // of all measures
	Values     []float64             // beside Timestamps

	body []byte // what fields refer to
	of   []field
}

// A field says where in the body the names of a measure stand.
type field struct {
	head, name span
	line       int // counted from 1
}

type span struct{ from, to uint32 }

// LineError is of a line that cannot be read.
type LineError struct {
	Line   int // counted from 1
	Reason string
}

// Error implements error.
func (e *LineError) Error() string { return fmt.Sprintf("influxdb: line %d: %s", e.Line, e.Reason) }

// MaxBody is the length of the largest body that Decode takes.
const MaxBody = math.MaxUint32

// Decode reads body, whose timestamps are in units of precision. A line without one is of the time now. The body must
// stay as it is while l is used. Of a body with a faulty line nothing is kept; the error is a *LineError then.
func (l *Lines) Decode(body []byte, precision Precision, now carbonara.Timestamp) error {
	l.reset()
	if len(body) > MaxBody {
		return &LineError{1, "body too large"}
	}
	l.body = body
	for at, number := 0, 1; at < len(body); number++ {
		end := len(body)
		if n := bytes.IndexByte(body[at:], '\n'); n >= 0 {
			end = at + n
		}
		if reason := l.line(at, trimEnd(body, at, end), number, precision, now); reason != "" {
			l.reset()
			return &LineError{number, reason}
		}
		at = end + 1
	}
	return nil
}

// MostMeasures returns how many measures a body has at most: its fields.
func MostMeasures(body []byte) (most int) {
	for len(body) > 0 {
		var line []byte
		line, body, _ = bytes.Cut(body, []byte{'\n'})
		most += bytes.Count(line[headEnd(line, 0):], []byte{'='})
	}
	return most
}

// Grow makes room for that many measures more.
func (l *Lines) Grow(measures int) {
	l.Timestamps, l.Values = slices.Grow(l.Timestamps, measures), slices.Grow(l.Values, measures)
	l.of = slices.Grow(l.of, measures)
}

// Len returns the number of measures.
func (l *Lines) Len() int { return len(l.Values) }

// Bytes is the memory that l keeps, roughly.
func (l *Lines) Bytes() int { return 16*cap(l.Values) + 24*cap(l.of) }

func (l *Lines) reset() {
	l.Timestamps, l.Values, l.of, l.body = l.Timestamps[:0], l.Values[:0], l.of[:0], nil
}

// trimEnd returns where the text of a line ends, without spaces and carriage return.
func trimEnd(body []byte, from, end int) int {
	for end > from && (body[end-1] == ' ' || body[end-1] == '\r') {
		end--
	}
	return end
}

// line reads body[from:to], and returns why it does not.
func (l *Lines) line(from, to, number int, precision Precision, now carbonara.Timestamp) (reason string) {
	if from == to || l.body[from] == '#' {
		return ""
	}
	text := l.body[:to]
	head := span{uint32(from), uint32(headEnd(text, from))}
	at := skipSpaces(text, int(head.to))
	if at == int(head.to) {
		return "no fields"
	}
	first := len(l.Values)
	for {
		name := span{from: uint32(at)}
		if at = nameEnd(text, at); at == len(text) || text[at] != '=' || at == int(name.from) {
			return "no field where one is expected"
		}
		name.to = uint32(at)
		value, end, isNumber, ok := parseValue(text, at+1)
		if !ok {
			return "the value of a field is not a number, boolean or text in quotes"
		}
		if isNumber {
			l.Values = append(l.Values, value)
			l.of = append(l.of, field{head, name, number})
		}
		at = end
		if at == len(text) || text[at] != ',' {
			break
		}
		at++
	}
	t := now
	if at < len(text) {
		if text[at] != ' ' {
			return "something follows the value of a field"
		}
		if t, reason = precision.parse(text[skipSpaces(text, at):]); reason != "" {
			return reason
		}
	}
	for range len(l.Values) - first {
		l.Timestamps = append(l.Timestamps, t)
	}
	return ""
}

// headEnd returns where measurement and tags end: at the first space that is neither escaped nor in quotes.
func headEnd(text []byte, at int) int {
	for at < len(text) && text[at] != ' ' {
		at = nameEnd(text, at)
		if at < len(text) && (text[at] == ',' || text[at] == '=') {
			at++
		}
	}
	return at
}

// nameEnd returns where the name that begins at at ends: after its closing quote, or before a comma, equals sign or
// space that is not escaped.
func nameEnd(text []byte, at int) int {
	if end, ok := quoteEnd(text, at); ok {
		return end
	}
	for ; at < len(text); at++ {
		switch text[at] {
		case ' ', ',', '=':
			return at
		case '\\':
			if at+1 < len(text) && isEscaped(text[at+1]) {
				at++
			}
		}
	}
	return at
}

// isEscaped reports whether a backslash before c makes it a plain character.
func isEscaped(c byte) bool { return c == ' ' || c == ',' || c == '=' }

// quoteEnd returns the index behind the closing quote of the text in quotes that begins at at, if one does.
func quoteEnd(text []byte, at int) (end int, ok bool) {
	if at == len(text) || text[at] != '"' {
		return 0, false
	}
	for at++; at < len(text); at++ {
		switch text[at] {
		case '"':
			return at + 1, true
		case '\\':
			at++
		}
	}
	return 0, false
}

func skipSpaces(text []byte, at int) int {
	for at < len(text) && text[at] == ' ' {
		at++
	}
	return at
}

// parseValue reads a field's value. Text is none, but no fault either.
func parseValue(text []byte, at int) (value float64, end int, isNumber, ok bool) {
	if end, ok := quoteEnd(text, at); ok {
		return 0, end, false, true
	}
	end = at
	for end < len(text) && text[end] != ',' && text[end] != ' ' {
		end++
	}
	word := text[at:end]
	switch string(word) {
	case "t", "T", "true", "True", "TRUE":
		return 1, end, true, true
	case "f", "F", "false", "False", "FALSE":
		return 0, end, true, true
	}
	if n := len(word); n > 1 && (word[n-1] == 'i' || word[n-1] == 'u') {
		word = word[:n-1]
		if !isInteger(word) {
			return 0, 0, false, false
		}
	}
	for _, c := range word { // the parser takes hexadecimal digits, underscores, NaN and infinities, too
		if c-'0' > 9 && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+' {
			return 0, 0, false, false
		}
	}
	value, err := strconv.ParseFloat(unsafe.String(unsafe.SliceData(word), len(word)), 64)
	if err != nil && !math.IsInf(value, 0) { // too large a number is infinite, as in Gnocchi
		return 0, 0, false, false
	}
	return value, end, true, true
}

func isInteger(word []byte) bool {
	if word[0] == '-' || word[0] == '+' {
		word = word[1:]
	}
	for _, c := range word {
		if c-'0' > 9 {
			return false
		}
	}
	return len(word) > 0
}
