package csvimport

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/model"
)

// maxLine is the longest line of JSON: a metric with all its measures.
const maxLine = 1 << 30

// lineOfJSON is a metric as VictoriaMetrics exports it. Gnocco's own export says more of it.
type lineOfJSON struct {
	Metric     map[string]string `json:"metric"`
	Values     json.RawMessage   `json:"values"`
	Timestamps json.RawMessage   `json:"timestamps"`
	Gnocco     struct {
		Resource    string  `json:"resource"`
		Name        string  `json:"name"`
		Unit        string  `json:"unit"`
		Type        string  `json:"type"`
		Policy      string  `json:"archive_policy"`
		Granularity float64 `json:"granularity"`
	} `json:"gnocco"`
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
			if fault := i.line(line); fault != nil {
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

// line adds the measures of a line. A *csv.LineError says why it is rejected as a whole.
func (i *Importer) line(text []byte) error {
	reject := func(format string, args ...any) error { return &csv.LineError{Reason: fmt.Sprintf(format, args...)} }
	var in lineOfJSON
	if err := json.Unmarshal(text, &in); err != nil {
		return reject("%v", err)
	}
	name := seriesName{resource: in.Gnocco.Resource, name: in.Gnocco.Name}
	if name.resource == "" {
		name = withLabels(in.Metric)
	}
	if err := name.check(); err != nil {
		return reject("%v", err)
	}
	var times []carbonara.Timestamp
	var values []float64
	err := eachElement(in.Timestamps, func(text string) error {
		t, err := csv.ParseNumberSince(text, time.Millisecond)
		if err == nil && t > i.latest {
			err = fmt.Errorf("is more than %v ahead of the clock", maxFuture)
		}
		times = append(times, t)
		return err
	})
	if err != nil {
		return reject("timestamps: %v", err)
	}
	if err = eachElement(in.Values, func(text string) error {
		value, ok := model.ParseNumber(text)
		values = append(values, value)
		if !ok && text != "null" {
			return errors.New("is not a number")
		}
		if text == "null" && len(values) <= len(times) {
			times[len(values)-1] = -1
		}
		return nil
	}); err != nil {
		return reject("values: %v", err)
	}
	if len(times) != len(values) {
		return reject("has %d timestamps and %d values", len(times), len(values))
	}
	number := i.number(name, func(m *metric) {
		m.unit, m.policy, m.granularity = in.Gnocco.Unit, cmp.Or(m.policy, in.Gnocco.Policy), in.Gnocco.Granularity
		m.valueType = in.Gnocco.Type
	})
	m := i.metrics[number]
	if m.granularity != in.Gnocco.Granularity {
		return reject("metric %s has other lines of granularity %g s: import one of an export's granularities", m, m.granularity)
	}
	last, repeated := carbonara.Timestamp(-1), carbonara.Timestamp(0)
	for j, t := range times {
		if t < 0 {
			continue // null
		}
		if repeated++; t != last { // else it is another measure of the same ms
			last, repeated = t, 0
		}
		t += min(repeated, 999_999)
		m.newest = max(m.newest, t)
		m.rows++
		if err := i.rows.add(t, values[j], number); err != nil {
			return err
		}
	}
	return nil
}

// eachElement calls use with each element of an array: a number, or a word such as NaN, with quotes or without.
func eachElement(array json.RawMessage, use func(text string) error) error {
	inner := bytes.TrimSpace(array)
	if len(inner) < 2 || inner[0] != '[' {
		return errors.New("lack an array")
	}
	if inner = bytes.TrimSpace(inner[1 : len(inner)-1]); len(inner) == 0 {
		return nil
	}
	n := 0
	for element := range bytes.SplitSeq(inner, []byte{','}) {
		text := view(bytes.Trim(element, " \t\r\""))
		if err := use(text); err != nil {
			return fmt.Errorf("element %s, %.40q, %w", strconv.Itoa(n), text, err)
		}
		n++
	}
	return nil
}
