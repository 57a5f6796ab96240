package graphite

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/labelset"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/model"
)

// A Decoder reads lines.
type Decoder struct{ templates []template }

// A template gives the parts of a name a meaning.
type template struct{ filter, parts []string }

// The words of a template that name no label.
const (
	skipped  = "-"
	namePart = "name"
	nameRest = "name*" // all parts from here
)

// New returns a decoder with templates of the form "[FILTER ]PARTS". The first one that fits counts. PARTS are
// separated by dots: a label's name, "name", "name*" at the end, or "-" for a part that is left out. FILTER is parts of
// a name, "*" being any.
func New(templates []string) (*Decoder, error) {
	d := new(Decoder)
	var faults []error
	for _, text := range templates {
		words := strings.Fields(text)
		if len(words) == 0 || len(words) > 2 {
			faults = append(faults, fmt.Errorf("graphite: template %q is not [FILTER ]PARTS", text))
			continue
		}
		var t template
		if len(words) == 2 {
			t.filter = strings.Split(words[0], ".")
		}
		t.parts = strings.Split(words[len(words)-1], ".")
		named := false
		for i, part := range t.parts {
			last := i == len(t.parts)-1
			switch {
			case part == namePart, part == nameRest && last:
				named = true
			case part != skipped && slices.Contains(t.parts[:i], part):
				faults = append(faults, fmt.Errorf("graphite: template %q has the label %q twice", text, part))
			case part == "" || strings.ContainsAny(part, "*;=") || strings.HasPrefix(part, "__"):
				faults = append(faults, fmt.Errorf("graphite: template %q: %q is no label", text, part))
			}
		}
		if !named {
			faults = append(faults, fmt.Errorf("graphite: template %q has no name", text))
		}
		d.templates = append(d.templates, t)
	}
	return d, errors.Join(faults...)
}

// apply sets the labels of a name, and reports whether the template fits it.
func (t *template) apply(parts []string, labels *labelset.Labels) bool {
	rest := t.parts[len(t.parts)-1] == nameRest
	if len(parts) < len(t.parts) || !rest && len(parts) > len(t.parts) || len(t.filter) > len(parts) {
		return false
	}
	for i, want := range t.filter {
		if want != "*" && want != parts[i] {
			return false
		}
	}
	var name []string
	for i, part := range t.parts {
		switch part {
		case skipped:
		case namePart:
			name = append(name, parts[i])
		case nameRest:
			name = append(name, parts[i:]...)
		default:
			labels.Set(part, parts[i])
		}
	}
	labels.Set(model.LabelName, strings.Join(name, "_"))
	return true
}

// Decode implements listener.Decoder.
func (d *Decoder) Decode(line []byte, now carbonara.Timestamp, to plaintext.Sink) {
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return
	}
	var fields [4][]byte // one more than there may be
	n := 0
	for field := range bytes.FieldsSeq(line) {
		if n < len(fields) {
			fields[n] = field
			n++
		}
	}
	if (n != 3 && n != 2) || !isName(fields[0]) || !utf8.Valid(line) {
		to.Refuse("form", line)
		return
	}
	value, err := plaintext.ParseValue(string(fields[1]))
	if err != nil || math.IsNaN(value) {
		to.Refuse("value", line)
		return
	}
	at := now
	if n == 3 {
		var ok bool
		if at, ok = parseTime(string(fields[2]), now); !ok {
			to.Refuse("timestamp", line)
			return
		}
	}
	to.AddHead(fields[0], at, value)
}

// parseTime reads seconds since 1970. -1 and N are now, as in Graphite and its clients.
func parseTime(text string, now carbonara.Timestamp) (carbonara.Timestamp, bool) {
	if text == "-1" || text == "N" {
		return now, true
	}
	at, err := model.TimestampNumber.Parse(text, now)
	return at, err == nil && !strings.Contains(text, "_")
}

// isName reports whether a name has a first part, and tags of the form KEY=VALUE, each key once.
func isName(name []byte) bool {
	name, tags, tagged := bytes.Cut(name, []byte(";"))
	if !tagged {
		return true
	}
	for rest, more := tags, true; more; {
		var tag []byte
		tag, rest, more = bytes.Cut(rest, []byte(";"))
		i := bytes.IndexByte(tag, '=')
		if i <= 0 || string(tag[:i]) == model.LabelName || hasTag(rest, tag[:i+1]) {
			return false
		}
	}
	return len(name) > 0
}

// hasTag reports whether one of the tags begins with a key and "=".
func hasTag(tags, key []byte) bool {
	for more := true; more; {
		if bytes.HasPrefix(tags, key) {
			return true
		}
		_, tags, more = bytes.Cut(tags, []byte(";"))
	}
	return false
}

// Read sets the labels that a name means.
func (d *Decoder) Read(text []byte, labels *labelset.Labels) error {
	name, tags, tagged := strings.Cut(string(text), ";")
	labels.Set(model.LabelName, name)
	for tag := range strings.SplitSeq(tags, ";") {
		key, value, _ := strings.Cut(tag, "=")
		labels.Set(key, value)
	}
	parts := strings.Split(name, ".")
	for i := range d.templates {
		if !tagged && d.templates[i].apply(parts, labels) {
			break
		}
	}
	return nil
}
