package rules_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"

	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// A group with another interval has a measure for each of its cells, and no others, at any age of the cells and
// wherever the process that evaluates ends. Measures that equal the new cells' values would stay without being noticed.
func TestChangedIntervals(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	engine := promtest.NewEngine(t)
	begin := w.now
	send := func(minutes int) {
		for range minutes {
			for i, name := range []string{"load", "steady_total"} {
				l := labels.FromStrings("__name__", name, "job", "api")
				for range 4 {
					value := []int64{rng.Int64N(2), w.now.Unix() - begin.Unix()}[i]
					w.push(l, []time.Time{w.now}, []float64{float64(value)})
					w.now = w.now.Add(15 * time.Second)
				}
				w.now = w.now.Add(-time.Minute)
			}
			w.now = w.now.Add(time.Minute)
		}
	}
	send(60)
	for _, every := range []int{60, 120, 90, 60, 180, 30, 60} {
		w.apply(fmt.Sprintf("groups: [{name: g, interval: %ds, rules: [{record: total, expr: sum(load)}, "+
			"{record: pace, expr: 'sum(rate(steady_total[5m]))'}]}]", every))
		if rng.IntN(2) == 0 {
			w.check(w.manager.Round(t.Context(), w.now))
			w.open() // another process goes on
		}
		w.settle()
		send(1 + rng.IntN(9))
		w.now = w.now.Add(time.Second)
		w.settle()
		step := time.Duration(every) * time.Second
		from, to := begin.Truncate(step).Add(step), w.now.Add(-2*time.Minute)
		for record, expr := range map[string]string{"total": "sum(load)", "pace": "sum(rate(steady_total[5m]))"} {
			want := w.askTruth(engine, expr, from, to, step)
			w.check(same(w.ask(fmt.Sprintf("sum(last_over_time(%s[%ds]))", record, every), from, to, step), want))
			for cell := range want["{}"] {
				want["{}"][cell] = 1
			}
			if err := same(w.ask(fmt.Sprintf("sum(count_over_time(%s[%ds]))", record, every), from, to, step), want); err != nil {
				t.Fatalf("%s each %d s: %v", record, every, err)
			}
		}
	}
}
