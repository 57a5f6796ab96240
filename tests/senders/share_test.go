package senders_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/promql/parser"
	"go.yaml.in/yaml/v3"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/rules"
	"github.com/gnocco-db/gnocco/server"
)

var mixins = flag.String("mixins", "", "folder of dashboards and rule files, as YAML or JSON, for TestShareOfDashboards")

// mixin is what files of dashboards and rules have.
type mixin struct {
	panels []string // expressions, in the order of the files
	groups []any    // as in a rule file
	record map[string]bool
	rules  []string // expressions
}

// add finds rules and panels in a document. A ConfigMap has its own in a text.
func (m *mixin) add(t *testing.T, node any) {
	switch n := node.(type) {
	case []any:
		for _, inner := range n {
			m.add(t, inner)
		}
	case map[string]any:
		if groups, ok := n["groups"].([]any); ok {
			m.groups = append(m.groups, groups...)
		}
		expr, _ := n["expr"].(string)
		if record, ok := n["record"].(string); ok {
			m.record[record], m.rules = true, append(m.rules, expr)
		} else if _, alerts := n["alert"]; expr != "" && !alerts {
			m.panels = append(m.panels, withoutVariables(expr))
		}
		for _, key := range slices.Sorted(maps.Keys(n)) {
			if text, ok := n[key].(string); ok && strings.HasSuffix(key, ".json") {
				var inner any
				check(t, json.Unmarshal([]byte(text), &inner))
				m.add(t, inner)
			}
			m.add(t, n[key])
		}
	}
}

var (
	variableOfTime = regexp.MustCompile(`([\[:]\s*)\$\{?[a-z_]\w*(:\w+)?\}?`)
	optional       = regexp.MustCompile(`\([^)]*\)\?`)
	variable       = regexp.MustCompile(`\$\{?[A-Za-z_]\w*(:\w+)?\}?`)
)

// anyValue is that of variables, and of labels whose matchers ask for nothing else.
const anyValue = "v"

func withoutVariables(expr string) string {
	return variable.ReplaceAllString(variableOfTime.ReplaceAllString(expr, "${1}5m"), anyValue)
}

// selected returns the labels of a series that a selector reads, of all names that labels have.
func selected(t *testing.T, v *parser.VectorSelector, names map[string]bool) labels.Labels {
	b := labels.NewBuilder(labels.EmptyLabels())
	for name := range names {
		b.Set(name, anyValue)
	}
	for _, m := range v.LabelMatchers {
		candidates := []string{anyValue, m.Value, m.Prefix() + anyValue, "0.5", "1", "eth0", "sda1", "sda", ""}
		if m.Type == labels.MatchRegexp {
			plain := strings.NewReplacer(".*", "", ".+", anyValue, "(", "", ")", "", `\\.`, ".")
			parts := strings.Split(plain.Replace(optional.ReplaceAllString(m.Value, "")), "|")
			candidates = slices.Concat(candidates[:1], m.SetMatches(), parts, candidates[1:])
		}
		i := slices.IndexFunc(candidates, m.Matches)
		if i < 0 {
			t.Fatalf("no value for %s", m)
		}
		if m.Type == labels.MatchEqual || !m.Matches(b.Labels().Get(m.Name)) {
			b.Set(m.Name, candidates[i])
		}
	}
	return b.Labels()
}

