package promql_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// quantile_over_time of a policy with sketches is that of all measures at any age: exactly while they are kept, then
// within 1.1 % from groups, which an info says. Both engines answer alike.
func TestQuantilesOfSketches(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	s.now = start.Add(40 * 24 * time.Hour)
	s.kept("sketch", []string{"mean", "sketch", "count", "95pct"}, 0, time.Minute, 48*time.Hour, time.Hour, 0)
	id := s.pushed("sketch", "latency")
	r := rand.New(rand.NewPCG(35, 4))
	var values []float64
	for range 6 * 240 {
		values = append(values, math.Exp(r.NormFloat64()))
	}
	s.post(id, start.Add(time.Second), 15*time.Second, values...)
	s.kept("plain", []string{"mean", "min", "max"}, 0, time.Minute, 0)
	s.post(s.pushed("plain", "plain"), start.Add(time.Second), 15*time.Second, values...)
	upstreams := promql.New(promql.Options{Archives: s.archives, Series: s.series, Policies: s.Index.ArchivePolicies,
		Upstream: true, Now: func() time.Time { return s.now }})
	ask := func(expr string, after time.Duration, want float64, within float64, note string) {
		t.Helper()
		for i, engine := range []*promql.Engine{s.engine, upstreams} {
			q, err := engine.Instant(t.Context(), &promql.Query{Expr: expr}, start.Add(after))
			fatal.If(t, err)
			result := q.Exec(t.Context())
			vector, err := result.Vector()
			if err != nil || len(vector) != 1 {
				t.Fatalf("engine %d: %s: %v, %v", i, expr, vector, err)
			}
			got := vector[0].F
			off := got != want && !(math.Abs(got-want) <= within*want)
			if within < 1 && off || within > 0 && got == want {
				t.Errorf("engine %d: %s: %v, want %v", i, expr, got, want)
			}
			warnings, infos := result.Warnings.AsStrings(expr, 0, 0)
			if all := strings.Join(append(warnings, infos...), "; "); !strings.Contains(all, note) || note == "" && all != "" {
				t.Errorf("engine %d: %s: notes are %q", i, expr, all)
			}
			q.Close()
		}
	}
	of := func(q float64, from, to int) float64 {
		sorted := slices.Sorted(slices.Values(values[from*4 : to*4])) // minutes
		rank := q * float64(len(sorted)-1)
		low, part := math.Floor(rank), rank-math.Floor(rank)
		return sorted[int(low)]*(1-part) + sorted[min(int(low)+1, len(sorted)-1)]*part
	}
	const note = "quantile_over_time of groups is that of sketches, within 1.1 %"
	ask("quantile_over_time(0.95, latency[20m])", 6*time.Hour, of(0.95, 340, 360), 0, "") // of measures
	for _, age := range []time.Duration{0, 72 * time.Hour} {
		if age > 0 {
			s.post(id, start.Add(age), time.Second, 1) // the measures are gone
			s.post(id, start.Add(2*age), time.Second, 1)
		}
		ask("quantile_over_time(0.9, latency[3h])", 4*time.Hour, of(0.9, 60, 240), 0.011, note)
		ask("quantile_over_time(0.5, latency[4h])", 5*time.Hour, of(0.5, 60, 300), 0.011, note)
		ask("quantile_over_time(0.999, latency[1h])", 2*time.Hour, of(0.999, 60, 120), 0.011, note)
		ask("quantile_over_time(scalar(vector(0.25)), latency[2h])", 2*time.Hour, of(0.25, 0, 120), 0.011, note)
		ask("quantile_over_time(0.95, latency[1h])", 2*time.Hour, of(0.95, 60, 120), 0, "") // a granularity: its percentile
		ask("quantile_over_time(7, latency[2h])", 2*time.Hour, math.Inf(1), 0, "quantile value should be between 0 and 1")
		ask(`avg_over_time(latency{__aggregation__="75pct"}[1h])`, 2*time.Hour, 0, math.Inf(1), "75pct of groups is that of sketches")
	}
	ask("quantile_over_time(0, plain[3h])", 4*time.Hour, of(0, 60, 240), 0, "")
	ask("quantile_over_time(1, plain[3h])", 4*time.Hour, of(1, 60, 240), 0, "")
	ask("quantile_over_time(0.9, plain[3h])", 4*time.Hour, 0, math.Inf(1), "and no sketch: quantile_over_time is that of its mean. To add sketch: PATCH")
}
