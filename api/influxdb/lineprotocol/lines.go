package lineprotocol

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
)

// Lines are the measures of a body. They are filled by Decode again and again, and keep their memory.
type Lines struct {
	Timestamps []carbonara.Timestamp // of all measures
	Values     []float64             // beside Timestamps
	Total      int                   // number of lines, also those refused, without comments and empty ones
	Texts      int                   // number of fields that are text; no measure stands for them
	TextAlone  bool                  // a line of text alone is no fault, as in Gnocchi

	// Acquire acquires memory for so many measures beyond Paid before the lines hold them. Its error ends the decoding.
	// nil: no bound.
	Acquire func(measures int) error
	Paid    int // measures whose memory is acquired

	body []byte // what fields refer to
	of   []field
	last string // the head of the line before, part of body; "" if it has quotes
	err  error  // of Acquire
}

// measuresTaken is the number of measures of one Acquire.
const measuresTaken = 1024

// A field says where in the body the names of a measure stand.
type field struct {
	head, name span
	line       int // counted from 1
}

type span struct{ from, to uint32 }

// LineError is of a line that cannot be read.
type LineError struct {
	Line   int // counted from 1; of one with line feeds in quotes, the first
	Reason string
}

func (e *LineError) Error() string { return fmt.Sprintf("influxdb: line %d: %s", e.Line, e.Reason) }

// maxBody is the length of the largest body that Decode accepts.
const maxBody = math.MaxUint32

// ErrTooLarge is of a body longer than maxBody.
var ErrTooLarge = errors.New("influxdb: body too large")

// Decode reads body, whose timestamps are in units of precision. A line without one is of the time now. The body must
// stay as it is while l is used. Decode calls refuse for each line that it cannot read, and keeps the others.
func (l *Lines) Decode(body []byte, precision Precision, now carbonara.Timestamp,
	refuse func(line int, reason string)) error {
	l.reset()
	if len(body) > maxBody {
		return ErrTooLarge
	}
	l.body = body
	for at, number := 0, 1; at < len(body); {
		end, feeds := lineEnd(body, at)
		if from, to := trim(body, at, end); from < to && body[from] != '#' {
			l.Total++
			kept := len(l.Values)
			if reason := l.line(from, to, number, precision, now); l.err != nil {
				return l.err
			} else if reason != "" {
				l.Values, l.of = l.Values[:kept], l.of[:kept]
				refuse(number, reason)
			}
		}
		at, number = end+plaintext.EndLength(body[end:]), number+1+feeds
	}
	return nil
}

// lineEnd returns where the line that begins at at ends: at the first line end outside a field's text in quotes. feeds
// is the number of those inside. A text ends where a comma, a blank or the line's end follows the closing quote; one
// that does not end so makes its line faulty, and must not make the next lines parts of it.
func lineEnd(body []byte, at int) (end, feeds int) {
	end = at + plaintext.End(body[at:])
	from, _ := trim(body, at, end)
	if bytes.IndexByte(body[from:end], '"') < 0 || body[from] == '#' {
		return end, 0
	}
	for at = headEnd(body[:end], from); at < end; at++ {
		at = nameEnd(body[:end], at)
		if at == end || body[at] != '=' {
			continue
		}
		closed, ok := quoteEnd(body, at+1)
		if !ok || closed < len(body) && bytes.IndexByte(afterText, body[closed]) < 0 {
			continue
		}
		if closed > end {
			feeds += plaintext.Ends(body[at:closed])
			end = closed + plaintext.End(body[closed:])
		}
		at = closed - 1
	}
	return end, feeds
}

var afterText = []byte(", \t\r\n")

