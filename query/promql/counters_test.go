package promql_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/tests/seedtest"
)

var counterMethods = []string{"increase", "resets", "mean", "max"}

// The increase of groups is that of their measures, resets within groups and between them counted: extrapolated as
// Prometheus does, and as it is.
func TestIncreaseOfGroups(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	s.now = start.Add(40 * 24 * time.Hour)
	near := func(expr string, at time.Time, want float64) {
		t.Helper()
		r := s.instant(expr, at)
		if got, ok := s.value(expr, at); !ok || math.Abs(got-want) > 1e-9*want {
			t.Errorf("%s: %v (%t), want %v", expr, got, ok, want)
		}
		if warnings, _ := r.Warnings.AsStrings(expr, 0, 0); len(warnings) > 0 {
			t.Errorf("%s warns: %q", expr, warnings)
		}
	}

	s.kept("minutes", counterMethods, 0, time.Minute, 0)
	x := s.pushed("minutes", "x_total")
	s.measures(x, []time.Time{start.Add(10 * time.Second), start.Add(40 * time.Second), start.Add(70 * time.Second),
		start.Add(100 * time.Second), start.Add(130 * time.Second)}, []float64{95, 100, 3, 107, 110})
	s.measures(x, []time.Time{start.Add(2 * time.Hour)}, []float64{200})
	s.kept("raw", counterMethods, 2, 24*time.Hour, 0)
	y := s.pushed("raw", "y_total")
	s.measures(y, []time.Time{start.Add(10 * time.Second), start.Add(40 * time.Second), start.Add(70 * time.Second),
		start.Add(100 * time.Second), start.Add(130 * time.Second)}, []float64{95, 100, 3, 107, 110})
	at := start.Add(4 * time.Minute)
	want, _ := s.value("increase(y_total[4m])", at)
	near("increase(x_total[4m])", at, want)
	for _, expr := range []string{"increase(%s[4m])", "rate(%s[4m])", "rate(%s[200s])"} { // groups of two measures
		at := at.Add(17 * time.Second)
		want, _ := s.value(fmt.Sprintf(expr, "y_total"), at)
		near(fmt.Sprintf(expr, "x_total"), at, want)
	}
	near("resets(x_total[4m])", at, 1)
	near(`sum_over_time(x_total{__aggregation__="increase"}[4m])`, at, 115)

	s.kept("prometheus", counterMethods, 2, 10*time.Second, 2*time.Hour, time.Minute, 8*24*time.Hour, time.Hour, 0)
	job := s.pushed("prometheus", "job_total")
	var values []float64
	for i := range 24 * 60 * 4 {
		values = append(values, float64(i*15%(20*60)))
	}
	s.post(job, start, 15*time.Second, values...)
	at = start.Add(24 * time.Hour)
	near("increase(job_total[1d])", at, 85_334.81507206112)
	s.post(job, start.Add(30*24*time.Hour), time.Second, 1, 2)
	want = 0
	for i := 1; i < len(values); i++ {
		if want += values[i] - values[i-1]; values[i] < values[i-1] {
			want += values[i-1]
		}
	}
	near("resets(job_total[1d])", at, 71)
	near(`sum_over_time(job_total{__aggregation__="increase"}[1d])`, at, want)
	if want != 85_320 {
		t.Errorf("the increase of the measures is %v", want)
	}
	s.post(s.pushed("prometheus", "kept_total"), start, 15*time.Second, 0, 15, 30, 0, 15)
	near(`sum_over_time(kept_total{__aggregation__="increase"}[2m])`, start.Add(2*time.Minute), 45)
}

// A group of one or two measures is these measures, also where the last one counts at the very end of the group: as of
// a metric of a resource, whose measures count a millisecond later.
func TestGroupsWithMeasuresAtTheirEnds(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	s.now = start.Add(24 * time.Hour)
	s.kept("minutes", counterMethods, 0, time.Minute, 0)
	s.kept("raw", counterMethods, 2, 48*time.Hour, 0)
	for _, policy := range []string{"minutes", "raw"} {
		var at []time.Time
		for _, seconds := range []float64{22.6, 59.9997, 64.1, 73.2, 179.9991, 190, 239.9998, 250} {
			at = append(at, start.Add(time.Duration(seconds*1e9)))
		}
		s.measures(s.metric(policy, policy, policy), at, []float64{35, 42, 114, 171, 180, 9, 11, 13})
	}
	for _, f := range []string{"increase", "rate", "resets"} {
		for end := 65; end < 260; end += 13 {
			at := start.Add(time.Duration(end) * time.Second)
			got, ok := s.value(f+"(minutes[87s])", at)
			want, there := s.value(f+"(raw[87s])", at)
			if ok != there || math.Abs(got-want) > 1e-9 {
				t.Errorf("%s at %d s: %v (%t), from measures %v (%t)", f, end, got, ok, want, there)
			}
		}
	}
}

