package graphite_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/ingest/series"
	"github.com/gnocco-db/gnocco/listener/graphite"
)

// sink shows the series that lines become.
type sink struct {
	decoder *graphite.Decoder
	added   []string
	refused int
}

func (s *sink) AddHead(head []byte, at carbonara.Timestamp, value float64) {
	batch := series.Batch{Read: s.decoder.Read}
	_ = batch.AddHead(head, at, value)
	name, err := batch.Name(0)
	if err != nil {
		s.added = append(s.added, err.Error())
		return
	}
	text := name.Metric
	for label, value := range name.Labels.All() {
		if label != "__name__" {
			text += " " + label + "=" + value
		}
	}
	s.added = append(s.added, fmt.Sprint(text, " ", value, " ", int64(at)/1e6))
}

func (s *sink) Refuse(string, []byte) { s.refused++ }

func show(t *testing.T, templates []string, lines string) string {
	t.Helper()
	decoder, err := graphite.New(templates)
	if err != nil {
		t.Fatal(err)
	}
	s := sink{decoder: decoder}
	for line := range strings.Lines(lines) {
		decoder.Decode([]byte(line), 1_000_000_000_000, &s)
	}
	return strings.Join(s.added, "; ")
}

func TestDecoder(t *testing.T) {
	f := func(lines, want string, templates ...string) {
		t.Helper()
		if got := show(t, templates, lines); got != want {
			t.Errorf("%q by %q: %q, want %q", lines, templates, got, want)
		}
	}
	f("a.b.c 1.5 60", "a.b.c 1.5 60000")
	f("  a.b\t-2e3   60.25\r", "a.b -2000 60250")
	f("a 1 60.000000001\na 2 60.000000002\na 3 6e1", "a 1 60000; a 2 60000; a 3 60000")
	f("a 1 -1\na 2 N\na 3", "a 1 1000000; a 2 1000000; a 3 1000000")
	f("disk.used;host=web-1;path=/var/x=y;empty= 5 60", "disk.used host=web-1 path=/var/x=y 5 60000")
	f("a nan 60\na x 60\na 1 x\na 1 -5\na 1 99999999999\na 1 2 3\n\n;a=b 1 60\na;b 1 60\na;=b 1 60\na;__name__=x 1 60\n\xff 1 60", "")
	f("servers.web-1.cpu.load 2 60", "cpu_load host=web-1 2 60000", "-.host.name*")
	f("servers.web-1.cpu.load 2 60", "cpu_load host=web-1 2 60000", "other.* -.region.name*", "servers.* -.host.name.name")
	f("servers.web-1.cpu 2 60", "servers.web-1.cpu 2 60000", "-.host.name.name")
	f("servers.web-1.cpu.a.b 2 60", "servers.web-1.cpu.a.b 2 60000", "-.host.name.name")
	for _, template := range []string{"", "a b c", "host.region", "name*.host", "a..name", "__x.name", "a;b.name"} {
		if _, err := graphite.New([]string{template}); err == nil {
			t.Errorf("template %q is accepted", template)
		}
	}
}

// A line is one series, or refused, unless it is empty.
func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"a.b.c 1.5 60", "disk.used;host=web-1;path=/var/x=y 5 -1", "servers.web-1.cpu.load 2 60.25",
		"a;b 1 1", "a nan 1", "\xff 1 1", "a 1 9223372037", "a 0x1p-2 1e9"} {
		f.Add([]byte(seed))
	}
	decoder, err := graphite.New([]string{"servers.* -.host.name*", "a.name.name"})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		s := sink{decoder: decoder}
		decoder.Decode(line, 1, &s)
		if elements := len(s.added) + s.refused; elements != 1 && strings.TrimSpace(string(line)) != "" {
			t.Fatalf("%d elements", elements)
		}
		if len(s.added) == 1 && (!utf8.Valid(line) || strings.Contains(s.added[0], fmt.Sprint(math.NaN(), " "))) {
			t.Fatalf("%q is accepted: %v", line, s.added)
		}
	})
}
