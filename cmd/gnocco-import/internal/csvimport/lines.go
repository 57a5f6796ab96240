package csvimport

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/internal/counted"
)

// maxLine is the longest line of JSON: a metric with all its measures.
const maxLine = 1 << 30

// lineOfJSON is a metric as VictoriaMetrics exports it. Gnocco's own export says more of it.
type lineOfJSON struct {
	metric             map[string]string
	values, timestamps []byte
	gnocco             struct {
		Resource    string  `json:"resource"`
		Name        string  `json:"name"`
		Unit        string  `json:"unit"`
		Type        string  `json:"type"`
		Policy      string  `json:"archive_policy"`
		Granularity float64 `json:"granularity"`
	}
}

// field reads a field of a line.
func (l *lineOfJSON) field(key string, value []byte) error {
	switch key {
	case "metric":
		l.metric = map[string]string{}
		return plaintext.EachKey(value, func(name string, value []byte) error {
			var text string
			if value[0] != '"' || json.Unmarshal(value, &text) != nil {
				return fmt.Errorf("label %.100q is not text", name)
			}
			if name == "" && text != "" {
				return errors.New("a label has no name")
			}
			l.metric[name] = text
			return nil
		})
	case "values":
		l.values = value
	case "timestamps":
		l.timestamps = value
	case "gnocco":
		once := plaintext.EachKey(value, func(string, []byte) error { return nil })
		if once != nil || json.Unmarshal(value, &l.gnocco) != nil {
			return errors.New("gnocco is not what an export writes")
		}
	}
	return nil
}

// Lines reads a file of JSON lines to its end: of each metric its labels, its values and their times in milliseconds.
func (i *Importer) Lines(name string, source io.Reader) error {
	text, how, err := csv.TextOf(source)
	if err != nil {
		return refusal("%s %w", name, err)
	}
	if how != "" {
		i.options.Note(name + ": " + how)
	}
	if head, _ := text.Peek(csv.Peeked); len(head) > 0 && isJSON(head) && !isSeriesJSON(head) {
		return i.records(name, "", newJSONReader(text))
	}
	var long []byte
	for number := 1; ; number++ {
		line, err := text.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			for long = append(long[:0], line...); errors.Is(err, bufio.ErrBufferFull) && len(long) <= maxLine; {
				line, err = text.ReadSlice('\n')
				long = append(long, line...)
			}
			line = long
		}
		if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
			return fmt.Errorf("csvimport: read %s: %w", name, err)
		}
		if len(line) > maxLine {
			return refusal("%s line %d is longer than a gibibyte", name, number)
		}
		if line = bytes.TrimSpace(line); len(line) > 0 {
			if fault := i.line(name, number, line); fault != nil {
				var refused *csv.LineError
				if !errors.As(fault, &refused) {
					return fault
				}
				i.result.Rejected++
				i.options.Reject(name, number, refused.Reason)
			}
		}
		if err == io.EOF {
			i.result.Files++
			return nil
		}
	}
}

// line adds the measures of a line. An odd one costs itself. A *csv.LineError says why the line is rejected as a whole.
func (i *Importer) line(file string, n int, line []byte) error {
	reject := func(format string, args ...any) error { return &csv.LineError{Reason: fmt.Sprintf(format, args...)} }
	var in lineOfJSON
	if !utf8.Valid(line) || text.HasLoneSurrogate(line) {
		return reject("not valid UTF-8")
	}
	if err := plaintext.EachKey(line, in.field); err != nil {
		return reject("%v", err)
	}
	name := seriesName{resource: in.gnocco.Resource, name: in.gnocco.Name}
	if name.resource == "" {
		name = withLabels(in.metric)
	}
	if err := name.check(); err != nil {
		return reject("%v", err)
	}
	const none = carbonara.Timestamp(-1) // of null, and of odd times
	var times []carbonara.Timestamp
	var values []float64
	odd, first := 0, error(nil)
	isOdd := func(format string, args ...any) {
		odd, first = odd+1, cmp.Or(first, fmt.Errorf(format, args...))
	}
	err := eachElement(in.timestamps, func(text string) {
		t, err := csv.ParseNumberSince(text, time.Millisecond)
		if err == nil && t > i.latest {
			err = fmt.Errorf("is more than %v ahead of the clock", maxFuture)
		}
		if err != nil {
			isOdd("timestamp %.40q %w", text, err)
			t = none
		}
		times = append(times, t)
	})
	if err != nil {
		return reject("timestamps: %v", err)
	}
	if err = eachElement(in.values, func(text string) {
		value, ok := csv.ParseNumber(text)
		values = append(values, value)
		if at := len(values) - 1; !ok && at < len(times) && times[at] != none {
			if times[at] = none; text != "null" {
				isOdd("value %.40q is not a number", text)
			}
		}
	}); err != nil {
		return reject("values: %v", err)
	}
	if len(times) != len(values) {
		return reject("has %s and %s", counted.Of(len(times), "timestamp"), counted.Of(len(values), "value"))
	}
	number := i.number(name, func(m *metric) {
		m.unit, m.policy, m.granularity = in.gnocco.Unit, cmp.Or(m.policy, in.gnocco.Policy), in.gnocco.Granularity
		m.valueType = in.gnocco.Type
	})
	m := i.metrics[number]
	if m.granularity != in.gnocco.Granularity {
		return reject("metric %s has other lines of granularity %g s: import one of an export's granularities", m, m.granularity)
	}
	if odd > 0 {
		i.result.Rejected += int64(odd)
		i.options.Reject(file, n, fmt.Sprintf("measures refused: %d of %d: %v", odd, len(times), first))
	}
	last, repeated := none, carbonara.Timestamp(0)
	for j, t := range times {
		if t == none {
			continue
		}
		if repeated++; t != last { // else it is another measure of the same ms
			last, repeated = t, 0
		}
		if err := i.add(number, t+min(repeated, 999_999), values[j]); err != nil {
			return err
		}
	}
	return nil
}

// eachElement calls use with each element of an array: a number, or a word such as NaN, with quotes or without.
func eachElement(array []byte, use func(text string)) error {
	inner, begun := bytes.CutPrefix(array, []byte{'['})
	inner, ended := bytes.CutSuffix(inner, []byte{']'})
	if !begun || !ended {
		return errors.New("lack an array")
	}
	if inner = bytes.TrimSpace(inner); len(inner) == 0 {
		return nil
	}
	for element := range bytes.SplitSeq(inner, []byte{','}) {
		use(view(plaintext.Unquoted(bytes.Trim(element, " \t\r"))))
	}
	return nil
}
