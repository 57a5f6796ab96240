package statsd

import (
	"fmt"
	"strings"
	"testing"
)

func TestParseMessage(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		m, reason := parseMessage([]byte(line))
		got := reason
		if reason == "" {
			got = fmt.Sprintf("%s|%s=%v", m.name, suffixes[m.kind], m.value)
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
	f("a:1:2|g", reasonForm)
	f("\xff:1|g", reasonForm)
	f("\x00:1|g", reasonForm)
	f(strings.Repeat("a", 251)+":1|g", reasonForm)
	f("a:|g", reasonValue)
	f("a:x|c", reasonValue)
	f("a:NaN|c", reasonValue)
	f("a:1e999|g", reasonValue)
	f("a:1|", reasonType)
	f("a:1|h", reasonType)
	f("a:1|s", reasonSet)
	f("a:+1|g", reasonDelta)
	f("a:-1|g", reasonDelta)
	f("a:1|c|0.1", reasonRate)
	f("a:1|c|@0", reasonRate)
	f("a:1|c|@-1", reasonRate)
	f("a:1|c|@", reasonRate)
	f("a:1|c|@0.1|#tag:x", reasonForm)
	f("a:1|g|@0.1", reasonRate)
	f("a:1|ms|@0.1", reasonRate)
}

func FuzzDatagram(f *testing.F) {
	f.Add([]byte("a:1|g\nb:2|c|@0.5\n\nc:3|ms\nd:+1|g\nd:1|s"))
	f.Fuzz(func(t *testing.T, data []byte) {
		g := newGathered(3)
		refused := 0
		accepted := g.datagram(data, 1, func(string) { refused++ })
		lines := 0
		for line := range strings.SplitSeq(string(data), "\n") {
			if line != "" {
				lines++
			}
		}
		held := 0
		for _, measures := range g.measures {
			held += len(measures)
		}
		if accepted+refused != lines || held != g.metrics || held > 3 || held > accepted {
			t.Fatalf("%q: %d accepted, %d refused of %d; %d metrics, %d held", data, accepted, refused,
				lines, g.metrics, held)
		}
	})
}

func BenchmarkDatagram(b *testing.B) {
	var data []byte
	const messages = 30
	for i := range messages {
		data = fmt.Appendf(data, "service.requests.%d:%d|c|@0.5\n", i, i)
	}
	g := newGathered(1000)
	b.ReportAllocs()
	for b.Loop() {
		if g.datagram(data, 1, func(string) {}) != messages {
			b.Fatal("refused")
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/messages, "ns/message")
}
