package rules_test

import (
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/prometheus/prometheus/model/labels"
	upstream "github.com/prometheus/prometheus/promql"

	"github.com/gnocco-db/gnocco/rules"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// todo returns how many cells of the first rule are to do.
func (w *world) todo() int64 {
	w.t.Helper()
	all, err := w.manager.Statuses(w.t.Context(), func(*rules.Group) bool { return true })
	w.check(err)
	return all[0].Rules[0].Todo
}

// A group that is paused records new cells alone, also after it was applied again and another process took over. Once
// it is resumed its history and late data are there.
func TestPause(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	load := labels.FromStrings("__name__", "load", "job", "api")
	begin := w.now
	minute := func() {
		for range 4 {
			w.push(load, []time.Time{w.now}, []float64{float64(rng.IntN(100))})
			w.now = w.now.Add(15 * time.Second)
		}
	}
	for range 40 {
		minute()
	}
	w.apply(lawFile)
	w.check(w.manager.Pause(t.Context(), "", "first", true))
	if err := w.manager.Pause(t.Context(), "", "third", true); err == nil {
		t.Error("a group is paused that does not exist")
	}
	for range 3 {
		minute()
		w.check(w.manager.Round(t.Context(), w.now))
	}
	before, paused := w.todo(), w.now
	all, err := w.manager.Statuses(t.Context(), func(*rules.Group) bool { return true })
	w.check(err)
	if history := all[0].Rules[0].History; history == 0 || before < history-1 {
		t.Fatalf("%d cells of a history of %d wait", before, history)
	}
	w.apply(lawFile)
	w.open()
	for range 10 {
		minute()
		w.check(w.manager.Round(t.Context(), w.now))
	}
	w.push(load, []time.Time{begin.Add(time.Minute)}, []float64{1000})
	for range 3 {
		minute()
		w.check(w.manager.Round(t.Context(), w.now))
	}
	if n := w.todo(); n < before {
		t.Errorf("%d cells were to do, and %d are", before, n)
	}
	engine, last := promtest.NewEngine(t), w.now.Add(-2*time.Minute)
	if err := w.compare(engine, paused, last); err != nil {
		t.Errorf("new cells: %v", err)
	}
	if w.compare(engine, begin, last) == nil {
		t.Error("a paused group has its history")
	}
	w.check(w.manager.Pause(t.Context(), "", "first", false))
	w.settle()
	if err := w.compare(engine, begin, w.now.Add(-2*time.Minute)); err != nil {
		t.Error(err)
	}
}

// A single late measure is evaluated at once. Where they come all the time they are gathered: a rule is evaluated about
// twice a minute, and other rules have their turn.
func TestLateMeasuresAreGathered(t *testing.T) {
	rng := rand.New(rand.NewPCG(seedtest.Next(t), 0))
	w := newWorld(t, rng)
	load := labels.FromStrings("__name__", "load", "job", "api")
	begin := w.now
	for range 4 * 60 {
		w.push(load, []time.Time{w.now}, []float64{float64(rng.IntN(100))})
		w.now = w.now.Add(15 * time.Second)
	}
	w.apply("groups: [{name: g, rules: [{record: total, expr: sum(load)}]}]")
	w.settle()
	w.now = w.now.Add(2 * time.Minute)
	w.check(w.manager.Round(t.Context(), w.now))

	w.push(load, []time.Time{begin.Add(time.Minute)}, []float64{1000})
	w.now = w.now.Add(6 * time.Second)
	w.check(w.manager.Round(t.Context(), w.now))
	if n := w.todo(); n > 0 {
		t.Errorf("%d cells are to do after a single late measure", n)
	}

	var evaluations atomic.Int64
	w.fails = func(what string) error {
		if what == "rights" {
			evaluations.Add(1)
		}
		return nil
	}
	for range 10 * 12 {
		w.push(load, []time.Time{begin.Add(time.Duration(rng.IntN(1800)) * time.Second)}, []float64{1})
		w.now = w.now.Add(5 * time.Second)
		w.check(w.manager.Round(t.Context(), w.now))
	}
	if n := evaluations.Load(); n < 12 || n > 31 {
		t.Errorf("%d evaluations in 10 minutes, want 20 or so", n)
	}
	w.settle()
	if err := w.compareOne(promtest.NewEngine(t), "total", "sum(load)", begin); err != nil {
		t.Error(err)
	}
}

// compareOne compares the cells of a rule of a minute with the truth.
func (w *world) compareOne(engine *upstream.Engine, record, expr string, begin time.Time) error {
	to := w.now.Add(-2 * time.Minute).Truncate(time.Minute)
	want := w.askTruth(engine, expr, begin.Add(time.Minute), to, time.Minute)
	return same(w.ask("sum(last_over_time("+record+"[1m]))", begin.Add(time.Minute), to, time.Minute), want)
}
