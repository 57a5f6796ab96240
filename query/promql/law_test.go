package promql_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// lawStore has series of several policies, with gaps. The finest granularities no longer keep all of them.
func lawStore(t *testing.T, r *rand.Rand) (s *store, start, end time.Time) {
	s = newStore(t, parser.Options{})
	end = time.Unix(1_700_000_000, 0).Truncate(time.Hour).Add(17*time.Minute + 23*time.Second)
	start = end.Add(-5 * time.Hour)
	s.now = end
	all := []string{"mean", "min", "max", "sum", "count", "std", "first", "last", "95pct"}
	s.kept("three", all, 1, 10*time.Second, 20*time.Minute, time.Minute, 2*time.Hour, 10*time.Minute, 0)
	s.kept("mean", []string{"mean"}, 0, time.Minute, 3*time.Hour, 5*time.Minute, 0)
	s.kept("last", []string{"last", "max"}, 0, 30*time.Second, 0)
	for i, policy := range []string{"three", "three", "mean", "last", "three"} {
		for _, name := range []string{"x", "y"} {
			var id uuid.UUID
			if i == 4 {
				id = s.pushed(policy, name)
			} else {
				id = s.metric(policy, fmt.Sprint("resource ", i), name)
			}
			var times []time.Time
			var values []float64
			counter := 0.0
			next := func() time.Duration { return time.Duration(1+r.IntN(30000)) * time.Millisecond }
			first := start
			if i%2 == 1 || name == "y" { // on multiples of granularities, and on bounds of ranges
				next = func() time.Duration { return time.Duration(1+r.IntN(6)) * 5 * time.Second }
				first = start.Truncate(time.Hour)
			}
			for at := first; at.Before(end); at = at.Add(next()) {
				if r.IntN(200) == 0 {
					at = at.Add(time.Duration(r.IntN(1800)) * time.Second)
				}
				if counter += r.Float64(); r.IntN(100) == 0 {
					counter = 0
				}
				times, values = append(times, at), append(values, counter)
			}
			s.measures(id, times, values)
		}
	}
	return s, start, end
}

// expression makes up an expression that has a vector as its value.
type expression struct{ *rand.Rand }

func (e expression) of(list ...string) string { return list[e.IntN(len(list))] }

func (e expression) selector(duration string) string {
	s := e.of("x", "y", `x{project_id=~".*[01]"}`, `x{archive_policy="three"}`,
		`{__name__="y",resource_type="generic"}`, `x{archive_policy="three",__aggregation__="max"}`,
		`y{__aggregation__=~"m.*"}`) + duration
	switch e.IntN(8) {
	case 0:
		s += " offset " + e.of("1m", "7m", "-2m", "1h", "31s")
	case 1:
		s += " @ " + e.of("1700000000", "1699995600")
	}
	return s
}

func (e expression) vector(depth int) string {
	if depth == 0 {
		return e.selector("")
	}
	switch e.IntN(7) {
	case 0:
		return fmt.Sprintf("%s by (%s) (%s)", e.of("sum", "avg", "max", "count", "stddev"),
			e.of("project_id", "resource_id", ""), e.vector(depth-1))
	case 1:
		return fmt.Sprintf("%s %s on (resource_id) %s", e.single(),
			e.of("+", "-", "*", "/", "and", "or", "unless"), e.single())
	case 2:
		return fmt.Sprintf("%s(%s)", e.of("abs", "ceil", "-", "sqrt"), e.vector(depth-1))
	case 3:
		return fmt.Sprintf("%s(%s[%s:%s])", e.of("max_over_time", "avg_over_time", "sum_over_time", "count_over_time",
			"last_over_time"), e.vector(depth-1),
			e.of("5m", "20m", "1h"), e.of("", "1m", "70s", "10m"))
	case 4:
		return fmt.Sprintf("quantile_over_time(0.95, %s)", e.selector(e.span()))
	}
	return fmt.Sprintf("%s(%s)", e.of("min_over_time", "max_over_time", "sum_over_time", "count_over_time",
		"avg_over_time", "first_over_time", "last_over_time", "stddev_over_time", "stdvar_over_time", "rate",
		"increase", "irate", "delta", "changes", "deriv",
		"present_over_time"), e.selector(e.span()))
}

