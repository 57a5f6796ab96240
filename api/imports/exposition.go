package imports

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/textparse"
	"github.com/prometheus/prometheus/model/value"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/plaintext"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
)

// maxProtobufBytes is the most of a body of protobuf, which becomes structs.
const maxProtobufBytes = 4 << 20

// decodeText reads Prometheus' exposition format line by line: so a fault ends with its line. The parser reads names
// and labels of unknown series only, and lines of another form than most.
func (b *body) decodeText() error {
	b.kinds = map[string]string{}
	kind, parameters, _ := mime.ParseMediaType(b.kind)
	switch {
	case kind == "application/openmetrics-text":
		return &web.Error{Status: http.StatusUnsupportedMediaType,
			Detail: "The Content-Type has to be text/plain; the timestamps of OpenMetrics are others"}
	case kind == "application/vnd.google.protobuf":
		if parameters["encoding"] != "delimited" {
			return &web.Error{Status: http.StatusUnsupportedMediaType,
				Detail: "The encoding of application/vnd.google.protobuf has to be delimited"}
		}
		return b.decodeProtobuf()
	}
	for number, line := range plaintext.Lines(b.text) {
		if b.refused.End(b.total) {
			break
		}
		b.line = number
		if len(line) == 0 {
			continue
		}
		b.total++
		if !utf8.Valid(line) {
			b.refused.Unreadable(b.line, "not valid UTF-8")
			continue
		}
		switch err := b.textLine(line); {
		case errors.Is(err, budget.ErrExhausted):
			return err
		case err != nil:
			reason := strings.TrimPrefix(err.Error(), "strconv.ParseFloat: ")
			b.refused.Unreadable(b.line, strings.TrimPrefix(reason, "strconv.ParseInt: "))
		}
	}
	return nil
}

// textLine adds the series of a line.
func (b *body) textLine(line []byte) error {
	if c, ok := bytes.CutPrefix(line, []byte("#")); ok && !bytes.Contains(c, []byte("HELP")) &&
		!bytes.Contains(c, []byte("TYPE")) { // Prometheus' parser takes long for a comment
		return nil
	}
	head, at, v, ok, err := cutHead(line, b.now)
	if err != nil || ok && value.IsStaleNaN(v) {
		return err
	}
	if ok {
		return b.noted(b.batch.AddHead(head, at, v))
	}
	return b.parse(textparse.NewPromParser(typeLine(line), b.symbols, false), func() {})
}

// typeLine returns a line of a type without the blanks that Prometheus' parser does not expect. Other lines stay.
func typeLine(line []byte) []byte {
	if f := bytes.Fields(bytes.TrimPrefix(line, []byte("#"))); line[0] == '#' && len(f) == 3 && string(f[0]) == "TYPE" {
		return fmt.Appendf(nil, "# TYPE %s %s", f[1], f[2])
	}
	return line
}

// cutHead takes a line apart: name and labels, which are not read, value and time. ok is false for another form. The
// error is of a number that is out of its range.
func cutHead(line []byte, now carbonara.Timestamp) (head []byte, at carbonara.Timestamp, value float64, ok bool,
	err error) {
	end := bytes.LastIndexByte(line, '}') + 1
	if end == 0 { // without labels
		for end < len(line) && isInName(line[end]) {
			end++
		}
	}
	rest := bytes.TrimLeft(line[end:], plaintext.Blanks)
	number, ms := rest, []byte(nil)
	if i := bytes.IndexAny(rest, plaintext.Blanks); i >= 0 {
		number, ms = rest[:i], plaintext.Trim(rest[i:])
	}
	if len(rest) == len(line)-end || end == 0 || line[0] == '#' || bytes.ContainsAny(ms, "+-") {
		return nil, 0, 0, false, nil
	}
	value, err = plaintext.ParseValue(string(number))
	if errors.Is(err, plaintext.ErrRange) {
		return nil, 0, 0, false, err
	}
	if at = now; len(ms) > 0 && err == nil {
		var milliseconds int64
		if milliseconds, err = strconv.ParseInt(string(ms), 10, 64); err == nil {
			at, err = fromMillis(milliseconds)
		}
	}
	return plaintext.Trim(line[:end]), at, value, err == nil, nil
}

func isInName(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c >= '0' && c <= ':' || c == '_' }

