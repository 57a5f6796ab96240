package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/model"
)

// A jsonLine is one series as VictoriaMetrics exports it. Timestamps are milliseconds since 1970.
type jsonLine struct {
	Metric             map[string]string
	Values, Timestamps json.RawMessage
}

// decodeJSON reads JSON lines. Labels of unknown series only are read.
func (b *body) decodeJSON() error {
	b.batch.Read = b.readMetric
	for line := range bytes.Lines(b.text) {
		b.line++
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		b.total++
		if err := b.jsonLine(line); err != nil {
			var refused *lineError
			if !errors.As(err, &refused) {
				return err
			}
			b.refused.Unreadable(b.line, refused.reason)
		}
	}
	return nil
}

// A lineError refuses a line.
type lineError struct{ reason string }

func (e *lineError) Error() string { return e.reason }

func refuse(format string, args ...any) error { return &lineError{fmt.Sprintf(format, args...)} }

// jsonLine adds a series. All of its measures are read before the first one is added.
func (b *body) jsonLine(text []byte) error {
	if !utf8.Valid(text) { // encoding/json would replace invalid bytes by another character
		return refuse("not valid UTF-8")
	}
	head, times, values, known := cutMetric(text)
	if !known {
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
		if b.scratch.Get(model.LabelName) == "" {
			return refuse(`"metric" has no "__name__"`)
		}
		times, values = inside(line.Timestamps), inside(line.Values)
	}
	if t, v := count(times), count(values); t != v || t == 0 {
		return refuse("%d timestamps and %d values", t, v)
	}
	last, repeated := carbonara.Timestamp(-1), carbonara.Timestamp(0)
	for len(times) > 0 {
		var time, number []byte
		time, times, _ = bytes.Cut(times, []byte(","))
		number, values, _ = bytes.Cut(values, []byte(","))
		at, value, ok, err := measure(bytes.TrimSpace(time), bytes.TrimSpace(number))
		if err != nil {
			b.batch.Discard()
			return refuse("%s", err)
		}
		if repeated++; at != last { // else it is another measure of the same ms
			last, repeated = at, 0
		}
		if ok {
			if err := b.batch.Measure(at+min(repeated, 999_999), value); err != nil {
				return err
			}
		}
	}
	if known {
		return b.noted(b.batch.EndHead(head))
	}
	b.scratch.SetAll(b.labels)
	return b.noted(b.batch.End(b.scratch))
}

// cutMetric takes a line as VictoriaMetrics writes it apart, faster than encoding/json reads any line: all before the
// bracket that ends the labels, which are not read, times and values. ok is false for another form, or no JSON.
func cutMetric(line []byte) (head, times, values []byte, ok bool) {
	head, rest, parted := bytes.Cut(line, []byte(`},"values":[`))
	values, rest, closed := bytes.Cut(rest, []byte(`],"timestamps":[`))
	times, ended := bytes.CutSuffix(rest, []byte("]}"))
	return head, times, values, parted && closed && ended && bytes.HasPrefix(head, []byte(`{"metric":{`)) &&
		areNumbers(times) && areNumbers(values)
}

// areNumbers reports whether JSON would read a list of numbers.
func areNumbers(list []byte) bool {
	digits, point, exponent := 0, false, false // of a number
	zero := false                              // it begins with 0
	for i, c := range list {
		first := i == 0 || list[i-1] == ','
		switch {
		case c >= '0' && c <= '9':
			if zero && digits == 1 && !point && !exponent {
				return false
			}
			if digits++; digits == 1 && !point && !exponent {
				zero = c == '0'
			}
			continue
		case c == '-' && (first || list[i-1]|0x20 == 'e'), c == '+' && !first && list[i-1]|0x20 == 'e':
			continue
		case digits == 0:
			return false
		case c == '.' && !point && !exponent:
			point = true
		case c|0x20 == 'e' && !exponent:
			exponent = true
		case c == ',':
			point, exponent, zero = false, false, false
		default:
			return false
		}
		digits = 0
	}
	return digits > 0
}

// readMetric reads the labels of a line.
func (b *body) readMetric(head []byte, dst *series.Labels) error {
	var line jsonLine
	if err := json.Unmarshal(append(bytes.Clone(head), "}}"...), &line); err != nil {
		return web.BadRequest("%s", err)
	}
	for name, value := range line.Metric {
		dst.Set(name, value)
	}
	if dst.Get(model.LabelName) == "" {
		return web.BadRequest(`"metric" has no "__name__"`)
	}
	dst.SetAll(b.labels)
	return nil
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
