package promql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
)

// A matcher of __aggregation__ other than = reads each method that it matches, as a series that says which.
func TestAggregationsAsLabels(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("p", []string{"mean", "min", "max", "last"}, time.Minute)
	s.policy("q", []string{"max", "95pct"}, time.Minute)
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	for i, policy := range []string{"p", "q"} {
		s.post(s.metric(policy, fmt.Sprint(i), "x"), start.Add(time.Second), time.Minute, 1, 3)
	}
	s.now = start.Add(time.Hour)
	f := func(expr string, want string) {
		t.Helper()
		r := s.instant("sum by (__aggregation__, project_id) ("+expr+")", start.Add(2*time.Minute))
		if r.Err != nil {
			t.Fatalf("%s: %v", expr, r.Err)
		}
		var got []string
		for _, v := range r.Value.(upstream.Vector) {
			got = append(got, fmt.Sprint(v.Metric.Get("project_id")[len("project of "):], " ",
				v.Metric.Get("__aggregation__"), " ", v.F))
		}
		slices.Sort(got)
		if strings.Join(got, ", ") != want {
			t.Errorf("%s: %q, want %q", expr, got, want)
		}
	}
	f(`x{__granularity__="1m",__aggregation__=~"m.*|95pct"}`, "0 max 3, 0 mean 3, 0 min 3, 1 95pct 3, 1 max 3")
	f(`x{__granularity__="1m",__aggregation__=~"m.*",__aggregation__!="mean"}`, "0 max 3, 0 min 3, 1 max 3")
	f(`x{__granularity__="1m",__aggregation__!~"m.*",__aggregation__!="95pct"}`, "0 last 3")
	f(`x{__aggregation__="max",__aggregation__=~".+"}`, "0 max 3, 1 max 3")
	f(`min_over_time(x{__granularity__="1m",__aggregation__=~"max|last"}[2m])`, "0 last 1, 0 max 1, 1 max 1")
	f(`avg_over_time(x{__granularity__="1m",__aggregation__=~"max|last"}[2m])`, "0 last 2, 0 max 2, 1 max 2")
	f(`x{__aggregation__=~"sum"}`, "")
}
