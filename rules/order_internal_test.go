package rules

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// Rules come after those that they read, at any place in the file.
func TestInOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	before := [][2]string{{"a", "b"}, {"b", "c"}, {"a", "c"}, {"d", "f"}, {"e", "f"}}
	lines := []string{
		`  - {record: a, expr: "load"}`, `  - {record: b, expr: "rate(a[5m])"}`,
		`  - {record: c, expr: "a + b offset 1h"}`, `  - {record: d, expr: "vector(1)", labels: {job: x}}`,
		`  - {record: e, expr: "max_over_time(load[5m:1m])"}`, `  - {record: f, expr: "{job=~\"x|y\", __name__=~\"d|e\"}"}`,
	}
	for range 50 {
		rng.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		groups, _, err := Parse([]byte("groups:\n- name: g\n  rules:\n"+strings.Join(lines, "\n")),
			parser.NewParser(parser.Options{}))
		if err != nil {
			t.Fatal(err)
		}
		ordered, err := inOrder(map[string]*Group{"": groups[0]})
		if err != nil {
			t.Fatal(err)
		}
		place := map[string]int{}
		for i, r := range ordered {
			place[r.Record] = i
		}
		for _, pair := range before {
			if len(ordered) != len(lines) || place[pair[0]] > place[pair[1]] {
				t.Fatalf("%s is not before %s in %v", pair[0], pair[1], place)
			}
		}
	}
}

// A faulty file is refused by an error that names the element.
func TestFaultyFiles(t *testing.T) {
	rule := func(r string) string { return "groups:\n- name: g\n  rules:\n  - " + r }
	for _, c := range []struct{ file, want string }{
		{"", "no groups"},
		{"groups: []", "no groups"},
		{"groups: [", "rule file: yaml"},
		{"- 1", "cannot unmarshal !!seq"},
		{"groups:\n- rules: []", "rule file: Groupname must not be empty"},
		{"groups:\n- name: g\n- name: g", `groupname: "g" is repeated`},
		{"groups:\n- name: g\n  interval: 500ms", `group "g": interval`},
		{"groups:\n- name: g\n  interval: often", "rule file"},
		{"groups:\n- name: g\n  limit: -1", `group "g"`},
		{"groups:\n- name: g\n  odd: 1", "odd"},
		{rule("{record: a, expr: up}") + "\n---\n" + rule("{record: b, expr: up}"), "several documents"},
		{rule("{expr: up}"), `group "g", rule 1, "": one of 'record' or 'alert'`},
		{rule("{record: a, alert: a, expr: up}"), "only one of 'record' and 'alert'"},
		{rule(`{record: a, expr: "sum(("}`), `group "g", rule 1, "a": could not parse expression`},
		{rule(`{record: a, expr: "up[5m]"}`), "only vectors and scalars"},
		{rule(`{record: a, expr: '"text"'}`), "only vectors and scalars"},
		{rule("{record: a, expr: up, for: 5m}"), "invalid field 'for'"},
		{rule("{record: a, expr: up, labels: {__name__: b}}"), "invalid label name: __name__"},
		{rule("{record: a, expr: up @ end()}"), "leave them out"},
		{rule("{record: a, expr: 'max_over_time(up[5m:1m] @ start())'}"), "leave them out"},
		{rule("{record: a, expr: a}"), `rule "a": it reads its own results`},
		{rule("{record: a, expr: b}\n  - {record: b, expr: a}"), "it reads its own results"},
	} {
		groups, _, err := Parse([]byte(c.file), parser.NewParser(parser.Options{}))
		if err == nil {
			_, err = inOrder(map[string]*Group{"": groups[0]})
		}
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "rulefmt") {
			t.Errorf("%q: %v, want %q", c.file, err, c.want)
		}
	}
}
