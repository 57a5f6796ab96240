package rules_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// randomRule makes expressions of the shapes that rule files have.
type randomRule struct{ *rand.Rand }

func (r randomRule) of(all ...string) string { return all[r.IntN(len(all))] }

func (r randomRule) selector(name string) string {
	return name + r.of("", "", `{job="api"}`, `{job!~"d.*"}`, `{instance=~"0|2",job!=""}`, `{zone=""}`, `{job=~".+",instance!="1"}`)
}

func (r randomRule) length() string { return r.of("1m", "90s", "5m", "10m", "47s") }

func (r randomRule) offset() string {
	return r.of("", "", "", " offset 1m", " offset 7m", " offset 90s")
}

// vector returns an expression that gives series with labels job, instance and zone, or some of them.
func (r randomRule) vector(depth int) string {
	if depth <= 0 {
		switch r.IntN(4) {
		case 0:
			return r.selector("load") + r.offset()
		case 1:
			return fmt.Sprintf("%s(%s[%s]%s)", r.of("rate", "increase", "irate", "resets", "changes", "idelta"),
				r.selector("requests_total"), r.length(), r.offset())
		case 2:
			return fmt.Sprintf("quantile_over_time(0.%d, %s[%s])", 1+r.IntN(9), r.selector("load"), r.length())
		}
		return fmt.Sprintf("%s(%s[%s]%s)", r.of("avg_over_time", "max_over_time", "min_over_time", "sum_over_time",
			"count_over_time", "last_over_time", "stddev_over_time", "delta", "deriv", "present_over_time"), r.selector("load"),
			r.length(), r.offset())
	}
	by := r.of("by (job)", "by (job, instance)", "by (zone)", "without (instance)", "without (zone)", "")
	one := func() string { return r.vector(depth - 1) }
	switch r.IntN(12) {
	case 0:
		return fmt.Sprintf("quantile %s (0.9, %s)", by, one())
	case 1:
		return fmt.Sprintf("%s(%s)", r.of("abs", "ceil", "floor", "sqrt", "ln", "clamp_min", "round")+"", one())
	case 2:
		return fmt.Sprintf("(%s) %s %d", one(), r.of("*", "/", "+", "-", "> bool", "^"), 1+r.IntN(3))
	case 3:
		agg := r.of("sum", "avg", "max", "count")
		return fmt.Sprintf("%s by (job) (%s) / on (job) %s by (job) (%s)", agg, one(), agg, one())
	case 4:
		return fmt.Sprintf("sum by (job, instance) (%s) * on (job) group_left () max by (job) (%s)", one(), one())
	case 5:
		return fmt.Sprintf("sum by (job) (%s) %s sum by (job) (%s)", one(), r.of("or", "and", "unless"), one())
	case 6:
		return fmt.Sprintf("%s((%s)[%s:%s]%s)", r.of("max_over_time", "avg_over_time", "last_over_time", "sum_over_time"),
			one(), r.of("5m", "3m"), r.of("1m", "30s"), r.offset())
	case 7:
		return fmt.Sprintf(`label_replace(sum %s (%s), "rack", "x$1", "job", "(.*)")`, by, one())
	case 8:
		return fmt.Sprintf("(%s) %s %d", one(), r.of(">", "<", "!=", ">="), r.IntN(60))
	}
	return fmt.Sprintf("%s %s (%s)", r.of("sum", "avg", "max", "min", "count", "group", "stddev", "topk", "bottomk"), by, one())
}

// rule returns an expression that a rule file may have.
func (r randomRule) rule() string {
	text := r.vector(r.IntN(3))
	text = strings.NewReplacer("topk by (job, instance) (", "topk by (job, instance) (1, ", "topk by (job) (",
		"topk by (job) (1, ", "topk by (zone) (", "topk by (zone) (1, ", "topk without (instance) (",
		"topk without (instance) (1, ", "topk without (zone) (", "topk without (zone) (1, ", "topk  (", "topk (1, ").Replace(text)
	text = strings.NewReplacer("bottomtopk", "bottomk").Replace(text)
	return text
}

