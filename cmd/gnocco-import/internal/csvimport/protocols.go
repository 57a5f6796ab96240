package csvimport

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gnocco-db/gnocco/api/influxdb/lineprotocol"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/csv"
	"github.com/gnocco-db/gnocco/ingest/labelset"
	"github.com/gnocco-db/gnocco/internal/counted"
	"github.com/gnocco-db/gnocco/listener/graphite"
	"github.com/gnocco-db/gnocco/model"
)

// noTime is the time that decoders give a line without one: a file has no now.
const noTime = carbonara.Timestamp(-1)

const lacksTime = "has no timestamp"

// maxQuotedLines is how long a line of InfluxDB's may be that goes on below, in quotes: its text has 64 KiB at most.
const maxQuotedLines = 128 << 10

// protocolFile is a file in a protocol of senders. Its series are those that the server's door makes of such lines.
type protocolFile struct {
	*Importer
	name  string
	known map[string]uint32 // metrics, by their names as they stand in the file
	line  int
}

// eachLine calls use with each line of a file, numbered in f.line. in has the lines below.
func (i *Importer) eachLine(name string, source io.Reader,
	use func(f *protocolFile, line []byte, in *joinedLines) error) error {
	text, how, err := csv.TextOf(source)
	if err != nil {
		return refusal("%s %w", name, err)
	}
	if how != "" {
		i.options.Note(name + ": " + how)
	}
	f := &protocolFile{Importer: i, name: name, known: make(map[string]uint32)}
	in := &joinedLines{text: text}
	for number := 1; ; number++ {
		line, err := in.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("csvimport: read %s: %w", name, err)
		}
		f.line = number
		if err := use(f, line, in); err != nil {
			return err
		}
		number += len(in.last)
		in.last = nil
	}
	i.result.Files++
	return nil
}

// joinedLines reads lines, some of which go on in the next ones.
type joinedLines struct {
	text *bufio.Reader
	back [][]byte // read ahead, and no part of a line
	last [][]byte // lines that the last one goes on in
}

func (l *joinedLines) next() (line []byte, err error) {
	if len(l.back) > 0 {
		line, l.back = l.back[0], l.back[1:]
		return line, nil
	}
	for more := true; more && len(line) <= maxLine; {
		var part []byte
		part, err = l.text.ReadSlice('\n')
		line, more = append(line, part...), errors.Is(err, bufio.ErrBufferFull)
	}
	if len(line) > maxLine {
		return nil, errors.New("a line is longer than a gibibyte")
	}
	if err == io.EOF && len(line) > 0 {
		err = nil
	}
	return line, err
}

// join returns a line whose text in quotes is open with those below that close it, nil if none is near.
func (l *joinedLines) join(line []byte) []byte {
	whole, open := bytes.Clone(line), leavesOpen(line, false)
	var read [][]byte
	for open && len(whole) <= maxQuotedLines {
		next, err := l.next()
		if err != nil {
			break
		}
		read, whole, open = append(read, next), append(whole, next...), leavesOpen(next, open)
	}
	if open || len(read) == 0 {
		l.back = append(read, l.back...)
		return nil
	}
	l.last = read
	return whole
}

// split takes the last join back.
func (l *joinedLines) split() { l.back, l.last = append(l.last, l.back...), nil }

// leavesOpen reports whether a text in quotes is open at the end of a line.
func leavesOpen(line []byte, open bool) bool {
	for at := 0; at < len(line); at++ {
		switch line[at] {
		case '\\':
			at++
		case '"':
			open = !open
		}
	}
	return open
}

// add adds a measure of the metric that key stands for. labels returns its labels, if the key is new.
func (f *protocolFile) add(key []byte, t carbonara.Timestamp, value float64,
	labels func() (model.Labels, error)) error {
	if t == noTime {
		f.reject(lacksTime)
		return nil
	}
	if t > f.latest {
		f.reject(fmt.Sprintf("its timestamp is more than %v ahead of the clock", maxFuture))
		return nil
	}
	number, ok := f.known[string(key)]
	if !ok {
		read, err := labels()
		if err != nil {
			f.reject(err.Error())
			return nil
		}
		all := make(map[string]string)
		for name, value := range read.All() {
			all[name] = value
		}
		name := withLabels(all)
		if err := name.check(); err != nil {
			f.reject(err.Error())
			return nil
		}
		number = f.number(name, nil)
		f.known[string(key)] = number
	}
	m := f.metrics[number]
	m.newest = max(m.newest, t)
	m.rows++
	return f.rows.add(t, value, number)
}

