package promql_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"
)

// Every parser reads texts up to their bounds, and no further.
func TestTextsAreBounded(t *testing.T) {
	s := newStore(t, parser.Options{})
	f := func(text, fault string) {
		t.Helper()
		_, parsed := s.engine.Parser().ParseExpr(text)
		for _, err := range []error{parsed, s.instant(text, s.now).Err} {
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != fault {
				t.Errorf("%.40s… of %d bytes: %q, want %q", text, len(text), got, fault)
			}
		}
	}
	repeated := strings.Repeat
	f("a"+repeated(" ", 65535), "")
	f("a"+repeated(" ", 65536), "65537 bytes of PromQL: at most 65536 are parsed")
	f(repeated("(", 100)+"1"+repeated(")", 100), "")
	f(repeated("(", 101)+"1"+repeated(")", 101), "parentheses are nested deeper than 100 levels")
	f(repeated("(", 30000), "parentheses are nested deeper than 100 levels")
	f(repeated("(1)+", 300)+"1", "") // beside each other
	const operators = "more than 500 operators, ranges and offsets"
	f(repeated("-", 500)+"1", "")
	f(repeated("-", 65000)+"1", operators)
	f(repeated("1+", 500)+"1", "")
	f(repeated("1+", 20000)+"1", operators)
	f("x"+repeated("[5m:1m]", 501), operators)
	f("x"+repeated(" offset 5m", 501), operators)
	f("x"+repeated(" @ 5", 501), operators)
	f("x{"+repeated(`a!="b",`, 5000)+"}", "") // no operators of a tree
	const pattern = "regular expressions have more than 262144 instructions"
	f(`x{a=~"`+repeated("host|", 10000)+`"}`, "")
	f(`x{a=~"a{1000}",b=~"([0-9]{1,3}\\.){3}[0-9]{1,3}"}`, "")
	f(`x{`+repeated(`a=~"a{1000}",`, 300)+`}`, pattern)
	f(`x{`+repeated(`a!~"(a{30}){30}",`, 300)+`}`, pattern)
	f("x{"+repeated("a=~`[\\pL\\pN]{999}`,", 10)+`}`, pattern)
	f(`label_replace(x,"a","b","c","`+repeated("a{1000}", 300)+`")`, pattern)
	f(`x{a=~"[`+repeated(`\\pL`, 64)+`]"}`, "")
	f(`x{a=~"`+repeated(`\\PL`, 65)+`"}`, "more than 64 Unicode classes in regular expressions")

	if _, err := s.engine.Matchers(repeated("a", 40000), repeated("b", 25536)); err != nil {
		t.Error(err)
	}
	if _, err := s.engine.Matchers(repeated("a", 40000), repeated("b", 25537)); err == nil {
		t.Error("selectors of more bytes than one text may have were parsed")
	}
	if _, err := s.engine.Format(repeated("a", 16384)); err != nil {
		t.Error(err)
	}
	if _, err := s.engine.Format(repeated("a", 16385)); err == nil {
		t.Error("a text was formatted that is too long")
	}
}

// A text with too many Unicode classes is refused before they are parsed: 60 kB of them took 5 s and 615 MB.
// A name that needs quotes is shown with them, wherever the parser stops in it. Other faults stay as they are.
func TestNamesThatNeedQuotes(t *testing.T) {
	parse := newStore(t, parser.Options{}).engine.Parser()
	f := func(text, name string) {
		t.Helper()
		_, err := parse.ParseExpr(text)
		if err == nil {
			t.Fatalf("%s is parsed", text)
		}
		_, hint, _ := strings.Cut(err.Error(), ": a metric of this name is written ")
		want := ""
		if name != "" {
			want = fmt.Sprintf("{%q}, and {%q, label=\"value\"} with labels", name, name)
			if _, err := parse.ParseExpr(fmt.Sprintf("{%q}", name)); err != nil {
				t.Error(err)
			}
		}
		if hint != want {
			t.Errorf("%s: %v", text, err)
		}
	}
	f("load.1min", "load.1min")
	f("cpu.util", "cpu.util")
	f(`sum(rate(network.eth0.received-bytes{host="a"}[5m]))`, "network.eth0.received-bytes")
	f("up + größe", "größe")
	f("http.server.duration", "http.server.duration")
	f("up + ", "")
	f("1.2.3", "")
	f("sum(up", "")
	f(`up{a="b.c}`, "")
	f("up[5parsecs]", "")
	f("", "")
	if _, err := parse.ParseMetricSelectors([]string{"up", "load.1min"}); err == nil ||
		!strings.Contains(err.Error(), `{"load.1min"}`) {
		t.Error(err)
	}
}

func TestClassesAreNotParsed(t *testing.T) {
	s := newStore(t, parser.Options{})
	text := "x{a=~`[" + strings.Repeat(`\pL`, 20_000) + "]`}"
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := s.engine.Parser().ParseExpr(text)
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("20,000 classes are parsed")
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 1<<20 {
		t.Errorf("%d bytes are allocated", bytes)
	}
}
