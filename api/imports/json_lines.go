package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf8"

	"github.com/prometheus/prometheus/model/value"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/model"
)

// decodeJSON reads JSON lines. Labels of unknown series only are read.
func (b *body) decodeJSON() error {
	b.batch.Read = b.readMetric
	for number, line := range plaintext.Lines(b.text) {
		if b.refused.End(b.total) {
			break
		}
		b.line = number
		if len(line) == 0 {
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

// isUnicode reports whether a text of JSON has nothing that encoding/json would replace by another character.
func isUnicode(line []byte) bool { return utf8.Valid(line) && !text.HasLoneSurrogate(line) }

// jsonLine adds a series. An odd measure costs itself, and the line is named for it.
func (b *body) jsonLine(text []byte) error {
	if !isUnicode(text) {
		return refuse("not valid UTF-8")
	}
	head, times, values, known := cutMetric(text)
	if !known {
		b.scratch = b.scratch[:0]
		err := plaintext.EachKey(text, func(key string, value []byte) error {
			switch key {
			case "metric":
				return readLabels(value, &b.scratch)
			case "values":
				values = inside(value)
			case "timestamps":
				times = inside(value)
			}
			return nil
		})
		if err != nil {
			return refuse("%s", err)
		}
		if b.scratch.Get(model.LabelName) == "" {
			return refuse(`"metric" has no "__name__"`)
		}
	}
	n := count(times)
	if v := count(values); n != v || n == 0 {
		return refuse("the numbers of timestamps and values are %d and %d", n, v)
	}
	odd, first := 0, error(nil)
	last, repeated := carbonara.Timestamp(-1), carbonara.Timestamp(0)
	for len(times) > 0 {
		var time, number []byte
		time, times, _ = bytes.Cut(times, []byte(","))
		number, values, _ = bytes.Cut(values, []byte(","))
		at, value, ok, err := measure(plaintext.Trim(time), plaintext.Trim(number))
		if err == nil && at > b.latest {
			err = fmt.Errorf("timestamp %s is more than %v ahead of the clock", time, ingest.MaxFutureOfSenders)
		}
		if err != nil {
			odd, first = odd+1, cmp.Or(first, err)
			continue
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
	if odd > 0 {
		b.refused.Unreadable(b.line, fmt.Sprintf("measures refused: %d of %d: %s", odd, n, first))
	}
	if known {
		return b.noted(b.batch.EndHead(head))
	}
	b.scratch.SetAll(b.labels)
	return b.noted(b.batch.End(b.scratch))
}

// readLabels reads an object of texts.
func readLabels(object []byte, dst *series.Labels) error {
	return plaintext.EachKey(object, func(name string, value []byte) error {
		var text string
		if value[0] != '"' || json.Unmarshal(value, &text) != nil {
			return refuse("label %.100q is not text", name)
		}
		if name == "" && text != "" {
			return refuse("a label has no name")
		}
		dst.Set(name, text)
		return nil
	})
}

// metricBegins is how VictoriaMetrics begins a line.
const metricBegins = `{"metric":`

// cutMetric takes a line as VictoriaMetrics writes it apart, faster than encoding/json reads any line: all before the
// bracket that ends the labels, which are not read, times and values. ok is false for another form, or no JSON.
func cutMetric(line []byte) (head, times, values []byte, ok bool) {
	head, rest, parted := bytes.Cut(line, []byte(`},"values":[`))
	values, rest, closed := bytes.Cut(rest, []byte(`],"timestamps":[`))
	times, ended := bytes.CutSuffix(rest, []byte("]}"))
	return head, times, values, parted && closed && ended && bytes.HasPrefix(head, []byte(metricBegins+"{")) &&
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
	err := readLabels(append(bytes.Clone(head[len(metricBegins):]), '}'), dst)
	if err == nil && dst.Get(model.LabelName) == "" {
		err = refuse(`"metric" has no "__name__"`)
	}
	if err != nil {
		return web.BadRequest("%s", err)
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
func measure(time, number []byte) (at carbonara.Timestamp, v float64, ok bool, err error) {
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
	v, err = plaintext.ParseValue(string(plaintext.Unquoted(number))) // "NaN" and "Infinity" are strings
	if err != nil {
		return 0, 0, false, fmt.Errorf("value %w", err)
	}
	return at, v, !value.IsStaleNaN(v), nil
}
