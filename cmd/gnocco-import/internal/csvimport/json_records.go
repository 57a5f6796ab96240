package csvimport

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
)

// isJSON reports whether a text begins with an object, or an array of such.
func isJSON(head []byte) bool {
	head = bytes.TrimLeft(head, " \t\r\n")
	if bytes.HasPrefix(head, []byte{'['}) {
		head = bytes.TrimLeft(head[1:], " \t\r\n")
	}
	return bytes.HasPrefix(head, []byte{'{'})
}

// isSeriesJSON reports whether the first object of a text is a series with all its measures. It may be cut off.
func isSeriesJSON(head []byte) bool {
	var first map[string]json.RawMessage
	if err := json.NewDecoder(bytes.NewReader(head)).Decode(&first); err != nil {
		return head[0] == '{' && bytes.Contains(head, []byte(`"metric"`)) && bytes.Contains(head, []byte(`"values"`))
	}
	return first["metric"] != nil && (first["values"] != nil || first["timestamps"] != nil)
}

// records reads a file of JSON objects, each of which is a record: its members are columns.
func (i *Importer) records(name, how string, r *jsonReader) error {
	if err := r.readNames(); err != nil {
		return refusal("%s %w", name, err)
	}
	i.options.Note(name + ": " + strings.TrimPrefix(how+", JSON objects are records", ", "))
	f := &file{Importer: i, name: name, reader: r}
	if err := f.section(nil, r.names); err != nil {
		return err
	}
	i.result.Files++
	return nil
}

// jsonReader reads JSON objects as records. Members of objects within have names with points.
type jsonReader struct {
	text    *bufio.Reader
	decoder *json.Decoder
	line    int // of the next object, or what is read as one
	array   bool
	ended   bool     // the array
	names   []string // of columns: all members of the first objects
	named   bool     // names has them
	columns map[string]int
	first   []jsonRecord // read already
	err     error        // after these
}

type jsonRecord struct {
	members map[string]string
	line    int
	fault   string // "": none
}

func newJSONReader(text *bufio.Reader) *jsonReader {
	return &jsonReader{text: text, columns: make(map[string]int)}
}

// readNames reads the first objects, which name the columns.
func (r *jsonReader) readNames() error {
	head, _ := r.text.Peek(csv.Peeked)
	if r.array = bytes.TrimLeft(head, " \t\r\n")[0] == '['; r.array {
		r.decoder = json.NewDecoder(r.text)
		r.decoder.UseNumber()
		_, r.err = r.decoder.Token()
	}
	for len(r.first) < sampleRecords && r.err == nil {
		var record jsonRecord
		if record, r.err = r.object(); r.err == nil {
			r.first = append(r.first, record)
		}
	}
	if r.named = true; len(r.names) == 0 {
		return errors.New("has no JSON object with members")
	}
	return nil
}

// barred matches numbers that JSON doesn't have, but Python writes.
var barred = regexp.MustCompile(`([:,\[]\s*)(NaN|-?Infinity)\b`)

// object reads the next object. Those that are none are faults.
func (r *jsonReader) object() (record jsonRecord, err error) {
	record.members = make(map[string]string)
	decoder, line := r.decoder, []byte(nil)
	r.line++
	record.line = r.line
	if r.array {
		if r.ended {
			return record, io.EOF
		}
		if r.ended = !decoder.More(); r.ended {
			if _, err := decoder.Token(); err != nil {
				record.fault = "the array does not end"
			} else if _, err := decoder.Token(); err != io.EOF {
				record.fault = "something follows the array"
			} else {
				return record, io.EOF
			}
			return record, nil
		}
	} else {
		for len(bytes.TrimSpace(line)) == 0 {
			if err != nil {
				return record, err
			}
			if line, err = r.text.ReadBytes('\n'); len(bytes.TrimSpace(line)) == 0 && err == nil {
				r.line++
			}
		}
		decoder = json.NewDecoder(bytes.NewReader(line))
		decoder.UseNumber()
	}
	record.line = r.line
	if err = r.members(decoder, "", &record); err != nil && !r.array && barred.Match(line) {
		record.members = make(map[string]string)
		decoder = json.NewDecoder(bytes.NewReader(barred.ReplaceAll(line, []byte(`$1"$2"`))))
		decoder.UseNumber()
		err = r.members(decoder, "", &record)
	}
	if err == nil && !r.array {
		if _, more := decoder.Token(); more != io.EOF {
			err = errors.New("something follows the object")
		} else if !utf8.Valid(line) || text.HasLoneSurrogate(line) {
			err = errors.New("not valid UTF-8")
		}
	}
	if err != nil && r.array {
		return record, fmt.Errorf("csvimport: object %d: %w", r.line, err)
	}
	if err != nil {
		record.fault = "is no JSON object: " + err.Error()
	}
	return record, nil
}

// members reads an object. The names of its members begin with a prefix.
func (r *jsonReader) members(decoder *json.Decoder, prefix string, record *jsonRecord) error {
	if prefix == "" {
		if token, err := decoder.Token(); err != nil {
			return err
		} else if token != json.Delim('{') {
			return errors.New("it does not begin with {")
		}
	}
	for decoder.More() {
		key, err := decoder.Token()
		if err != nil {
			return err
		}
		name := prefix + key.(string)
		value, err := decoder.Token()
		if err != nil {
			return err
		}
		switch v := value.(type) {
		case json.Delim:
			if v == '{' {
				if err := r.members(decoder, name+".", record); err != nil {
					return err
				}
				continue
			}
			for depth := 1; depth > 0; { // an array is no number
				if value, err = decoder.Token(); err != nil {
					return err
				}
				switch value {
				case json.Delim('['), json.Delim('{'):
					depth++
				case json.Delim(']'), json.Delim('}'):
					depth--
				}
			}
			r.set(record, name, "[]")
		case nil:
			r.set(record, name, "")
		default:
			r.set(record, name, fmt.Sprint(v))
		}
	}
	_, err := decoder.Token() // }
	return err
}

// set sets a member. Only the first objects bring new columns.
func (r *jsonReader) set(record *jsonRecord, name, value string) {
	if _, ok := r.columns[name]; !ok {
		if r.named {
			record.fault = fmt.Sprintf("has a member %q, which none of the first %d objects has", name, sampleRecords)
			return
		}
		r.columns[name] = len(r.names)
		r.names = append(r.names, name)
	}
	if _, twice := record.members[name]; twice {
		record.fault = fmt.Sprintf("has two members %q", name)
	}
	record.members[name] = value
}

// Read implements recordReader.
func (r *jsonReader) Read() (fields [][]byte, line int, err error) {
	var record jsonRecord
	switch {
	case len(r.first) > 0:
		record, r.first = r.first[0], r.first[1:]
	case r.err != nil:
		return nil, 0, r.err
	default:
		r.first = nil
		if record, err = r.object(); err != nil {
			return nil, 0, err
		}
	}
	if record.fault != "" {
		return nil, record.line, &csv.LineError{Line: record.line, Reason: record.fault}
	}
	fields = make([][]byte, len(r.names))
	for name, value := range record.members {
		fields[r.columns[name]] = []byte(value)
	}
	return fields, record.line, nil
}
