package rules_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/query/promql"
	"github.com/gnocco-db/gnocco/rules"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// useQueries says of queries how many rules of lawFile they read. The order of labels and matchers makes no difference.
var useQueries = map[string]int{
	"sum by (job) (load)":                                                   1,
	"sum(load) by (job) * 2":                                                1,
	"topk(1, sum by (job) (load))":                                          1,
	"avg by (job) (avg_over_time(load[5m]))":                                1,
	`sum by (job) (rate(requests_total[5m])) > 0`:                           1,
	"(max(load offset 10m) - min(load)) / sum(sum by (job) (load))":         2,
	"sum by (job) (load) / on (job) avg by (job) (avg_over_time(load[5m]))": 2,
	"last_over_time(job:load:sum[1m]) / ignoring (job) group_left () sum(last_over_time(job:load:sum[1m]))": 1,
	"avg by (instance, job) (avg_over_time(load{job=~\"a.*\",instance!=\"9\"}[1m]))":                        1,

	"sum by (job) (load) or vector(1)":           1,
	"sum by (job) (load offset 1m)":              0,
	"sum by (job) (load{job=\"api\"})":           0,
	`load{job="api"}`:                            0, // as do those of a selector
	"load > 50":                                  0, // the results keep the name
	"sum by (job) (load @ 0)":                    0,
	"max_over_time(sum by (job) (load)[10m:1m])": 0,
	"sum by (job, instance) (load)":              0,
	"sum by (kind) (label_replace(load, \"kind\", \"x\", \"\", \"\"))": 0, // the rule sets that label
}

// compareUse asks a query with the rules and without, and returns how many rules were read.
func (w *world) compareUse(expr string, from, to time.Time, step time.Duration) int {
	w.t.Helper()
	q := &promql.Query{Expr: expr}
	w.manager.Use(q, func(*rules.Group) bool { return true })
	var with map[string]map[int64]float64
	want := w.ask(expr, from, to, max(step, time.Second))
	if step > 0 {
		prepared, err := w.engine.Range(context.Background(), q, from, to, step)
		with = ask(w.t, prepared, err)
	} else {
		prepared, err := w.engine.Instant(context.Background(), q, from)
		w.check(err)
		defer prepared.Close()
		vector, err := prepared.Exec(context.Background()).Vector()
		w.check(err)
		with = map[string]map[int64]float64{}
		for _, one := range vector {
			with[one.Metric.String()] = map[int64]float64{one.T: one.F}
		}
	}
	if err := same(with, want); err != nil {
		w.t.Fatalf("%s, from %v to %v each %v, by rules %v: %v", expr, from.UTC(), to.UTC(), step, q.ByRules, err)
	}
	return len(q.ByRules)
}

// A query that reads the results of rules has the answer that it has without them, with any cells recorded.
func TestQueriesReadRules(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	var all []labels.Labels
	for _, job := range []string{"api", "db"} {
		for i := range 2 {
			all = append(all, labels.FromStrings("__name__", "load", "job", job, "instance", fmt.Sprint(i)),
				labels.FromStrings("__name__", "requests_total", "job", job, "instance", fmt.Sprint(i)))
		}
	}
	begin := w.now
	minute := func() {
		for _, l := range all {
			if rng.IntN(20) == 0 {
				continue
			}
			for i := range 4 {
				at := w.now.Add(time.Duration(i) * 15 * time.Second)
				w.push(l, []time.Time{at}, []float64{float64(rng.IntN(400)) / 4})
			}
		}
		w.now = w.now.Add(time.Minute)
	}
	for range 30 {
		minute()
	}
	w.apply(lawFile + `
- name: third
  interval: 1m
  rules:
  - record: load:matched
    expr: avg(avg_over_time(load{instance!="9", job=~"a.*"}[1m])) by (job, instance)
  - record: load:api
    expr: load{job="api"}
  - record: kinds
    expr: sum by (kind) (label_replace(load, "kind", "x", "", ""))
    labels: {kind: y}
`)
	used := map[string]int{}
	for range 40 {
		minute()
		if rng.IntN(3) == 0 {
			l := all[rng.IntN(len(all))]
			at := begin.Add(time.Duration(rng.IntN(int(w.now.Sub(begin).Seconds()))) * time.Second)
			if rng.IntN(2) == 0 {
				w.push(l, []time.Time{at}, []float64{float64(rng.IntN(100))})
			} else {
				w.replace(l, at, at.Add(time.Duration(16+rng.IntN(300))*time.Second), 1, 2)
			}
		}
		left := rng.IntN(100)
		w.fails = func(what string) error { // some cells are evaluated, others stay to do
			if left--; left < 0 && what != "changes" && what != "answer" {
				return errors.New("planned")
			}
			return nil
		}
		w.check(w.manager.Round(t.Context(), w.now))
		left = 0
		w.now = w.now.Add(6 * time.Second)
		w.check(w.manager.Round(t.Context(), w.now)) // the sacks tell what that has changed
		w.fails = nil
		for expr, most := range useQueries {
			from := begin.Add(time.Duration(rng.IntN(40)-2) * time.Minute).Truncate(2 * time.Minute)
			step := time.Duration(rng.IntN(4)) * 2 * time.Minute
			to := from.Add(time.Duration(rng.IntN(20)) * step)
			n := w.compareUse(expr, from, to, step)
			if n > most {
				t.Fatalf("%s reads %d rules, want at most %d", expr, n, most)
			}
			used[expr] = max(used[expr], n)
			if n := w.compareUse(expr, from.Add(time.Second), to.Add(time.Second), step); n > 0 {
				t.Fatalf("%s reads %d rules at times that are no multiples of their interval", expr, n)
			}
		}
	}
	for expr, most := range useQueries {
		if used[expr] != most {
			t.Errorf("%s reads %d rules, want %d", expr, used[expr], most)
		}
	}
	q := &promql.Query{Expr: "sum by (job) (load)"}
	w.now = w.now.Add(20 * time.Second) // nobody has asked the sacks since
	if w.manager.Use(q, func(*rules.Group) bool { return true }); q.Recorded != nil {
		t.Error("rules answer although changes may be unknown")
	}
}