// fill sends an hour of the series that expressions read, but for recorded ones, and returns how many they are.
func (m *mixin) fill(t *testing.T, s *server.Server, now time.Time) int {
	names, without := map[string]bool{}, map[string]bool{"le": true, model.LabelName: true} // false: by it
	var selectors []*parser.VectorSelector
	for _, expr := range slices.Concat(m.panels, m.rules) {
		parsed, err := parser.NewParser(parser.Options{}).ParseExpr(expr)
		if err != nil {
			t.Fatalf("%s: %v", expr, err)
		}
		parser.Inspect(parsed, func(node parser.Node, _ []parser.Node) error {
			switch n := node.(type) {
			case *parser.AggregateExpr:
				for _, name := range n.Grouping {
					is, known := without[name]
					names[name], without[name] = true, n.Without && (is || !known)
				}
			case *parser.VectorSelector:
				selectors = append(selectors, n)
				for _, one := range n.LabelMatchers {
					names[one.Name] = true
				}
			}
			return nil
		})
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return without[name] })
	all := map[string]labels.Labels{}
	for _, v := range selectors {
		one := selected(t, v, names)
		if name := one.Get(model.LabelName); !m.record[name] {
			for _, le := range []string{"0.1", "1", "+Inf"} {
				if strings.HasSuffix(name, "_bucket") {
					one = labels.NewBuilder(one).Set("le", le).Labels()
				}
				all[one.String()] = one
			}
		}
	}
	var body bytes.Buffer
	for _, key := range slices.Sorted(maps.Keys(all)) {
		row := struct {
			Metric     map[string]string `json:"metric"`
			Values     []float64         `json:"values"`
			Timestamps []int64           `json:"timestamps"`
		}{Metric: all[key].Map()}
		name := all[key].Get(model.LabelName)
		for at := now.Add(-time.Hour); at.Before(now); at = at.Add(30 * time.Second) {
			value := 1.0
			if strings.HasSuffix(name, "_bytes") {
				value += float64(len(name) + strings.Index(name, "_a")) // a part is not all
			}
			if regexp.MustCompile(`_(total|count|sum|bucket)$`).MatchString(name) {
				value = float64(at.Sub(now.Add(-2*time.Hour)) / time.Second)
			}
			row.Values, row.Timestamps = append(row.Values, value), append(row.Timestamps, at.UnixMilli()+1)
		}
		check(t, json.NewEncoder(&body).Encode(row))
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodPost, s.URL()+"/api/v1/import", &body)
	check(t, err)
	r.SetBasicAuth("admin", "")
	response, err := http.DefaultClient.Do(r)
	check(t, err)
	text, err := io.ReadAll(response.Body)
	check(t, err)
	check(t, response.Body.Close())
	if response.StatusCode/100 != 2 {
		t.Fatalf("%s: %s", response.Status, text)
	}
	return len(all)
}

// A share of the expressions of public dashboards shows nothing without rules, and all of these show something once the
// rules that come with them are loaded: no dashboard is rewritten.
func TestShareOfDashboards(t *testing.T) {
	if *mixins == "" {
		t.Skip("-mixins names no folder")
	}
	m := &mixin{record: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(*mixins, "*.[jy]*"))
	check(t, err)
	for _, file := range files {
		text, err := os.ReadFile(file)
		check(t, err)
		var node any
		check(t, yaml.Unmarshal(text, &node))
		m.add(t, node)
	}
	slices.Sort(m.panels)
	m.panels = slices.Compact(m.panels)
	s, c := start(t, nil)
	now := time.Now().Truncate(time.Minute)
	series := m.fill(t, s, now)
	shown := func() (all map[string]bool) {
		all = map[string]bool{}
		for _, expr := range m.panels {
			found, err := ask(t, s.URL(), "query_range", url.Values{"query": {expr}, "step": {"60"},
				"start": {fmt.Sprint(now.Add(-15 * time.Minute).Unix())}, "end": {fmt.Sprint(now.Add(-time.Minute).Unix())}})
			if err != nil {
				t.Logf("%s: %v", expr, err)
			}
			all[expr] = len(found) > 0
		}
		return all
	}
	before := shown()
	text, err := yaml.Marshal(map[string]any{"groups": m.groups})
	check(t, err)
	check(t, c.Do(t.Context(), "POST", "/v1/rules", string(text), nil))
	for quiet := 0; quiet < 10; time.Sleep(time.Second) {
		var answer struct {
			Data struct{ Groups []rules.GroupStatus }
		}
		check(t, json.Unmarshal(get(t, s.URL()+"/api/v1/rules"), &answer))
		quiet++
		for _, g := range answer.Data.Groups {
			for _, r := range g.Rules {
				if r.Todo > 0 && r.Fault == "" || r.Health == "unknown" {
					quiet = 0
				}
				if quiet == 10 && r.Fault != "" {
					t.Errorf("rule %s/%s: %s", g.Name, r.Name, r.Fault)
				}
			}
		}
	}
	after := shown()
	var counts [3]int // of all that show something before, after, and that need rules
	for _, expr := range m.panels {
		needs := slices.ContainsFunc(slices.Collect(maps.Keys(m.record)), func(name string) bool {
			return regexp.MustCompile(`(^|[^\w:])` + name + `($|[^\w:])`).MatchString(expr)
		})
		for i, is := range []bool{before[expr], after[expr], needs} {
			if is {
				counts[i]++
			}
		}
		if before[expr] && !after[expr] {
			t.Errorf("%s showed something before", expr)
		} else if !after[expr] {
			t.Logf("nothing, needs rules %t: %s", needs, expr)
		}
	}
	n := float64(len(m.panels)) / 100
	t.Logf("%d rules, %d series; %d expressions: %d (%.0f %%) name results of rules; %d (%.0f %%) show something before, "+
		"%d (%.0f %%) after", len(m.rules), series, len(m.panels), counts[2], float64(counts[2])/n, counts[0],
		float64(counts[0])/n, counts[1], float64(counts[1])/n)
	if counts[1] <= counts[0] {
		t.Error("rules make no difference")
	}
}
