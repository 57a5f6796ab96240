package promql_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// change gives an archive policy other methods, and rebuilds the archive of a metric.
func (s *store) change(policy string, id uuid.UUID, methods ...string) {
	s.t.Helper()
	fatal.If(s.t, s.Metricd.Checkpoint(context.Background())) // or else the archive is made as the new policy has it
	_, _, err := s.Index.ChangeArchivePolicy(context.Background(), policy, s.now,
		func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) { return old.Change(nil, nil, methods) })
	if err != nil {
		s.t.Fatal(err)
	}
	if done, err := s.Rebuild(context.Background(), id); err != nil || done.Changed != 1 {
		s.t.Fatalf("%+v, %v", done, err)
	}
}

// Groups from before their archive policy had the columns of a function are no silent part of its answer.
func TestOlderGroupsWarn(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.now = start.Add(24 * time.Hour)
	scrapes := []float64{0, 50, 100, 5, 55, 105, 3, 53}
	fill := func(policy string, methods ...string) uuid.UUID {
		s.kept(policy, methods, 0, time.Minute, 0)
		id := s.pushed(policy, policy+"_total")
		s.post(id, start, 15*time.Second, scrapes...)
		s.post(id, start.Add(5*time.Hour), time.Second, 1)
		s.change(policy, id, "mean", "std", "max", "increase", "resets", "count")
		s.post(id, start.Add(6*time.Hour), 15*time.Second, scrapes...)
		s.post(id, start.Add(7*time.Hour), time.Second, 1)
		return id
	}
	fill("last", "mean", "last")
	fill("mean", "mean")

	// Finer groups of one measure each tell resets of coarser ones.
	s.kept("fine", []string{"mean", "last"}, 0, 10*time.Second, 0, time.Minute, 0)
	fine := s.pushed("fine", "fine_total")
	s.post(fine, start, 15*time.Second, scrapes...)
	s.post(fine, start.Add(5*time.Hour), time.Second, 1)
	s.change("fine", fine, "mean", "std", "max", "increase", "resets", "count")
	upstreams := promql.New(promql.Options{Archives: s.archives, Series: s.series, Policies: s.Index.ArchivePolicies,
		Upstream: true, Now: func() time.Time { return s.now }})
	warns := func(expr string, after time.Duration, want string) {
		t.Helper()
		for _, engine := range []*promql.Engine{s.engine, upstreams} {
			q, err := engine.Instant(t.Context(), &promql.Query{Expr: expr}, start.Add(after))
			fatal.If(t, err)
			r := q.Exec(t.Context())
			warnings, _ := r.Warnings.AsStrings(expr, 0, 0)
			got := strings.Join(warnings, "\n")
			if r.Err != nil || want == "" && got != "" || !strings.Contains(got, want) {
				t.Errorf("%s after %v: %v, warns %q, want %q", expr, after, r.Err, got, want)
			}
			q.Close()
		}
	}
	for expr, want := range map[string]float64{"resets(%s[2m])": 2, "increase(%s[2m])": 258.0 * 112.5 / 105,
		`sum_over_time(%s[1m])`: 0} {
		name := `fine_total{__granularity__="1m"}`
		if want == 0 {
			want, name = 153, `fine_total{__granularity__="1m",__aggregation__="increase"}`
		}
		expr = fmt.Sprintf(expr, name)
		if got, ok := s.value(expr, start.Add(2*time.Minute)); !ok || math.Abs(got-want) > 1e-9 {
			t.Errorf("%s: %v (%t), want %v", expr, got, ok, want)
		}
	}
	warns(`rate(fine_total{__granularity__="1m"}[2m])`, 2*time.Minute, "rate takes these as evenly spaced")
	warns(`resets(fine_total{__granularity__="1m"}[2m])`, 2*time.Minute, "")
	for _, f := range []string{"rate", "increase", "resets", "delta", "irate", "idelta"} {
		warns(f+"(last_total[2m])", 2*time.Minute, "each count as one measure of "+f)
		warns("sum("+f+"(last_total[2m]))", 2*time.Minute, `archive policy "last"`)
		warns(f+"(mean_total[2m])", 2*time.Minute, "have no last, and are left out")
		of := map[string]string{"irate": "more than two measures", "idelta": "more than two measures"}[f]
		warns(f+"(last_total[2m])", 6*time.Hour+2*time.Minute, of)
		warns(f+"(mean_total[2m])", 6*time.Hour+2*time.Minute, of)
	}
	for expr, method := range map[string]string{
		`sum_over_time(last_total{__aggregation__="increase"}[2m])`: "increase",
		`last_total{__aggregation__="resets"}`:                      "resets",
		"stddev_over_time(mean_total[2m])":                          "stddev_over_time",
		"max_over_time(mean_total[2m])":                             "max",
	} {
		warns(expr, 2*time.Minute, "have no "+method+", and are left out")
		warns(expr, 6*time.Hour+2*time.Minute, "")
	}
	warns("avg_over_time(mean_total[2m])", 2*time.Minute, "")
	warns("avg_over_time(mean_total[2m]) + rate(last_total[2m])", 2*time.Minute, "measure of rate")
}
