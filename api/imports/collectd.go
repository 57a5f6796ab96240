package imports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/model"
)

// A valueList is what collectd's plugin write_http sends of one type at one time. Metadata is left out.
type valueList struct {
	values           []json.RawMessage // null: a gap
	dsTypes, dsNames []string
	at               carbonara.Timestamp
	host             string
	plugin           string
	pluginInstance   string
	kind             string
	typeInstance     string
}

// field reads a field of JSON.
func (l *valueList) field(name string, text []byte) error {
	if name == "time" {
		at, err := model.TimestampNumber.Parse(string(text), 0)
		if l.at = at; err != nil {
			return refuse("time %.60s is not between 1970 and 2262, in seconds", text)
		}
		return nil
	}
	into, what := map[string]any{"values": &l.values, "dstypes": &l.dsTypes, "dsnames": &l.dsNames, "host": &l.host,
		"plugin": &l.plugin, "plugin_instance": &l.pluginInstance, "type": &l.kind,
		"type_instance": &l.typeInstance}[name], "text"
	switch into.(type) {
	case nil:
		return nil
	case *[]json.RawMessage, *[]string:
		what = "a list"
	}
	if string(text) == "null" || json.Unmarshal(text, into) != nil {
		return refuse("%s %.60s is not %s", name, text, what)
	}
	return nil
}

// decodeCollectd reads a list of value lists.
func (b *body) decodeCollectd() error {
	d := json.NewDecoder(bytes.NewReader(b.text))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return web.BadRequest("The body has to be a list of collectd's value lists")
	}
	for d.More() {
		if b.refused.End(b.total) {
			return nil
		}
		b.line, b.total = b.line+1, b.total+1
		var text json.RawMessage
		if err := d.Decode(&text); err != nil { // the rest cannot be found
			b.refused.Unreadable(b.line, err.Error())
			return nil
		}
		var refused *lineError
		if err := b.valueList(text); errors.As(err, &refused) {
			b.refused.Unreadable(b.line, refused.reason)
		} else if err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		b.total++
		b.refused.Unreadable(b.line+1, "the list does not end")
	} else if _, err := d.Token(); err != io.EOF {
		b.total++
		b.refused.Unreadable(b.line+1, "text follows the list")
	}
	return nil
}

// valueList adds the series of a value list.
func (b *body) valueList(text []byte) error {
	if !isUnicode(text) {
		return refuse("not valid UTF-8")
	}
	list := valueList{at: -1}
	if err := plaintext.EachKey(text, list.field); err != nil {
		return refuse("%s", err)
	}
	n := len(list.values)
	switch {
	case n == 0 || len(list.dsTypes) != n || len(list.dsNames) != n:
		return refuse("the numbers of values, dstypes and dsnames are %d, %d and %d", n, len(list.dsTypes), len(list.dsNames))
	case list.plugin == "" || list.kind == "" || list.at < 0:
		return refuse("plugin, type and time are needed")
	}
	odd, first := 0, error(nil)
	for i, kind := range list.dsTypes {
		value, gap, err := list.value(i, kind)
		if err != nil {
			odd, first = odd+1, cmp.Or(first, err)
		}
		if err != nil || gap {
			continue
		}
		b.scratch = b.scratch[:0]
		for _, label := range [][2]string{{"host", list.host}, {"plugin", list.plugin}, {"type", list.kind},
			{"plugin_instance", list.pluginInstance}, {"type_instance", list.typeInstance}} {
			b.scratch.Set(label[0], label[1])
		}
		if n > 1 {
			b.scratch.Set("value", list.dsNames[i])
		}
		b.scratch.Set(model.LabelName, list.name(kind))
		if err := b.add(list.at, value); err != nil {
			return err
		}
	}
	if odd > 0 {
		b.refused.Unreadable(b.line, fmt.Sprintf("values refused: %d of %d: %s", odd, n, first))
	}
	return nil
}

// value reads a value. gap says that there is none.
func (l *valueList) value(i int, kind string) (value float64, gap bool, err error) {
	text := string(l.values[i])
	switch {
	case kind != "gauge" && kind != "derive" && kind != "counter" && kind != "absolute":
		return 0, false, refuse("dstype %.40q of value %d is unknown", kind, i)
	case slices.Contains(l.dsNames[:i], l.dsNames[i]):
		return 0, false, refuse("dsname %.40q of value %d stands there twice", l.dsNames[i], i)
	case l.dsNames[i] == "" && len(l.values) > 1:
		return 0, false, refuse("value %d has no dsname", i)
	case text == "null":
		return 0, true, nil
	}
	value, err = plaintext.ParseValue(text)
	_, signed := strconv.ParseInt(plaintext.Whole(text), 10, 64)
	_, unsigned := strconv.ParseUint(plaintext.Whole(text), 10, 64)
	switch {
	case err != nil:
		return 0, false, refuse("value %d: %s", i, err)
	case kind == "derive" && errors.Is(signed, strconv.ErrRange),
		kind != "derive" && kind != "gauge" && (value < 0 || errors.Is(unsigned, strconv.ErrRange)):
		return 0, false, refuse("value %d: %s is beyond a %s of 64 bits", i, text, kind)
	}
	return value, false, nil
}

// name returns the name of a series: "collectd_PLUGIN_TYPE", with the suffix _total if the kind of value grows.
func (l *valueList) name(kind string) string {
	name := "collectd_" + l.plugin
	if l.kind != l.plugin {
		name += "_" + l.kind
	}
	if kind == "derive" || kind == "counter" {
		name += "_total"
	}
	return strings.ReplaceAll(name, "-", "_")
}
