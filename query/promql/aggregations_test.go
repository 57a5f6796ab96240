package promql_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
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

// For values that cancel, or lie far from zero, groups answer as their measures do.
func TestSumsOverGroups(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("p", []string{"mean", "sum", "std", "count"}, time.Minute, time.Hour)
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.now = start.Add(24 * time.Hour)
	f := func(name string, sum, average, deviation float64, values ...float64) {
		t.Helper()
		s.post(s.metric("p", "a", name), start.Add(5*time.Second), 10*time.Second, values...)
		for function, want := range map[string]float64{"sum": sum, "avg": average, "stddev": deviation} {
			for _, of := range []string{"[5m]", `{__granularity__="60"}[5m]`} {
				expr := function + "_over_time(" + name + of + ")"
				if got, ok := s.value(expr, start.Add(5*time.Minute)); !ok || math.Abs(got-want) > 1e-12*want {
					t.Errorf("%s: %v %v, want %v", expr, got, ok, want)
				}
			}
		}
	}
	f("cancelling", 2, 1.0/3, math.Sqrt((2e32+2-2.0/3)/6), 1e16, 1, -1e16, 1, 0, 0)
	f("far", 6e15+2, 1e15+0.25, 0.25, 1e15, 1e15+0.5, 1e15, 1e15+0.5, 1e15, 1e15+0.5)
	f("far_longer", 1.2e16+3, 1e15+0.25, 0.25, 1e15, 1e15+0.5, 1e15, 1e15+0.5, 1e15, 1e15+0.5, 1e15, 1e15+0.5, 1e15,
		1e15+0.5, 1e15, 1e15+0.5)
}

// The aggregates of a method are a series like any other: a function over its range is that of its samples.
func TestFunctionsOverAggregates(t *testing.T) {
	s := newStore(t, promtest.Syntax)
	methods := []string{"last", "mean", "min", "max", "sum", "count", "std", "first", "95pct", "median", "sketch", "increase",
		"resets", "rate:mean", "rate:sum"}
	s.policy("all", methods, time.Minute)
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	id := s.metric("all", "r", "x")
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 53))
	values := make([]float64, 120)
	for i := range values {
		values[i] = float64(rng.IntN(50))
	}
	s.post(id, start, 7*time.Second, values...)
	s.now = start.Add(time.Hour)
	at := start.Add(10 * time.Minute)
	calls := []string{"quantile_over_time(0.3, %s)", "predict_linear(%s, 60)", "double_exponential_smoothing(%s, 0.5, 0.3)"}
	for _, f := range []string{"count", "sum", "avg", "min", "max", "stddev", "stdvar", "first", "last", "present", "mad",
		"ts_of_min", "ts_of_max", "ts_of_first", "ts_of_last"} {
		calls = append(calls, f+"_over_time(%s)")
	}
	for _, f := range []string{"rate", "increase", "irate", "delta", "idelta", "deriv", "changes", "resets"} {
		calls = append(calls, f+"(%s)")
	}
	for _, m := range methods {
		if m == "sketch" {
			continue
		}
		series := `x{__granularity__="1m",__aggregation__="` + m + `"}`
		for _, call := range calls {
			got, ok := s.value(fmt.Sprintf(call, series+"[5m]"), at)
			want, some := s.value(fmt.Sprintf(call, series+"[5m:1m]"), at)
			if ok != some || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
				t.Errorf("%s of %s is %v %v, want %v %v", call, m, got, ok, want, some)
			}
		}
	}
}

// A fold is that of groups, also while the measures that it is of are kept.
func TestFoldsOfSeries(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_040, 0)
	s.kept("folds", []string{"mean", "share_above(2)", "difference"}, 0, time.Minute, 0)
	s.post(s.pushed("folds", "x"), start, 15*time.Second, 1, 2, 3, 5)
	for method, want := range map[string]float64{"share_above(2)": 0.5, "difference": 4} {
		r := s.instant(`x{__aggregation__="`+method+`"}`, start.Add(time.Minute))
		vector, err := r.Vector()
		if err != nil || len(vector) != 1 || vector[0].F != want {
			t.Errorf("%s: %v, %v, want %v", method, vector, err, want)
		}
	}
}