// MostMeasures returns how many measures a body has at most: its fields.
func MostMeasures(body []byte) (most int) {
	for at := 0; at < len(body); {
		end, _ := lineEnd(body, at)
		from, to := trim(body, at, end)
		most += bytes.Count(body[headEnd(body[:to], from):to], []byte{'='})
		at = end + 1
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

// Line returns the number of measure i's line.
func (l *Lines) Line(i int) int { return l.of[i].line }

// Bytes is the memory that l keeps, roughly.
func (l *Lines) Bytes() int { return 16*cap(l.Values) + 24*cap(l.of) }

func (l *Lines) reset() {
	l.Timestamps, l.Values, l.of, l.body, l.Total = l.Timestamps[:0], l.Values[:0], l.of[:0], nil, 0
	l.last, l.err, l.Texts = "", nil, 0
}

// trim returns where the text of a line begins and ends, without a byte order mark, blanks and a carriage return.
func trim(body []byte, from, end int) (begin, to int) {
	from = end - len(bytes.TrimPrefix(body[from:end], plaintext.Mark))
	for end > from && (isBlank(body[end-1]) || body[end-1] == '\r') {
		end--
	}
	return skipSpaces(body[:end], from), end
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

// line reads body[from:to], and returns why it cannot.
func (l *Lines) line(from, to, number int, precision Precision, now carbonara.Timestamp) (reason string) {
	text := l.body[:to]
	head := span{uint32(from), uint32(l.headEnd(text, from))}
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
			if len(l.Values) == l.Paid && !l.acquire() {
				return l.err.Error()
			}
			l.Values = append(l.Values, value)
			l.of = append(l.of, field{head, name, number})
		} else {
			l.Texts++
		}
		at = end
		if at == len(text) || text[at] != ',' {
			break
		}
		at++
	}
	t := now
	if at < len(text) {
		if !isBlank(text[at]) {
			return "something follows the value of a field"
		}
		if t, reason = precision.parse(text[skipSpaces(text, at):]); reason != "" {
			return reason
		}
	}
	if len(l.Values) == first && !l.TextAlone {
		l.Texts--
		return "no field is a number or boolean, and text is not stored"
	}
	for range len(l.Values) - first {
		l.Timestamps = append(l.Timestamps, t)
	}
	return ""
}

// acquire acquires memory for more measures.
func (l *Lines) acquire() bool {
	if l.Acquire == nil {
		l.Paid = math.MaxInt
		return true
	}
	if l.err = l.Acquire(measuresTaken); l.err == nil {
		l.Paid += measuresTaken
	}
	return l.err == nil
}

// headEnd is headEnd of a line. Lines of one head stand side by side.
func (l *Lines) headEnd(text []byte, at int) int {
	if end := at + len(l.last); l.last != "" && end < len(text) && text[end] == ' ' && string(text[at:end]) == l.last {
		return end
	}
	end := headEnd(text, at)
	if l.last = ""; bytes.IndexByte(text[at:end], '"') < 0 {
		l.last = unsafe.String(unsafe.SliceData(text[at:]), end-at)
	}
	return end
}

// headEnd returns where measurement and tags end: at the first space that is neither escaped nor in quotes.
func headEnd(text []byte, at int) int {
	if n := bytes.IndexByte(text[at:], ' '); n >= 0 {
		if head := text[at : at+n]; bytes.IndexByte(head, '\\') < 0 && bytes.IndexByte(head, '"') < 0 {
			return at + n
		}
	}
	for at < len(text) && text[at] != ' ' {
		at = nameEnd(text, at)
		if at < len(text) && (text[at] == ',' || text[at] == '=') {
			at++
		}
	}
	return at
}

// nameEnd returns where the name that begins at at, behind tabs, ends: after its closing quote, or before a comma,
// equals sign or space that is not escaped.
func nameEnd(text []byte, at int) int {
	for at < len(text) && text[at] == '\t' {
		at++
	}
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
	for at < len(text) && isBlank(text[at]) {
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
	for end < len(text) && text[end] != ',' && !isBlank(text[end]) {
		end++
	}
	word := text[at:end]
	switch string(word) {
	case "t", "T", "true", "True", "TRUE":
		return 1, end, true, true
	case "f", "F", "false", "False", "FALSE":
		return 0, end, true, true
	}
	if n := len(word) - 1; n > 0 && (word[n] == 'i' || word[n] == 'u') {
		value, ok := parseInteger(word[:n], word[n] == 'u')
		return value, end, ok, ok
	}
	for _, c := range word { // the parser also accepts NaN and infinities
		if c-'0' > 9 && c != '.' && c != 'e' && c != 'E' && c != '-' && c != '+' {
			return 0, 0, false, false
		}
	}
	value, err := plaintext.ParseValue(unsafe.String(unsafe.SliceData(word), len(word)))
	return value, end, true, err == nil
}

// parseInteger reads an integer of 64 bits.
func parseInteger(word []byte, unsigned bool) (value float64, ok bool) {
	text := unsafe.String(unsafe.SliceData(word), len(word))
	if unsigned {
		n, err := strconv.ParseUint(strings.TrimPrefix(text, "+"), 10, 64)
		return float64(n), err == nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	return float64(n), err == nil
}

// Precision is the unit of timestamps.
type Precision time.Duration

// autoPrecision tells the unit by the magnitude, as InfluxDB 3 does.
const autoPrecision Precision = 0

// autoUnits are the units of timestamps below a number, which all are times before 2128.
var autoUnits = []struct {
	below uint64
	unit  Precision
}{{5e9, Precision(time.Second)}, {5e12, Precision(time.Millisecond)}, {5e15, Precision(time.Microsecond)},
	{math.MaxUint64, Precision(time.Nanosecond)}}

// ParsePrecision reads the parameter of that name, "" for nanoseconds.
func ParsePrecision(text string) (_ Precision, ok bool) {
	switch text {
	case "", "n", "ns", "nanosecond":
		return Precision(time.Nanosecond), true
	case "u", "us", "µ", "microsecond":
		return Precision(time.Microsecond), true
	case "ms", "millisecond":
		return Precision(time.Millisecond), true
	case "s", "second":
		return Precision(time.Second), true
	case "auto":
		return autoPrecision, true
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
	for i := 0; p == autoPrecision; i++ {
		if n < autoUnits[i].below {
			p = autoUnits[i].unit
		}
	}
	if n > uint64(math.MaxInt64)/uint64(p) {
		return 0, "the timestamp lies beyond 2262"
	}
	return carbonara.Timestamp(n) * carbonara.Timestamp(p), ""
}