// single is a vector with one series of a resource.
func (e expression) single() string { return e.of("x", "y", "max_over_time(x[10m])", "rate(y[5m])") }

func (e expression) span() string {
	return e.of("[1m]", "[5m]", "[10m]", "[20m]", "[1h]", "[90s]", "[2h]")
}

// A range query gives at every step what an instant query gives at that time.
func TestStepsEqualInstants(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	s, start, end := lawStore(t, r)
	expressions := seedtest.Rounds(150, 500)
	compared, skipped := 0, 0
	for range expressions {
		expr := expression{r}.vector(r.IntN(3))
		steps := []time.Duration{10 * time.Second, time.Minute, 10 * time.Minute, 7 * time.Minute, 33 * time.Second}
		step := steps[r.IntN(len(steps))]
		from := start.Add(time.Duration(r.Int64N(int64(end.Sub(start)))))
		if r.IntN(3) == 0 { // where measures are no longer kept
			from = end.Add(-time.Duration(r.IntN(40)) * time.Minute)
		}
		if r.IntN(2) == 0 {
			from = from.Truncate(time.Minute)
		}
		to := from.Add(5 * step)
		ranged := s.over(expr, from, to, step)
		failed := false
		for at := from; !at.After(to); at = at.Add(step) {
			instant := s.instant(expr, at)
			if instant.Err != nil || ranged.Err != nil {
				skipped++
				failed = failed || instant.Err != nil
				if ranged.Err == nil {
					t.Fatalf("%s at %v: %v, but the range succeeds", expr, at, instant.Err)
				}
				continue
			}
			want := map[string]float64{}
			for _, sample := range instant.Value.(upstream.Vector) {
				want[sample.Metric.String()] = sample.F
			}
			for _, series := range ranged.Value.(upstream.Matrix) {
				for _, p := range series.Floats {
					if p.T != at.UnixMilli() {
						continue
					}
					v, ok := want[series.Metric.String()]
					if !ok || !near(v, p.F) {
						t.Errorf("%s, step %v, at %d: %s is %v in the range, %v (%t) at once", expr, step,
							at.UnixMilli(), series.Metric, p.F, v, ok)
					}
					delete(want, series.Metric.String())
					compared++
				}
			}
			for metric, v := range want {
				t.Errorf("%s, step %v, at %d: %s is %v at once, and not in the range", expr, step,
					at.UnixMilli(), metric, v)
			}
			if t.Failed() {
				return
			}
		}
		if ranged.Err != nil && !failed {
			t.Fatalf("%s, step %v, from %v: %v, but each instant succeeds", expr, step, from, ranged.Err)
		}
	}
	if skipped > expressions {
		t.Errorf("%d steps were skipped", skipped)
	}
	if compared < 3*expressions {
		t.Errorf("only %d values were compared", compared)
	}
}

// near allows for sums in another order.
func near(a, b float64) bool {
	return a == b || math.IsNaN(a) && math.IsNaN(b) || math.Abs(a-b) <= 1e-9*max(1, math.Abs(a), math.Abs(b))
}

