package promql_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// holding makes the engine one that holds so many samples of a query.
func (s *store) holding(most int) {
	s.engine = promql.New(promql.Options{Archives: testnode.Archives{Metricd: s.Metricd},
		Series: postings.New(s.Index, postings.Options{Bytes: 64 << 20}), Policies: s.Index.ArchivePolicies,
		Now: func() time.Time { return s.now }, MaxSamples: most})
}

// The engine allocates for each step of a subquery, whether there are samples or not. A query whose subqueries have
// more steps than it may hold samples is refused before it allocates.
func TestStepsOfSubqueriesAreBounded(t *testing.T) {
	s := newStore(t, parser.Options{})
	const most = 20_000 // 320 KB
	s.holding(most)
	f := func(expr string, fits bool, evaluate func(string) error) {
		t.Helper()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := evaluate(expr)
		runtime.ReadMemStats(&after)
		if fits && err != nil || !fits && !errors.Is(err, promql.ErrTooManySteps) {
			t.Errorf("%s: %v", expr, err)
		}
		if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 6*16*most {
			t.Errorf("%s allocated %d bytes", expr, bytes)
		}
	}
	at := func(expr string) error { return s.instant(expr, s.now).Err }
	over := func(expr string) error { return s.over(expr, s.now.Add(-time.Hour), s.now, time.Minute).Err }
	for _, list := range []struct {
		fits  bool
		exprs string
	}{
		{false, `
			max_over_time(nosuch[30d:1s])
			sum_over_time(vector(1)[30d:1s])
			absent_over_time(nosuch[30d:1s])
			max_over_time(nosuch[20d])[30d:1s]
			max_over_time(nosuch[30d:1s] offset 1y)
			max_over_time(nosuch[30d:1s] offset -1y)
			max_over_time(nosuch[30d:1s] @ 1700000000)
			max_over_time(nosuch[30d:1s] @ end())
			max_over_time((nosuch @ 1700000000)[30d:1s])
			max_over_time(nosuch[30d:])
			max_over_time(max_over_time(nosuch[5m:1m])[30d:1s])
			max_over_time(max_over_time(nosuch[30d:1s])[5m:1m])
			max_over_time(max_over_time(nosuch[2h:1s])[3h:1s])
			1 + 2 * (sum(rate(nosuch[1m])) or -max_over_time(nosuch[30d:1s]))
			nosuch[100y:1ms]
			sum_over_time(vector(1)[100y:1ms])
			absent_over_time(nosuch[290y:1ms])
			max_over_time(max_over_time(nosuch[290y:1ms])[290y:1ms])
			max_over_time(max_over_time(max_over_time(nosuch[290y:1ms])[290y:1ms])[290y:1ms])
			max_over_time(nosuch[290y:1ms] offset 290y)
			max_over_time(nosuch[290y:1ms] @ 9223372036)`},
		{true, `
			max_over_time(nosuch[4h:1s])
			max_over_time(nosuch[10d:])
			max_over_time(nosuch[30d:1h] @ end())
			sum_over_time(vector(1)[2h:1s])
			max_over_time(nosuch[2h:1s]) or max_over_time(nosuch[3h:1s]) or max_over_time(nosuch[4h:1s])
			max_over_time(max_over_time(nosuch[1h:1s])[1h:1s] @ 1700000000)`},
	} {
		for expr := range strings.SplitSeq(strings.TrimSpace(list.exprs), "\n") {
			expr = strings.TrimSpace(expr)
			f(expr, list.fits, at)
			if !strings.HasSuffix(expr, "]") { // no range query of a matrix
				f(expr, list.fits, over)
			}
		}
	}
	f("max_over_time(nosuch[4h50m:1s])", true, at)
	f("max_over_time(nosuch[4h50m:1s])", false, over) // its subquery spans an hour more
	f("max_over_time(nosuch[4h50m:1s] @ end())", true, over)
}

// A query takes memory for steps of subqueries, and for the results at each, from the memory of all requests, and gives
// it back.
func TestSubqueriesTakeMemory(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.policy("p", []string{"last", "sum", "count"}, time.Minute)
	for _, id := range s.resources(5, "p", "x") {
		s.post(id, s.now.Add(-time.Minute), time.Second, 1, 2, 3)
	}
	f := func(expr string, least int64) {
		t.Helper()
		for _, limit := range []int64{64 << 20, 2*least - 1} { // answers have one half
			shared := budget.New(limit, nil)
			ctx := shared.Context(context.Background())
			q, err := s.engine.Instant(ctx, &promql.Query{Expr: expr}, s.now)
			if err == nil {
				err = q.Exec(ctx).Err
				q.Close()
			}
			if fits := limit == 64<<20; fits != (err == nil) || err != nil && !errors.Is(err, budget.ErrExhausted) {
				t.Errorf("%s in %d bytes: %v", expr, limit, err)
			}
			if err != nil {
				ctx.Close()
			}
			whole := shared.Context(context.Background())
			if err := whole.Acquire(budget.Answers, limit/2-1<<20); err != nil {
				t.Errorf("%s keeps memory", expr)
			}
			whole.Close()
			ctx.Close()
		}
	}
	const steps = 100_000
	f("max_over_time(nosuch[100000s:1s])", 16*steps)
	f("sum_over_time(vector(1)[100000s:1s])", 2*16*steps)
	f("sum_over_time(vector(scalar(nosuch))[100000s:1s])", 2*16*steps)
	f("sum_over_time(absent(nosuch)[100000s:1s])", 2*16*steps)
	f("sum_over_time((x @ 1700000000)[100000s:1s])", (1+5)*16*steps)
}