func (f *protocolFile) reject(reason string) {
	f.result.Rejected++
	f.options.Reject(f.name, f.line, reason)
}

// Beginnings of lines that influx_inspect export writes beside line protocol.
const (
	exportedDDL      = "# DDL"
	exportedDML      = "# DML"
	exportedDatabase = "# CONTEXT-DATABASE:"
	exportedPolicy   = "# CONTEXT-RETENTION-POLICY:"
)

// Influx reads a file of InfluxDB's line protocol to its end, also one of influx_inspect export.
func (i *Importer) Influx(name string, source io.Reader) error {
	precision, ok := lineprotocol.ParsePrecision(i.options.Precision)
	if !ok {
		return fmt.Errorf("csvimport: --precision: %q is no unit of timestamps", i.options.Precision)
	}
	database, policies, definitions := i.options.Database, map[string]string{}, false
	var texts int64
	var lines lineprotocol.Lines
	var key []byte
	err := i.eachLine(name, source, func(f *protocolFile, line []byte, in *joinedLines) error {
		switch text := strings.TrimSpace(string(line[:min(len(line), 1024)])); {
		case text == exportedDDL, text == exportedDML:
			definitions = text == exportedDDL
		case strings.HasPrefix(text, exportedDatabase):
			if i.options.Database == "" {
				database = strings.TrimPrefix(text, exportedDatabase)
			}
			clear(f.known)
		case strings.HasPrefix(text, exportedPolicy):
			policy := strings.TrimPrefix(text, exportedPolicy)
			if before, ok := policies[database]; ok && before != policy {
				i.options.Note(fmt.Sprintf("%s:%d: retention policy %s of database %s goes into the series of %s", name, f.line,
					policy, database, before))
			}
			policies[database] = policy
		case definitions && !strings.HasPrefix(text, "#") && text != "":
			if !strings.HasPrefix(strings.ToUpper(text), "CREATE ") {
				f.reject("is no statement that creates something, between # DDL and # DML")
			}
		default:
			refused := ""
			decode := func(line []byte) bool {
				refused = ""
				err := lines.Decode(line, precision, noTime, func(_ int, reason string) { refused = reason })
				return err == nil && refused == ""
			}
			if !decode(line) {
				if whole := in.join(line); whole != nil && !decode(whole) {
					in.split()
					decode(line) // says why
				}
			}
			if refused != "" {
				f.reject(refused)
				return nil
			}
			texts += int64(lines.Texts)
			for n := range lines.Len() {
				key = lines.AppendKey(key[:0], n)
				if err := f.add(key, lines.Timestamps[n], lines.Values[n], func() (model.Labels, error) {
					labels, err := lines.Labels(n, database)
					if odd, ok := errors.AsType[*lineprotocol.LineError](err); ok {
						err = errors.New(odd.Reason)
					}
					return labels, err
				}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if texts > 0 {
		i.options.Note(fmt.Sprintf("%s: %s of text, which is not stored", name, counted.Of(texts, "field")))
		i.result.Rejected += texts
	}
	return err
}

// Graphite reads a file of Graphite's lines to its end: a name, a value and seconds since 1970.
func (i *Importer) Graphite(name string, source io.Reader) error {
	decoder, err := graphite.New(i.options.Templates)
	if err != nil {
		return fmt.Errorf("csvimport: --graphite-template: %w", err)
	}
	return i.eachLine(name, source, func(f *protocolFile, line []byte, _ *joinedLines) error {
		to := graphiteSink{f: f, decoder: decoder}
		decoder.Decode(line, noTime, &to)
		return to.err
	})
}

// graphiteSink takes the measures of a file of Graphite's lines.
type graphiteSink struct {
	f       *protocolFile
	decoder *graphite.Decoder
	err     error
}

// AddHead implements plaintext.Sink.
func (s *graphiteSink) AddHead(head []byte, at carbonara.Timestamp, value float64) {
	s.err = s.f.add(head, at, value, func() (model.Labels, error) {
		var labels labelset.Labels
		err := s.decoder.Read(head, &labels)
		return model.Labels(labels.Append(nil)), err
	})
}

// refusals say what a line of Graphite's lacks.
var refusals = map[string]string{"form": "is not NAME VALUE TIME, or a tag is not KEY=VALUE",
	"value": "its value is not a number", "timestamp": "its time is not in seconds since 1970"}

// Refuse implements plaintext.Sink.
func (s *graphiteSink) Refuse(reason string, _ []byte) { s.f.reject(refusals[reason]) }