// Functions over time of aligned ranges are exact for any kept granularities (Thanos 922, 2706, 8155: sums that are
// inflated, and quantiles and averages of averages).
func TestFunctionsOverTimeAreExact(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 1))
	for range 6 {
		s := newStore(t, parser.Options{})
		fine := time.Duration(1+r.IntN(3)) * 10 * time.Second
		coarse := fine * time.Duration(2+r.IntN(10))
		s.kept("p", []string{"mean", "min", "max", "sum", "count", "std", "first", "last"}, r.IntN(3), fine,
			time.Duration(20+r.IntN(100))*fine, coarse, 0)
		id := s.metric("p", "a", "x")
		start := carbonara.FromTime(time.Unix(1_700_000_000, 0)).Floor(coarse).Time()
		end := start.Add(40 * coarse)
		s.now = end.Add(time.Hour)
		var times []time.Time
		var values []float64
		grain := []time.Duration{time.Millisecond, fine / 2}[r.IntN(2)] // at random, or on bounds of groups
		for at := start; at.Before(end); at = at.Add(time.Duration(1+r.Int64N(int64(coarse/4/grain))) * grain) {
			times, values = append(times, at), append(values, 100*r.NormFloat64()+1000)
		}
		s.measures(id, times, values)
		for range 25 {
			at := start.Add(time.Duration(1+r.IntN(40)) * coarse)
			span := time.Duration(1+r.IntN(8)) * coarse
			var in []float64
			for i, when := range times {
				if !when.Before(at.Add(-span)) && when.Before(at) {
					in = append(in, values[i])
				}
			}
			if len(in) == 0 {
				continue
			}
			low, high, sum := math.Inf(1), math.Inf(-1), 0.0
			for _, v := range in {
				low, high, sum = min(low, v), max(high, v), sum+v
			}
			mean, m2 := sum/float64(len(in)), 0.0
			for _, v := range in {
				m2 += (v - mean) * (v - mean)
			}
			for function, want := range map[string]float64{"min": low, "max": high, "count": float64(len(in)),
				"sum": sum, "avg": mean, "first": in[0], "last": in[len(in)-1],
				"stddev": math.Sqrt(m2 / float64(len(in))),
				"stdvar": m2 / float64(len(in))} {
				expr := fmt.Sprintf("%s_over_time(x[%dms])", function, span.Milliseconds())
				got, ok := s.value(expr, at)
				if !ok || math.Abs(got-want) > 1e-12*max(1, math.Abs(want))*max(1, float64(len(in))/64) {
					t.Fatalf("%s at %v: %v (%t), want %v", expr, at, got, ok, want)
				}
			}
		}
	}
}

// A rate over coarse data is no empty answer (Thanos 1115, 4526), and says what it was answered from.
func TestRates(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("last", []string{"last"}, time.Minute)
	s.policy("max", []string{"max", "mean"}, time.Minute)
	s.policy("min", []string{"min"}, time.Minute)
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	for i, policy := range []string{"last", "max", "min"} {
		values := make([]float64, 120)
		for j := range values {
			values[j] = float64(j)
		}
		s.post(s.metric(policy, fmt.Sprint(i), policy+"_total"), start.Add(time.Second), 30*time.Second, values...)
	}
	s.now = start.Add(24 * time.Hour)
	at := start.Add(30 * time.Minute)
	f := func(expr string, want float64, notes int) {
		t.Helper()
		r := s.instant(expr, at)
		if r.Err != nil {
			t.Fatalf("%s: %v", expr, r.Err)
		}
		v := r.Value.(upstream.Vector)
		if len(v) != 1 || math.Abs(v[0].F-want) > 1e-9 || len(r.Warnings) != notes {
			t.Errorf("%s: %v, notes %v; want %v and %d notes", expr, v, r.Warnings, want, notes)
		}
	}
	f("rate(last_total[10m])", 1./30, 1)
	f("rate(max_total[10m])", 1./30, 1)
	f("delta(max_total[10m])", 20, 1)
	for expr, want := range map[string]string{
		"rate(last_total[10m])":            "rate is that of one measure a group; resets within groups are not seen",
		"increase(max_total[10m])":         "its max; resets within groups are not seen. To add last: ",
		"irate(last_total[10m])":           "resets within groups are not seen",
		"resets(last_total[10m])":          "resets within groups are not seen",
		"changes(last_total[10m])":         "changes within groups are not seen",
		"first_over_time(last_total[10m])": `"last" has no first: first_over_time is that of the last of each group`,
		"stddev_over_time(max_total[10m])": `"max" has no std: stddev_over_time is that of the mean of each group`,
	} {
		warnings, _ := s.instant(expr, at).Warnings.AsStrings(expr, 0, 0)
		if len(warnings) != 1 || !strings.Contains(warnings[0], want) {
			t.Errorf("%s: warnings %q, want %q", expr, warnings, want)
		}
		fresh := strings.ReplaceAll(expr, "[10m]", "[20s]") // of the block whose measures are kept
		notes := s.instant(fresh, start.Add(59*time.Minute+45*time.Second)).Warnings
		if warnings, _ := notes.AsStrings(fresh, 0, 0); len(warnings) > 0 {
			t.Errorf("%s of measures: warnings %q", fresh, warnings)
		}
	}
	if r := s.instant("rate(min_total[10m])", at); r.Err == nil {
		t.Errorf("rate of a policy without last and max: %v", r)
	}
	if r := s.instant("min_total", at); r.Err == nil {
		t.Errorf("a policy without last and mean: %v", r)
	}
}

