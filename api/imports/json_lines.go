package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/carbonara"
)

// A jsonLine is one series as VictoriaMetrics exports it. Timestamps are milliseconds since 1970.
type jsonLine struct {
	Metric             map[string]string
	Values, Timestamps json.RawMessage
}

// decodeJSON reads JSON lines.
func (b *body) decodeJSON() error {
	for line := range bytes.Lines(b.text) {
		b.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		b.total++
		var refused *lineError
		if err := b.jsonLine(line); errors.As(err, &refused) {
			b.refused.Unreadable(b.line, refused.reason)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// A lineError refuses a line.
type lineError struct{ reason string }

// Error implements error.
func (e *lineError) Error() string { return e.reason }

func refuse(format string, args ...any) error { return &lineError{fmt.Sprintf(format, args...)} }

// jsonLine adds a series. All of its measures are read before the first one is added.
func (b *body) jsonLine(text []byte) error {
	if !utf8.Valid(text) { // encoding/json would replace invalid bytes by another character
		return refuse("not valid UTF-8")
	}
	times, values, ok := b.plainLine(text)
	if !ok {
		line := &b.read // its map and slices are used again
		clear(line.Metric)
		line.Values, line.Timestamps = line.Values[:0], line.Timestamps[:0]
		if err := json.Unmarshal(text, line); err != nil {
			return refuse("%s", err)
		}
		b.scratch = b.scratch[:0]
		for name, value := range line.Metric {
			b.scratch.Set(name, value)
		}
		times, values = line.Timestamps, line.Values
	}
	times, values = inside(times), inside(values)
	if b.scratch.Get("__name__") == "" {
		return refuse(`"metric" has no "__name__"`)
	}
	if t, v := count(times), count(values); t != v || t == 0 {
		return refuse("%d timestamps and %d values", t, v)
	}
	for _, adding := range []bool{false, true} {
		times, values, first := times, values, true
		for len(times) > 0 {
			var time, number []byte
			time, times, _ = bytes.Cut(times, []byte(","))
			number, values, _ = bytes.Cut(values, []byte(","))
			at, value, ok, err := measure(bytes.TrimSpace(time), bytes.TrimSpace(number))
			switch {
			case err != nil:
				return refuse("%s", err)
			case !adding || !ok:
			case first:
				err, first = b.add(at, value), false
			default:
				err = b.batch.Append(at, value)
			}
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// plainLine reads a line as VictoriaMetrics writes it, without escapes, faster than encoding/json reads any line. ok is
// false for another form, or no JSON.
func (b *body) plainLine(line []byte) (times, values []byte, ok bool) {
	b.scratch = b.scratch[:0]
	text, ok := strings.CutPrefix(string(line), `{"metric":{`)
	for ok && text != "" && text[0] != '}' {
		var name, value string
		if name, text, ok = plainText(text, ':'); ok {
			value, text, ok = plainText(text, ',')
			b.scratch.Set(name, value)
		}
	}
	text, begun := strings.CutPrefix(text, `},"values":`)
	numbers, text, parted := strings.Cut(text, `,"timestamps":`)
	text, closed := strings.CutSuffix(text, "}")
	times, values = bytes.TrimSpace([]byte(text)), bytes.TrimSpace([]byte(numbers))
	return times, values, ok && begun && parted && closed && json.Valid(times) && json.Valid(values)
}

// plainText cuts a string without escapes off JSON, and what follows it: the separator, or nothing before a bracket.
func plainText(text string, separator byte) (inside, rest string, ok bool) {
	if text == "" || text[0] != '"' {
		return "", "", false
	}
	for i := 1; i < len(text)-1; i++ {
		switch c := text[i]; {
		case c == '\\' || c < ' ':
			return "", "", false
		case c == '"' && text[i+1] == separator:
			return text[1:i], text[i+2:], strings.HasPrefix(text[i+2:], `"`)
		case c == '"':
			return text[1:i], text[i+1:], separator == ',' && text[i+1] == '}'
		}
	}
	return "", "", false
}

// inside returns the text between the brackets of a list.
func inside(list []byte) []byte {
	text, ok := bytes.CutPrefix(list, []byte("["))
	if !ok {
		return nil
	}
	return bytes.TrimSpace(bytes.TrimSuffix(text, []byte("]")))
}

// count returns the number of elements of a list without lists in it. Those are no numbers later.
func count(list []byte) int {
	if len(list) == 0 {
		return 0
	}
	return bytes.Count(list, []byte(",")) + 1
}

// measure reads a measure. null is none: VictoriaMetrics exports NaN, and ends of series, as null.
func measure(time, number []byte) (at carbonara.Timestamp, value float64, ok bool, err error) {
	ms, err := strconv.ParseInt(string(time), 10, 64)
	if err != nil {
		return 0, 0, false, fmt.Errorf("timestamp %.40q is not an integer", time)
	}
	if at, err = fromMillis(ms); err != nil {
		return 0, 0, false, err
	}
	if bytes.Equal(number, []byte("null")) {
		return 0, 0, false, nil
	}
	value, err = strconv.ParseFloat(string(bytes.Trim(number, `"`)), 64) // "NaN" and "Infinity" are strings
	if err != nil {
		return 0, 0, false, fmt.Errorf("value %.40q is not a number", number)
	}
	return at, value, !isStale(value), nil
}
