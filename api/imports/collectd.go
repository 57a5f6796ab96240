package imports

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
)

// A valueList is what collectd's plugin write_http sends of one type at one time. Metadata is left out.
type valueList struct {
	Values           []*float64 // null: a gap
	DSTypes, DSNames []string
	Time             float64 // seconds since 1970, with milliseconds
	Host             string
	Plugin           string
	PluginInstance   string `json:"plugin_instance"`
	Type             string
	TypeInstance     string `json:"type_instance"`
}

// decodeCollectd reads a list of value lists.
func (b *body) decodeCollectd() error {
	d := json.NewDecoder(bytes.NewReader(b.text))
	if start, err := d.Token(); err != nil || start != json.Delim('[') {
		return web.BadRequest("The body has to be a list of collectd's value lists")
	}
	for d.More() {
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
		b.refused.Unreadable(b.line+1, "the list does not end")
	} else if _, err := d.Token(); err != io.EOF {
		b.refused.Unreadable(b.line+1, "text follows the list")
	}
	return nil
}

// valueList adds the series of a value list.
func (b *body) valueList(text []byte) error {
	if !utf8.Valid(text) { // encoding/json would replace invalid bytes by another character
		return refuse("not valid UTF-8")
	}
	var list valueList
	if err := json.Unmarshal(text, &list); err != nil {
		return refuse("%s", err)
	}
	n, ms := len(list.Values), math.Round(list.Time*1000)
	switch {
	case n == 0 || len(list.DSTypes) != n || len(list.DSNames) != n:
		return refuse("%d values, %d dstypes and %d dsnames", n, len(list.DSTypes), len(list.DSNames))
	case list.Plugin == "" || list.Type == "":
		return refuse("plugin and type are needed")
	case ms < 0 || ms > math.MaxInt64/1_000_000:
		return refuse("time %v is not between 1970 and 2262, in seconds", list.Time)
	}
	at := carbonara.Timestamp(ms) * 1_000_000
	for i, kind := range list.DSTypes {
		if kind != "gauge" && kind != "derive" && kind != "counter" && kind != "absolute" {
			return refuse("dstype %.40q of value %d is unknown", kind, i)
		}
	}
	for i, kind := range list.DSTypes {
		if list.Values[i] == nil {
			continue
		}
		b.scratch = b.scratch[:0]
		for _, label := range [][2]string{{"host", list.Host}, {"plugin", list.Plugin}, {"type", list.Type},
			{"plugin_instance", list.PluginInstance}, {"type_instance", list.TypeInstance}} {
			b.scratch.Set(label[0], label[1])
		}
		if n > 1 {
			b.scratch.Set("value", list.DSNames[i])
		}
		b.scratch.Set(model.LabelName, list.name(kind))
		if err := b.add(at, *list.Values[i]); err != nil {
			return err
		}
	}
	return nil
}

// name returns the name of a series: "collectd_PLUGIN_TYPE", with the suffix _total if the kind of value grows.
func (l *valueList) name(kind string) string {
	name := "collectd_" + l.Plugin
	if l.Type != l.Plugin {
		name += "_" + l.Type
	}
	if kind == "derive" || kind == "counter" {
		name += "_total"
	}
	return strings.ReplaceAll(name, "-", "_")
}