// A selector of groups without last has their means, and says so.
func TestMeansInsteadOfLast(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("p", []string{"mean", "max"}, time.Minute)
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.post(s.metric("p", "a", "x"), start, 30*time.Second, 1, 2, 3, 8)
	s.now = start.Add(24 * time.Hour)
	for expr, want := range map[string]string{
		"x": `archive policy "p" has no last: x has the mean of each group`, `x{__aggregation__="mean"}`: "",
		"max_over_time(x[2m])": "",
	} {
		r := s.instant(expr, start.Add(2*time.Minute))
		fatal.If(t, r.Err)
		_, infos := r.Warnings.AsStrings(expr, 0, 0)
		if text := strings.Join(infos, "\n"); want == "" && text != "" || !strings.Contains(text, want) {
			t.Errorf("%s: infos %q, want %q", expr, infos, want)
		}
	}
}

// A quantile of a range is that of its measures while these are kept. Then it is the stored percentile of the group
// that ended last.
func TestQuantilesReadMeasures(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.kept("p", []string{"last", "95pct"}, 6, 10*time.Second, 0)
	start := time.Unix(1_700_000_000, 0)
	values := make([]float64, 600)
	for i := range values {
		values[i] = float64(i * 37 % 100)
	}
	s.post(s.metric("p", "a", "x"), start, time.Second, values...)
	s.now = start.Add(time.Hour)
	f := func(seconds int, forced string, want float64) {
		t.Helper()
		expr := "quantile_over_time(0.95, x" + forced + "[10s])"
		if got, ok := s.value(expr, start.Add(time.Duration(seconds)*time.Second+500*time.Millisecond)); !ok ||
			math.Abs(got-want) > 1e-9 {
			t.Errorf("%s after %d s: %v (%t), want %v", expr, seconds, got, ok, want)
		}
	}
	of := func(first int) float64 { // of ten measures
		in := slices.Sorted(slices.Values(values[first : first+10]))
		return in[8] + 0.55*(in[9]-in[8])
	}
	f(585, "", of(576))
	f(585, `{__granularity__="10s"}`, of(570))
	f(105, "", of(90))
}

// While measures of a series that was pushed with labels are kept, a range (t-r, t] is that of Prometheus, be t and r
// multiples of a granularity: a group has no measure of its end, and has that of its start.
func TestMeasuresOnBoundsCountAsInPrometheus(t *testing.T) {
	s := newStore(t, parser.Options{})
	end := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.now = end.Add(time.Minute)
	s.kept("p", []string{"mean", "min", "max", "sum", "count", "std", "first", "last"}, 3, 10*time.Second,
		time.Hour, time.Minute, 0)
	var values []float64
	for i := range 121 { // one each five seconds until end
		values = append(values, float64(i*i%31))
	}
	s.post(s.pushed("p", "x"), end.Add(-10*time.Minute), 5*time.Second, values...)
	for _, span := range []int{10, 60, 120} {
		in := values[len(values)-span/5:]
		low, high, sum := math.Inf(1), math.Inf(-1), 0.0
		for _, v := range in {
			low, high, sum = min(low, v), max(high, v), sum+v
		}
		mean, m2 := sum/float64(len(in)), 0.0
		for _, v := range in {
			m2 += (v - mean) * (v - mean)
		}
		for function, want := range map[string]float64{"min": low, "max": high, "count": float64(len(in)),
			"sum": sum, "avg": mean, "first": in[0], "last": in[len(in)-1], "stddev": math.Sqrt(m2 / float64(len(in))),
			"stdvar": m2 / float64(len(in))} {
			for _, expr := range []string{fmt.Sprintf("%s_over_time(x[%ds])", function, span),
				fmt.Sprintf("%s_over_time(x[%ds] @ %d)", function, span, end.Unix()),
				fmt.Sprintf("last_over_time(%s_over_time(x[%ds])[1m:10s])", function, span)} {
				if got, ok := s.value(expr, end); !ok || !near(got, want) {
					t.Errorf("%s: %v (%t), want %v", expr, got, ok, want)
				}
			}
		}
	}
}
