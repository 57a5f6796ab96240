package lineprotocol

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/model"
)

// databaseLabel is the label of a database, or of a bucket.
const databaseLabel = "db"

// A Target says which metric of which resource a measure belongs to. Its texts do not refer to the body.
type Target struct {
	Resource string // the resource's original ID
	Metric   string // the metric's name
}

// ErrNoTag is of a line without the tag that names the resource.
var ErrNoTag = errors.New("influxdb: the tag that names the resource is missing")

// AppendKey appends a key of the metric of measure i, given that the same tag names the resource: equal
// keys, equal targets. It checks nothing.
func (l *Lines) AppendKey(dst []byte, i int) []byte {
	head, name := l.text(l.of[i].head), l.text(l.of[i].name)
	dst = binary.AppendUvarint(dst, uint64(len(head)))
	dst = append(dst, head...)
	return append(dst, name...)
}

// LineEnd returns the measure behind those of i's line.
func (l *Lines) LineEnd(i int) int {
	end := i + 1
	for end < len(l.of) && l.of[end].head == l.of[i].head {
		end++
	}
	return end
}

// AppendLineKey appends a key of the metrics of measures i to end, which are of one line: equal keys, equal targets in
// the same order.
func (l *Lines) AppendLineKey(dst []byte, i, end int) []byte {
	appendText := func(s span) {
		dst = binary.AppendUvarint(dst, uint64(s.to-s.from))
		dst = append(dst, l.text(s)...)
	}
	appendText(l.of[i].head)
	for _, of := range l.of[i:end] {
		appendText(of.name)
	}
	return dst
}

// Target returns the target of measure i, whose resource is named by a tag. The error is an ErrNoTag or a *LineError.
func (l *Lines) Target(i int, tag string) (*Target, error) {
	of := l.of[i]
	head, fieldName, tags, err := l.names(of, false)
	if err != nil {
		return nil, err
	}
	name := head + "." + fieldName
	resource, ok := tags[tag]
	if !ok {
		return nil, fmt.Errorf("%w: line %d", ErrNoTag, of.line)
	}
	delete(tags, tag)
	for n, key := range slices.Sorted(maps.Keys(tags)) {
		name += string("@,"[min(n, 1)]) + key + "=" + tags[key]
	}
	if !utf8.ValidString(name) || !utf8.ValidString(resource) {
		return nil, &LineError{of.line, "not valid UTF-8"}
	}
	return &Target{Resource: resource, Metric: strings.ReplaceAll(name, "/", "_")}, nil
}

// Labels returns the labels of measure i: the name "measurement_field", the tags, and the database unless it is "" or a
// tag has its name. The error is a *LineError.
func (l *Lines) Labels(i int, database string) (model.Labels, error) {
	of := l.of[i]
	measurement, fieldName, tags, err := l.names(of, true)
	if err != nil {
		return "", err
	}
	if _, ok := tags[databaseLabel]; !ok && database != "" {
		tags[databaseLabel] = database
	}
	tags[model.LabelName] = measurement + "_" + fieldName
	var labels []byte
	for _, name := range slices.Sorted(maps.Keys(tags)) {
		labels = model.AppendLabel(labels, name, tags[name])
	}
	if !model.Labels(labels).Valid() {
		return "", &LineError{of.line, "not valid UTF-8"}
	}
	return model.Labels(labels), nil
}

// names returns the measurement, name and tags of a field. InfluxDB lets a measurement have equals signs, Gnocchi does
// not.
func (l *Lines) names(of field, equals bool) (measurement, name string, tags map[string]string, err error) {
	measurement, rest, ok := parseName(l.text(of.head))
	for equals && ok && len(rest) > 0 && rest[0] == '=' {
		var part string
		part, rest, _ = parseName(rest[1:])
		measurement += "=" + part
	}
	if !ok {
		return "", "", nil, &LineError{of.line, "no measurement"}
	}
	name, left, ok := parseName(l.text(of.name))
	if !ok || len(left) > 0 {
		return "", "", nil, &LineError{of.line, "no name of a field"}
	}
	tags = map[string]string{}
	for len(rest) > 0 {
		var key, value string
		ok := rest[0] == ','
		if ok {
			key, rest, ok = parseName(rest[1:])
		}
		if ok = ok && len(rest) > 0 && rest[0] == '='; ok {
			value, rest, ok = parseName(rest[1:])
		}
		if !ok {
			return "", "", nil, &LineError{of.line, "tags are not of the form key=value"}
		}
		if _, ok := tags[key]; ok || key == model.LabelName {
			return "", "", nil, &LineError{of.line, fmt.Sprintf("label %.100q stands there twice", key)}
		}
		tags[key] = value
	}
	return measurement, name, tags, nil
}

// text returns a part of the body.
func (l *Lines) text(s span) []byte { return l.body[s.from:s.to] }

// parseName returns the name that text begins with, in plain and without tabs around it, and what follows them. It is
// never empty.
func parseName(text []byte) (name string, rest []byte, ok bool) {
	end := nameEnd(text, 0)
	raw, rest := bytes.Trim(text[:end], "\t"), bytes.TrimLeft(text[end:], "\t")
	var plain strings.Builder
	if quoted, ok := quoteEnd(raw, 0); ok {
		for i := 1; i < quoted-1; i++ {
			if raw[i] == '\\' {
				i++
			}
			plain.WriteByte(raw[i])
		}
		return plain.String(), rest, plain.Len() > 0
	}
	for i := 0; i < len(raw); i++ {
		if raw[i] == '\\' && i+1 < len(raw) && isEscaped(raw[i+1]) {
			i++
		}
		plain.WriteByte(raw[i])
	}
	return plain.String(), rest, plain.Len() > 0
}
