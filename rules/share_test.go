package rules_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/postings"
	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/rules"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/seedtest"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// countedArchives count the reads of inputs, and hold them up.
type countedArchives struct {
	query.Archives
	index *index.Store
	reads atomic.Int64
	gate  atomic.Pointer[chan struct{}] // nil: open
}

func (c *countedArchives) Prefetch(ctx context.Context, reads []model.Read, s *query.Staleness) (query.GroupReader,
	error) {
	isInput := func(r model.Read) bool { return c.index.Lookup(r.Metric.ID).Labels.Get("__name__") == "load" }
	if slices.ContainsFunc(reads, isInput) {
		c.reads.Add(1)
		if gate := c.gate.Load(); gate != nil {
			select {
			case <-*gate:
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	return c.Archives.Prefetch(ctx, reads, s)
}

// Cells that are not recorded are evaluated once for all who ask for them at the same time. If the query that evaluates
// is cancelled, the others have their answers all the same.
func TestMissingCellsAreEvaluatedOnce(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	load := labels.FromStrings("__name__", "load", "job", "api")
	begin := w.now
	send := func(n int) {
		for range n {
			w.push(load, []time.Time{w.now}, []float64{float64(rng.IntN(100))})
			w.now = w.now.Add(15 * time.Second)
		}
	}
	send(40)
	w.apply("groups: [{name: g, interval: 1m, rules: [{record: 'job:load', expr: 'sum by (job) (load)'}]}]")
	w.settle()
	w.now = w.now.Truncate(time.Minute).Add(time.Minute)
	send(40) // not recorded
	w.now = w.now.Add(5 * time.Second)
	w.fails = func(what string) error {
		if what == "rights" {
			return context.DeadlineExceeded
		}
		return nil
	}
	const expr = "sum by (job) (load)"
	w.check(w.Metricd.Checkpoint(t.Context())) // all is there to be read
	from, to := begin.Add(time.Minute).Truncate(time.Minute), w.now.Truncate(time.Minute)
	clock := func() time.Time { return w.now }
	all := &countedArchives{Archives: testnode.Archives{Metricd: w.Metricd}, index: w.Index}
	engine := promql.New(promql.Options{Archives: all, Policies: w.Index.ArchivePolicies, Now: clock,
		Series: postings.New(w.Index, postings.Options{Bytes: 64 << 20})})
	w.manager = rules.New(rules.Options{Index: w.Index, Engine: engine, Writer: w.writer, Sacks: sacks, Now: clock,
		Archives: faultyArchives{testnode.Archives{Metricd: w.Metricd}, w}, Logger: slog.New(slog.DiscardHandler),
		Rights: func(json.RawMessage) (postings.Sees, ingest.Rights, error) { return nil, nil, w.fail("rights") }})
	w.check(w.manager.Round(t.Context(), w.now)) // polls
	want := w.ask(expr, from, to, time.Minute)
	asked := func(ctx context.Context) (map[string]map[int64]float64, int, error) {
		q := &promql.Query{Expr: expr}
		w.manager.Use(q, func(*rules.Group) bool { return true })
		prepared, err := engine.Range(ctx, q, from, to, time.Minute)
		if err != nil {
			return nil, 0, err
		}
		defer prepared.Close()
		matrix, err := prepared.Exec(ctx).Matrix()
		found := map[string]map[int64]float64{}
		for _, one := range matrix {
			found[one.Metric.String()] = map[int64]float64{}
			for _, p := range one.Floats {
				found[one.Metric.String()][p.T] = p.F
			}
		}
		return found, len(q.ByRules), err
	}
	for _, cancelled := range []bool{false, true} {
		gate := make(chan struct{})
		all.gate.Store(&gate)
		all.reads.Store(0)
		first, cancel := context.WithCancel(t.Context())
		var done sync.WaitGroup
		for i := range 6 {
			done.Go(func() {
				ctx := t.Context()
				if i == 0 && cancelled {
					ctx = first
				}
				got, used, err := asked(ctx)
				if i == 0 && cancelled {
					return
				}
				if err == nil {
					err = same(got, want)
				}
				if err != nil || used != 1 {
					t.Errorf("query %d: %v, %d rules", i, err, used)
				}
			})
			for tries := 0; i == 0 && all.reads.Load() == 0 && tries < 1000; tries++ {
				time.Sleep(time.Millisecond)
			}
		}
		time.Sleep(200 * time.Millisecond) // the others wait for the first
		if n := all.reads.Load(); n != 1 {
			t.Errorf("%d queries evaluate, want 1", n)
		}
		if cancel(); cancelled {
			time.Sleep(50 * time.Millisecond)
		}
		close(gate)
		done.Wait()
	}
}
