package statsd

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gnocco-db/gnocco/carbonara"
)

// shown returns what a flush stores, as "name=value@time".
func shown(g *gathered) string {
	metrics, _ := g.drain()
	var r rows
	r.set(metrics, "")
	var texts []string
	for row, name := range r.names {
		for i, to := r.Span(row); i < to; i++ {
			texts = append(texts, fmt.Sprintf("%s=%v@%d", name, r.values[i], r.times[i]))
		}
	}
	return strings.Join(texts, " ")
}

// gather adds datagrams, each at its time, and returns the reasons of refusals.
func gather(g *gathered, at carbonara.Timestamp, datagrams ...string) (refused []string) {
	for _, data := range datagrams {
		g.datagram([]byte(strings.ReplaceAll(data, " ", "\n")), at, func(reason string) { refused = append(refused, reason) })
	}
	return refused
}

// A change of a gauge is of its last value, which may be of an earlier flush.
func TestGaugesChange(t *testing.T) {
	f := func(want string, flushes ...string) {
		t.Helper()
		g := newGathered(10, 10, false)
		got := ""
		for i, messages := range flushes {
			if refused := gather(g, carbonara.Timestamp(i+1), messages); refused != nil {
				t.Fatalf("%q: refused for %v", messages, refused)
			}
			got += shown(g) + ";"
		}
		if got != want {
			t.Errorf("%q: %s, want %s", flushes, got, want)
		}
	}
	f("t|g=-7@1;", "t:0|g t:-7|g")
	f("t|g=3@1;", "t:+3|g")
	f("t|g=-4@1;", "t:-4|g")
	f("t|g=9@1;", "t:5:+3:-1:2:+7|g")
	f("t|g=10@1;t|g=6@2;t|g=7@3;", "t:10|g", "t:-4|g", "t:+1|g")
	f("t|g=10@1;a|g=1@2;t|g=6@3;", "t:10|g", "a:1|g", "t:-4|g") // known although it was not sent meanwhile
	f("t|g=10@1;t|c=-4@2 t|ms=-4@2;", "t:10|g", "t:-4|c t:-4|ms")
	f("a_b|g=5@1;", "a/b:4|g a_b:+1|g")
}

// Each of a timer's values is stored, at a time of its own.
func TestTimersKeepAllValues(t *testing.T) {
	g := newGathered(10, 100, false)
	gather(g, 1000, "t:320|ms t:100|ms", "t:1:2|h u:7|d")
	gather(g, 1001, "t:5|ms")
	gather(g, 2000, "t:6|ms")
	if got, want := shown(g), "t|ms=320@1000 t|ms=100@1001 t|ms=1@1002 t|ms=2@1003 t|ms=5@1005 t|ms=6@2000 u|ms=7@1004"; got !=
		want {
		t.Errorf("%s\nwant %s", got, want)
	}
	// Nor do those of the next flush come at the same time, unless the clock was set back.
	gather(g, 2000, "t:7|ms")
	if got, want := shown(g), "t|ms=7@2001"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	gather(g, 5e9, "t:8|ms")
	gather(g, 1e9, "t:9|ms")
	if got, want := shown(g), "t|ms=8@5000000000 t|ms=9@1000000000"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestSetsCountDistinctValues(t *testing.T) {
	g := newGathered(10, 100, false)
	gather(g, 1, "u:ann|s u:bob|s", "u:ann:eve|s")
	gather(g, 2, "v:ann|s u:ann|s")
	if got, want := shown(g), "u|s=3@2 v|s=1@2"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	gather(g, 3, "u:ann|s")
	if got, want := shown(g), "u|s=1@3"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// The memory is bounded: metrics, values, and the gauges that are remembered.
func TestGatheredIsBounded(t *testing.T) {
	f := func(messages, wantRefused, want string) {
		t.Helper()
		g := newGathered(3, 4, false)
		refused := gather(g, 1, messages)
		if got := strings.Join(refused, " "); got != wantRefused {
			t.Errorf("%q: refused for %q, want %q", messages, got, wantRefused)
		}
		if got := shown(g); got != want {
			t.Errorf("%q: %s, want %s", messages, got, want)
		}
		if refused := gather(g, 2, "a:1|g b:1:2:3:4|ms c:1|c"); refused != nil { // each flush anew
			t.Errorf("%q: then refused for %v", messages, refused)
		}
	}
	f("a:1|c b:1|c c:1|g d:1|g a:2|c", "many", "c|g=1@1 a|c=3@1 b|c=1@1")
	f("a:1|ms a:2:3:4|ms a:5|ms b:5|d", "many many", "a|ms=1@1 a|ms=2@2 a|ms=3@3 a|ms=4@4")
	f("a:1|ms b:1:2:1|s b:2|s b:3|s b:4|s", "many", "a|ms=1@1 b|s=3@1")
	f("a:1:2:3:4:5|s", "many", "")
	f("a:1e308|c a:1e308|c", "value", "a|c=1e+308@1")
	f("a:-1e308:-1e308|g b:1|g", "value", "b|g=1@1")

	g := newGathered(3, 1, false)
	forgotten := 0
	for i := range 10 {
		gather(g, 1, fmt.Sprintf("a:+1|g n%d:5|g", i))
		_, n := g.drain()
		if forgotten += n; len(g.gauges) > 3 {
			t.Fatalf("%d gauges known", len(g.gauges))
		}
	}
	if _, known := g.gauges["n9"]; !known || forgotten != 8 || len(g.gauges) != 3 {
		t.Errorf("%v known, %d forgotten", slices.Sorted(maps.Keys(g.gauges)), forgotten)
	}
	if g.gauges["a"] != 10 { // sent each time, so that it stays known
		t.Errorf("a is %v", g.gauges["a"])
	}
}
