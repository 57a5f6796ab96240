package statsd

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/model"
)

func TestParseMessage(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		var m message
		got := m.parse([]byte(line))
		if got == "" {
			got = fmt.Sprintf("%s|%s=", m.name, suffixes[m.kind])
			for i, v := range m.values {
				switch got += ":"[:min(i, 1)]; {
				case m.kind == set:
					got += string(v.element)
				case v.change:
					got += fmt.Sprintf("%+g", v.number)
				default:
					got += fmt.Sprint(v.number)
				}
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	f("a.b c:1.5|g", "a.b c|g=1.5")
	f("a:2|c", "a|c=2")
	f("a:-2|c", "a|c=-2")
	f("a:2|c|@0.1", "a|c=20")
	f("a:320|ms", "a|ms=320")
	f("", reasonForm)
	f("a", reasonForm)
	f("a:1", reasonForm)
	f(":1|g", reasonForm)
	f("a|b:1|g", reasonForm)
	f("a:1|g:2", reasonForm)
	f("a:1:2|g", "a|g=1:2")
	f("a:b:5|g", reasonValue)
	f("a:1::2|c", reasonValue)
	f("\xff:1|g", reasonForm)
	f("\x00:1|g", reasonForm)
	f(strings.Repeat("a", 250)+":1|g", strings.Repeat("a", 250)+"|g=1")
	f(strings.Repeat("a", 251)+":1|g", reasonForm)
	f("a:|g", reasonValue)
	f("a:x|c", reasonValue)
	f("a:NaN|c", reasonValue)
	f("a:1e999|g", reasonValue)
	f("a:Inf|ms", reasonValue)
	f("a:1|", reasonType)
	f("a:1|x", reasonType)
	f("a:1|h", "a|ms=1")
	f("a:1.5|d", "a|ms=1.5")
	f("a:2|m|@0.5", "a|c=4")
	f("a/b/c:1|c", "a_b_c|c=1")
	f("a:1|s", "a|s=1")
	f("a:x:y z|s|@0.1", "a|s=x:y z")
	f("a:|s", reasonValue)
	f("a:+1|g", "a|g=+1")
	f("a:-1.5|g", "a|g=-1.5")
	f("a:-1|ms", "a|ms=-1")
	f("a:1:2:3|c|@0.5", "a|c=2:4:6")
	f("a:1|c|0.1", reasonForm)
	f("a:1|c|@0", reasonRate)
	f("a:1|c|@-1", reasonRate)
	f("a:1|c|@", reasonRate)
	f("a:1e300|c|@1e-300", reasonRate)
	f("a:1|g|@0.1", "a|g=1")
	f("a:320|ms|@0.1", "a|ms=320")
	f("a:320|ms|@2e-1", "a|ms=320")
	f("a:2|c|@0.1|#tag:x,other|c:ci-1f|e:it-false|card:low", "a|c=20")
	f("a:2|c|#tag:x|@0.1", "a|c=20")
	f("a:2|c|", "a|c=2")
	f("a:2|c||#x", reasonForm)
	f("a:2|c|x", reasonForm)
	f("a:2|c|T1656581400", "a|c=2")
	f("a:2|c|@0.5|T1656581400|#x", "a|c=4")
	for _, line := range []string{"a:2|c|T", "a:2|c|T0", "a:2|c|T-5", "a:2|c|T1.5", "a:2|c|T9223372037", "a:2|ms|T5", "a:x|s|T5",
		"a:+2|g|T5"} {
		f(line, reasonTime)
	}
	f("a:1|c|@0.5|@0.1", reasonForm)
	f("a:1|c|@1.5", reasonRate)
	f("a:1e-999|g", reasonValue)
	f("a:0x1p4|g", reasonValue)
	f(" a : 2 : 3 | c | @ 0.5 | #x ", "a|c=4:6")
}

// Values with a time of their own are stored at it, beside those of the flush: a counter's are added up, the last of a
// gauge's counts, and none is the value that a change begins with.
func TestMessagesWithATime(t *testing.T) {
	g := newGathered(10, 3, true)
	refused := gather(g, 100, "c:1|c|T5 c:2|c|T5 c:4|c|T6 c:8|c g:1|g|T5 g:2|g|T5 g:+3|g late:1|g|T99999999999 n:1|g|T8")
	if strings.Join(refused, " ") != "timestamp many" {
		t.Errorf("refused for %v", refused)
	}
	metrics, _ := g.drain()
	got := ""
	for _, byName := range metrics {
		for _, name := range slices.Sorted(maps.Keys(byName)) {
			for at, value := range byName[name].measures() {
				got += fmt.Sprint(model.Labels(name).Get(model.LabelName), " ", int64(at), " ", value, "; ")
			}
		}
	}
	if want := "g 5000000000 2; g 100 3; c 5000000000 3; c 6000000000 4; c 100 8; "; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// A datagram that the kernel has cut loses its last line, which is counted.
func TestDatagramThatIsCut(t *testing.T) {
	g := newGathered(10, 10, false)
	var refused []string
	data := append([]byte("a:1|c\r\nb:2|c\r"), bytes.Repeat([]byte("c"), maxDatagramBytes)...)
	if n := g.datagram(data, 1, func(reason string) { refused = append(refused, reason) }); n != 2 ||
		!slices.Equal(refused, []string{reasonCut}) {
		t.Errorf("%d accepted, refused %v", n, refused)
	}
}

func FuzzDatagram(f *testing.F) {
	f.Add([]byte("a:1|g\nb:2|c|@0.5\n\nc:3:4|ms\nd:+1|g\nd:1:2:1|s\na:1e308:+1e308|g"))
	f.Add([]byte(" "))
	f.Add([]byte("a:1|g\r \t\r\n\v\n\f:\n\r"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := newGathered(3, 4, false)
		refused := 0
		accepted := g.datagram(data, 1, func(string) { refused++ })
		lines := 0 // those of blanks alone are no messages
		for line := range strings.FieldsFuncSeq(string(data), func(c rune) bool { return c == '\n' || c == '\r' }) {
			if strings.Trim(line, " \t\v\f") != "" {
				lines++
			}
		}
		held, values := 0, 0
		for _, metrics := range g.metrics {
			held += len(metrics)
			for name, m := range metrics {
				values += len(m.values) + len(m.set)
				if math.IsNaN(m.value) || math.IsInf(m.value, 0) || strings.Contains(name, "/") {
					t.Fatalf("%q: %q is %v", data, name, m.value)
				}
			}
		}
		if accepted+refused != lines || held != g.count || held > 3 || held > accepted || values != g.values ||
			values > 4 {
			t.Fatalf("%q: %d accepted, %d refused of %d; %d metrics, %d held; %d values, %d held", data, accepted,
				refused, lines, g.count, held, g.values, values)
		}
	})
}

func BenchmarkDatagram(b *testing.B) {
	var data []byte
	const messages = 30
	for i := range messages {
		data = fmt.Appendf(data, "service.requests.%d:%d|c|@0.5\n", i, i)
	}
	g := newGathered(1000, 1000, false)
	b.ReportAllocs()
	for b.Loop() {
		if g.datagram(data, 1, func(string) {}) != messages {
			b.Fatal("refused")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/message")
}

// With labels, the name stays as it is, and DogStatsD's tags are labels.
func TestLabelsOfMessages(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		m := message{labelled: true}
		got := m.parse([]byte(line))
		if got == "" {
			for name, value := range model.Labels(m.name).All() {
				got += name + "=" + value + ";"
			}
		}
		if got != want {
			t.Errorf("%q: %s, want %s", line, got, want)
		}
	}
	f("a/b.c:1|g", "__name__=a/b.c;")
	f("a:2|c|#region:eu/1,env:prod|@0.1", "__name__=a;env=prod;region=eu/1;")
	f("a:2|c|@0.1|#env:prod,region:eu/1", "__name__=a;env=prod;region=eu/1;") // any order is one series
	f("a:2|ms|#url:http://x:80,canary,,empty:|c:ci-1f", "__name__=a;canary=true;url=http://x:80;")
	f("a:2|c|#", "__name__=a;")
	f("a:2|c|#:x", reasonForm)
	f("a:2|c|#__name__:x", reasonForm)
	f("a:2|c|#x:\xff", reasonForm)
	f("a:2|c|T1656581400", "__name__=a;")
	f("a:2|c|# x : 1 , y", "__name__=a;x=1;y=true;")
	f("a:2|c|#x:1,x:1", reasonLabels)
	f("a:2|c|#x:1,y:2,x:", reasonLabels)
	f("a:2|c|#x:1|#y:2", reasonForm)

	g := newGathered(10, 10, true)
	if refused := gather(g, 1, "a:1|c a:1|g a:2|ms a:5|c|#x:y b:1|s"); strings.Join(refused, " ") != "type type" {
		t.Errorf("refused for %v, want the second and third type of one series", refused)
	}
}