// The delta of a gauge is that of its first and last measures where a policy has them: of evenly spaced ones, which a
// warning says, as from the measures themselves.
func TestDeltaOfGroupsOfGauges(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	s.now = start.Add(24 * time.Hour)
	s.kept("groups", []string{"count", "first", "last"}, 0, time.Minute, 0)
	s.kept("raw", []string{"last"}, 2, 24*time.Hour, 0)
	var values []float64
	for i := range 120 {
		values = append(values, float64(i*i%37))
	}
	for _, policy := range []string{"groups", "raw"} {
		s.post(s.pushed(policy, policy), start.Add(7*time.Second), 20*time.Second, values...)
		s.post(s.pushed(policy, policy+"_slow"), start.Add(7*time.Second), time.Minute, values...)
	}
	for name, note := range map[string]string{"": "delta takes the measures of groups as evenly spaced", "_slow": "evenly spaced"} {
		for _, length := range []string{"2m", "7m", "30m"} {
			at := start.Add(35 * time.Minute)
			want, _ := s.value(fmt.Sprintf("delta(raw%s[%s])", name, length), at)
			query := fmt.Sprintf("delta(groups%s[%s])", name, length)
			if got, ok := s.value(query, at); !ok || math.Abs(got-want) > 1e-9 {
				t.Errorf("%s: %v (%t), want %v", query, got, ok, want)
			}
			warnings, _ := s.instant(query, at).Warnings.AsStrings(query, 0, 0)
			if got := strings.Join(warnings, "; "); !strings.Contains(got, note) {
				t.Errorf("%s: warnings %q, want %q", query, got, note)
			}
		}
	}
	query := "delta(groups[1m])" // of one group
	want, _ := s.value("delta(raw[1m])", start.Add(35*time.Minute))
	if got, ok := s.value(query, start.Add(35*time.Minute)); !ok || math.Abs(got-want) > 1e-9 {
		t.Errorf("%s: %v (%t), want %v", query, got, ok, want)
	}
}

// counterCase is a counter that is scraped, and into which groups it falls.
type counterCase struct {
	width, interval, jitter time.Duration
	reset                   int // one in so many scrapes; 0: none
	onBounds                bool
}

// scrapes returns the times and values of a counter. The first scrape comes in the middle of an interval, or at its
// start.
func (c *counterCase) scrapes(r *rand.Rand, start time.Time, n int) (times []time.Time, values []float64) {
	v := 0.0
	for i := range n {
		at := start.Add(time.Duration(i)*c.interval + c.interval/2)
		if c.onBounds {
			at = at.Add(-c.interval / 2)
		}
		if c.jitter > 0 {
			at = at.Add(time.Duration(r.Int64N(int64(c.jitter/time.Millisecond))) * time.Millisecond)
		}
		if v += float64(r.IntN(50)); c.reset > 0 && r.IntN(c.reset) == 0 {
			v = float64(r.IntN(20))
		}
		times, values = append(times, at), append(values, v)
	}
	return times, values
}

// relative returns the errors of functions of groups at multiples of the width, relative to the engine's answers from
// measures.
func (c *counterCase) relative(t *testing.T, r *rand.Rand, functions []string) map[string][]float64 {
	s := newStore(t, parser.Options{})
	defer s.stop()
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	s.now = start.Add(48 * time.Hour)
	s.kept("groups", counterMethods, 0, c.width, 0)
	s.kept("raw", counterMethods, 2, 48*time.Hour, 0)
	groups := int(30 * c.width / c.interval)
	times, values := c.scrapes(r, start, groups)
	s.measures(s.pushed("groups", "x_total"), times, values)
	s.measures(s.pushed("raw", "y_total"), times, values)
	errors := make(map[string][]float64)
	for k := 4; k <= 30; k += 2 {
		span := time.Duration(4+r.IntN(k-3)) * c.width
		at := start.Add(time.Duration(k) * c.width)
		for _, f := range functions {
			of := func(name string) (float64, bool) {
				return s.value(fmt.Sprintf("%s(%s[%dms])", f, name, span.Milliseconds()), at)
			}
			got, ok := of(fmt.Sprintf(`x_total{__granularity__="%ds"}`, int(c.width.Seconds())))
			want, there := of("y_total")
			if ok != there {
				t.Fatalf("%+v: %s of %v: %v %t from groups, %v %t from measures", c, f, span, got, ok, want, there)
			}
			errors[f] = append(errors[f], math.Abs(got-want)/max(math.Abs(want), 1e-300))
		}
	}
	return errors
}

// Groups of a counter give what Prometheus' engine gives of their measures, at any age: to the last digits where
// functions are exact. GNOCCO_COUNTERS=table prints the errors (docs/decisions/0093-counters.md).
func TestGroupsOfCountersAreLikeMeasures(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 35))
	exact := []string{"increase", "rate", "resets", "delta"}
	functions := append(slices.Clone(exact), "irate", "idelta", "changes")
	print := os.Getenv("GNOCCO_COUNTERS") == "table"
	var table strings.Builder
	for _, width := range []time.Duration{10 * time.Second, time.Minute, 15 * time.Minute, time.Hour} {
		for _, interval := range []time.Duration{time.Second, 15 * time.Second, time.Minute} {
			if interval > width || !print && width/interval > 100 {
				continue
			}
			for _, jitter := range []time.Duration{0, interval / 5} {
				for _, reset := range []int{0, 200, 20} {
					c := counterCase{width, interval, jitter, reset, false}
					errors := c.relative(t, r, functions)
					for _, f := range functions {
						e := slices.Sorted(slices.Values(errors[f]))
						if slices.Contains(exact, f) && e[len(e)-1] > 1e-12 {
							t.Errorf("%+v: %s is off by %.3g", c, f, e[len(e)-1])
						}
						fmt.Fprintf(&table, "| %s | %v | %v | %v | %d | %.2g | %.2g |\n", f, width, interval, jitter, reset,
							e[len(e)/2], e[len(e)*99/100])
					}
				}
			}
		}
	}
	if print {
		t.Log("\n" + table.String())
	}
}