var randomWorlds = flag.Int("rules.worlds", 3, "worlds of TestRandomRules")

// Rules of any shape follow late measures, corrections, deletions, deleted series and other processes, beside each
// other.
func TestRandomRules(t *testing.T) {
	for range *randomWorlds {
		testRandomRules(t)
	}
}

func testRandomRules(t *testing.T) {
	seed := seedtest.Next(t)
	rng := rand.New(rand.NewPCG(seed, 0))
	w := newWorld(t, rng)
	engine := promtest.NewEngine(t)
	var all []labels.Labels
	for i := range 6 {
		zone := []string{"", "z1", "z2"}[i%3]
		for _, name := range []string{"load", "requests_total"} {
			l := []string{"__name__", name, "job", []string{"api", "db"}[i%2], "instance", fmt.Sprint(i / 2)}
			if zone != "" {
				l = append(l, "zone", zone)
			}
			all = append(all, labels.FromStrings(l...))
		}
	}
	counters := map[string]float64{}
	begin := w.now
	minute := func() {
		for _, l := range all {
			if rng.IntN(25) == 0 {
				continue
			}
			var times []time.Time
			var values []float64
			for i := range 4 {
				v := float64(rng.IntN(400)) / 4
				if l.Get("__name__") != "load" {
					if rng.IntN(60) == 0 {
						counters[l.String()] = 0
					}
					counters[l.String()] += float64(rng.IntN(20))
					v = counters[l.String()]
				}
				at := time.Duration(i)*15*time.Second + time.Duration(rng.IntN(900))*time.Millisecond
				times, values = append(times, w.now.Add(at)), append(values, v)
			}
			w.push(l, times, values)
		}
		w.now = w.now.Add(time.Minute)
	}
	for range 25 {
		minute()
	}
	var exprs []string
	file := "groups:\n- name: g\n  rules:\n"
	for len(exprs) < 12 {
		expr := randomRule{rng}.rule()
		if _, err := w.engine.Parser().ParseExpr(expr); err != nil || slices.Contains(exprs, expr) {
			continue
		}
		file += fmt.Sprintf("  - {record: \"r%d\", expr: %q}\n", len(exprs), expr)
		exprs = append(exprs, expr)
	}
	w.apply(file)
	for range 15 {
		minute()
		w.check(w.manager.Round(t.Context(), w.now))
		l := all[rng.IntN(len(all))]
		at := begin.Add(time.Duration(rng.IntN(int(w.now.Sub(begin).Seconds()))) * time.Second)
		switch rng.IntN(7) {
		case 0, 1:
			w.push(l, []time.Time{at}, []float64{float64(rng.IntN(100))})
		case 2:
			w.replace(l, at, at.Add(time.Duration(rng.IntN(400))*time.Second))
		case 3:
			w.replace(l, at, at.Add(time.Minute), 3, 99, 5)
		case 4:
			w.Restart(rng.IntN(2) == 0)
			w.open()
		case 5:
			w.check(w.Metricd.Checkpoint(t.Context()))
		}
	}
	w.settle()
	to := w.now.Add(-2 * time.Minute).Truncate(time.Minute)
	for i, expr := range exprs {
		record := fmt.Sprint("r", i)
		want := w.askTruth(engine, fmt.Sprintf(`label_replace(%s, "__name__", %q, "", "")`, expr, record), begin, to, time.Minute)
		recorded := w.ask(fmt.Sprintf("last_over_time({__name__=%q}[1m])", record), begin, to, time.Minute)
		if err := same(recorded, want); err != nil {
			t.Errorf("seed %d, %s: %v; the expression is now: %v", seed, expr, err,
				same(w.ask(fmt.Sprintf(`label_replace(%s, "__name__", %q, "", "")`, expr, record), begin, to, time.Minute), want))
		}
	}
	_ = w.Stop
}