// readHead reads the name and labels of a line.
func (b *body) readHead(head []byte, dst *series.Labels) error {
	p := textparse.NewPromParser(append(bytes.Clone(head), " 1\n"...), b.symbols, false)
	for {
		switch entry, err := p.Next(); {
		case err != nil:
			return web.BadRequest("%s", err)
		case entry == textparse.EntrySeries:
			var set labels.Labels
			p.Labels(&set)
			if name, twice := set.HasDuplicateLabelNames(); twice {
				return web.BadRequest("label %.100q stands there twice", name)
			}
			set.Range(func(l labels.Label) { dst.Set(l.Name, l.Value) })
			dst.SetAll(b.labels)
			return nil
		}
	}
}

// decodeProtobuf reads messages of MetricFamily, as Prometheus' library for Go pushes them. A damaged one costs itself.
func (b *body) decodeProtobuf() error {
	if len(b.text) > maxProtobufBytes {
		return &http.MaxBytesError{Limit: maxProtobufBytes}
	}
	for text := b.text; len(text) > 0 && !b.refused.End(b.total); {
		_, n := protowire.ConsumeBytes(text)
		if n < 0 { // the rest cannot be found
			n = len(text)
		}
		parser := textparse.NewProtobufParser(text[:n], false, true, false, false, b.symbols)
		err := b.parse(parser, func() { b.line, b.total = b.line+1, b.total+1 })
		if errors.Is(err, budget.ErrExhausted) {
			return err
		} else if err != nil {
			b.line, b.total = b.line+1, b.total+1
			b.refused.Unreadable(b.line, "it could not be decoded: "+err.Error())
		}
		text = text[n:]
	}
	return nil
}

// decodePush is decodeText, and notes the time of a push without faults as the Pushgateway does.
func (b *body) decodePush() error {
	if err := b.decodeText(); err != nil || b.refused.Unread > 0 {
		return err
	}
	for row := range b.batch.Len() {
		if _, err := b.batch.Name(row); err != nil { // refused later
			return nil
		}
	}
	b.line, b.scratch = 0, b.scratch[:0]
	b.scratch.Set(model.LabelName, "push_time_seconds")
	return b.add(b.now, float64(b.now)/1e9)
}

// parse adds the series that a parser finds, and calls found for each, and for each type that is refused.
func (b *body) parse(p textparse.Parser, found func()) error {
	var set labels.Labels
	for {
		entry, err := p.Next()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		}
		switch entry {
		case textparse.EntryType:
			name, kind := p.Type()
			if before, ok := b.kinds[string(name)]; ok && before != string(kind) {
				found()
				b.refused.Unreadable(b.line, fmt.Sprintf("%.100q is a %s above, and here a %s", name, before, kind))
				continue
			}
			b.kinds[string(name)] = string(kind)
			if err := b.describe(string(name), func(m *series.Metadata) { m.Kind = string(kind) }); err != nil {
				return err
			}
		case textparse.EntryHelp:
			name, help := p.Help()
			if err := b.describe(string(name), func(m *series.Metadata) { m.Help = string(help) }); err != nil {
				return err
			}
		case textparse.EntryHistogram:
			found()
			p.Labels(&set)
			b.refused.Unreadable(b.line, set.Get(model.LabelName)+" is a native histogram, which is not supported here")
		case textparse.EntrySeries:
			found()
			_, ms, v := p.Series()
			at := b.now
			if ms != nil {
				at, err = fromMillis(*ms)
			}
			p.Labels(&set)
			if name, twice := set.HasDuplicateLabelNames(); twice {
				err = fmt.Errorf("label %.100q stands there twice", name)
			}
			if err != nil {
				b.refused.Unreadable(b.line, err.Error())
			}
			if err != nil || value.IsStaleNaN(v) {
				continue
			}
			b.scratch = b.scratch[:0]
			set.Range(func(l labels.Label) { b.scratch.Set(l.Name, l.Value) })
			if err := b.add(at, v); err != nil {
				return err
			}
		}
	}
}

// metadataAtOnce is for how many names a body acquires memory at once, of bytesPerMetadata each.
const (
	metadataAtOnce   = 256
	bytesPerMetadata = 300
)

// describe sets something of the metadata of a name, which TYPE and HELP share if they follow each other.
func (b *body) describe(name string, set func(*series.Metadata)) error {
	n := len(b.metadata)
	if n == 0 || b.metadata[n-1].Name != name {
		if n%metadataAtOnce == metadataAtOnce-1 && b.batch.Acquire != nil {
			if err := b.batch.Acquire(metadataAtOnce * bytesPerMetadata); err != nil {
				return err
			}
		}
		b.metadata = append(b.metadata, series.Metadata{Name: name})
	}
	set(&b.metadata[len(b.metadata)-1])
	return nil
}

// decodeBase64 decodes the alphabet for URLs, with padding or without. "=" is the empty text.
func decodeBase64(text string) (string, error) {
	plain, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(text, "="))
	return string(plain), err
}
