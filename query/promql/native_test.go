package promql_test

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	upstream "github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/query/promql"
)

// These expressions need no engine, and give its bits.
func TestEvaluatedWithoutTheEngine(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.oddSeries(rand.New(rand.NewPCG(1, 2)), start)
	s.now = start.Add(5 * time.Hour)
	for _, expr := range []string{
		`a`,
		`sum by (host) (rate(b_total[5m])) * 2`,
		`topk(3, avg_over_time(a[1m]))`,
		`quantile by (job) (0.9, a)`,
		`quantile(0, a) + 1`,
		`a / a`,
		`sum by (host, job) (a) - max by (host, job) (b_total or a)`,
		`sum by (host, job) (a) / on (host) group_left () sum by (host) (a)`,
		`max by (host) (a) > bool on (host) group_right () sum by (host, job) (a)`,
		`sum(a > on (host, job) (a offset 5m))`,
		`a and on (job) max by (job) (a > 3)`,
		`-(a unless a > 5)`,
		`a or b_total`,
		`avg by (job) (max_over_time(rate(b_total[1m])[10m:1m]))`,
		`max_over_time(sum by (job) (a)[10m:] offset 3m) > 0`,
		`stddev_over_time((a - (a offset 1m))[7m:13s])`,
		`rate((sum by (host, job) (b_total))[5m:30s])`,
		`max_over_time(rate((sum by (host, job) (b_total))[5m:30s])[10m:1m] offset 1m)`,
		`histogram_quantile(0.9, sum by (le) (rate(a_bucket[5m])))`,
		`max(histogram_quantile(0.5, a_bucket)) + 1`,
		`sum by (x) (label_replace(a, "x", "$1", "host", "h(.)"))`,
	} {
		for _, step := range []time.Duration{0, time.Minute} {
			at, end := start.Add(2*time.Hour+3*time.Second), start.Add(2*time.Hour+20*time.Minute)
			run := func(engine *promql.Engine, native bool) *upstream.Result {
				q, err := engine.Instant(context.Background(), &promql.Query{Expr: expr}, at)
				if step > 0 {
					q, err = engine.Range(context.Background(), &promql.Query{Expr: expr}, at, end, step)
				}
				if err != nil {
					return &upstream.Result{Err: err}
				}
				if native {
					promql.WithoutEngine(q)
				}
				return q.Exec(context.Background())
			}
			got := run(s.engine, true)
			if got.Err != nil {
				t.Errorf("%s each %v: %v", expr, step, got.Err)
				continue
			}
			if n := len(shown(got)); n < 40 {
				t.Errorf("%s: no result", expr)
			}
			requireSame(t, expr, got, func() *upstream.Result { return run(s.engine.Alone(), false) })
		}
	}
}

// The engine evaluates these, whose parts need none, and gives its own bits.
func TestLeftToTheEngine(t *testing.T) {
	s := newStore(t, parser.Options{})
	start := time.Unix(1_700_000_000, 0).Truncate(time.Hour)
	s.oddSeries(rand.New(rand.NewPCG(1, 2)), start)
	s.now = start.Add(5 * time.Hour)
	at := start.Add(2*time.Hour + 3*time.Second)
	for _, expr := range []string{
		`absent(a{host="none"})`,
		`absent(sum(a > 1e300))`,
		`absent_over_time(nosuch{job="x"}[5m])`,
		`absent_over_time(absent(a)[5m:1m])`,
		`label_join(rate(b_total[5m]), "x", "-", "host", "job")`,
		`count_values by (job) ("value", round(a))`,
		`topk(2, count_values without () ("value", a > bool 3))`,
	} {
		for _, step := range []time.Duration{0, time.Minute} {
			run := func(engine *promql.Engine) *upstream.Result {
				q, err := engine.Instant(context.Background(), &promql.Query{Expr: expr}, at)
				if step > 0 {
					q, err = engine.Range(context.Background(), &promql.Query{Expr: expr}, at, at.Add(20*time.Minute),
						step)
				}
				if err != nil {
					return &upstream.Result{Err: err}
				}
				return q.Exec(context.Background())
			}
			got := run(s.engine)
			if n := len(shown(got)); got.Err != nil || n < 10 {
				t.Errorf("%s: no result: %v", expr, got.Err)
			}
			requireSame(t, expr, got, func() *upstream.Result { return run(s.engine.Alone()) })
		}
	}
}
