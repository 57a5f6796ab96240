package promql_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/prometheus/promql/parser"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// ofAnyAge are the functions whose answers do not depend on the age of measures.
var ofAnyAge = []string{"rate", "increase", "resets", "delta", "min_over_time", "max_over_time", "sum_over_time",
	"count_over_time", "avg_over_time", "first_over_time", "last_over_time", "stddev_over_time", "stdvar_over_time"}

// ofMeasures are those whose answer does.
var ofMeasures = []string{"irate", "idelta", "changes"}

// An answer about counters of the policy prometheus-counter is one number while measures are kept, and from groups of
// 10 s, a minute and an hour after them. With -v it prints how far others are off (docs/decisions/0093-counters.md).
func TestAnswersAreTheSameAtAnyAge(t *testing.T) {
	r := rand.New(rand.NewPCG(seedtest.Next(t), 93))
	ages := []time.Duration{0, 12 * time.Hour, 20 * 24 * time.Hour, 700 * 24 * time.Hour}
	from := []string{"measures", "10 s", "1 min", "1 h"}
	errors := make(map[string][]float64) // by function, source and scrapes
	for _, c := range agedCases() {
		at, answers := c.aged(t, r, ages)
		for query, of := range answers {
			function, _, _ := strings.Cut(query, "(")
			for i, got := range of[1:] {
				want := of[0]
				off := math.Abs(got-want) / max(math.Abs(want), 1e-300)
				if got == want {
					off = 0
				}
				if !c.onBounds && slices.Contains(ofAnyAge, function) && !(off <= 1e-12) {
					t.Errorf("%+v: %s at %v: %v from measures, %v from %s", c, query, at, want, got, from[i+1])
				}
				bounds := map[bool]string{true: ", on bounds"}[c.onBounds]
				key := fmt.Sprintf("| %s | %s | %v%s |", function, from[i+1], c.interval, bounds)
				errors[key] = append(errors[key], off)
			}
		}
	}
	var table strings.Builder
	for key, of := range errors {
		slices.Sort(of)
		if of[len(of)-1] > 0 {
			fmt.Fprintf(&table, "%s %.2g | %.2g |\n", key, of[len(of)/2], of[len(of)*99/100])
		}
	}
	lines := strings.SplitAfter(table.String(), "\n")
	slices.Sort(lines)
	t.Log("\n| function | groups of | scrapes every | median | p99 |\n" + strings.Join(lines, ""))
}

// agedCases are counters of many kinds. A measure at a bound of groups is in the range that ends there and in the group
// that begins there: answers from groups are off by this measure.
func agedCases() (all []counterCase) {
	for _, interval := range []time.Duration{time.Second, 15 * time.Second, 47 * time.Second, time.Minute} {
		for _, reset := range []int{0, 200, 20} {
			for _, jitter := range []time.Duration{0, interval / 5} {
				all = append(all, counterCase{0, interval, jitter, reset, false})
			}
			all = append(all, counterCase{0, interval, 0, reset, true})
		}
	}
	return all
}

// aged returns the answers to queries about a counter at some time, by query and age.
func (c *counterCase) aged(t *testing.T, r *rand.Rand, ages []time.Duration) (time.Time, map[string][]float64) {
	s := newStore(t, parser.Options{})
	defer s.stop()
	policy := model.CounterArchivePolicy(model.SeriesArchivePolicy())
	fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), policy))
	counter := s.pushed(policy.Name, "x_total")
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	times, values := c.scrapes(r, start, int(5*time.Hour/c.interval))
	s.measures(counter, times, values)
	at := start.Add(5 * time.Hour)
	answers := make(map[string][]float64)
	for _, age := range ages {
		if s.now = at.Add(age); age > 0 {
			s.post(counter, s.now, time.Second, 1)
		}
		c.ask(s, at, answers)
	}
	return at, answers
}

// ask appends the answer to each query about a counter.
func (c *counterCase) ask(s *store, at time.Time, answers map[string][]float64) {
	s.t.Helper()
	for _, f := range slices.Concat(ofAnyAge, ofMeasures) {
		for _, hours := range []int{1, 2} {
			query := fmt.Sprintf("%s(x_total[%dh])", f, hours)
			v, ok := s.value(query, at)
			if !ok {
				s.t.Fatalf("%+v: no %s at %v", c, query, s.now)
			}
			answers[query] = append(answers[query], v)
		}
	}
}

// Sums of groups that cancel are added up without loss, also where a range has parts of groups.
func TestSumsThatCancelAcrossGroups(t *testing.T) {
	s := newStore(t, parser.Options{})
	s.kept("p", []string{"mean", "sum", "count", "last"}, 0, time.Hour, 0)
	id := s.pushed("p", "x")
	start := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	var times []time.Time
	for i := range 7 {
		times = append(times, start.Add(time.Duration(i)*time.Hour+time.Minute))
	}
	s.measures(id, times, []float64{2, 2e16, 6, -2e16, 4, -4, 8})
	s.now = start.Add(400 * 24 * time.Hour)
	s.measures(id, []time.Time{s.now}, []float64{1})
	f := func(function string, at, length time.Duration, want float64) {
		t.Helper()
		if got, ok := s.value(fmt.Sprintf("%s(x[%dm])", function, int(length.Minutes())), start.Add(at)); !ok || got != want {
			t.Errorf("%s over %v at %v: %v, want %v", function, length, at, got, want)
		}
	}
	f("sum_over_time", 5*time.Hour, 5*time.Hour, 12)
	f("sum_over_time", 270*time.Minute, 4*time.Hour, 9)
	f("avg_over_time", 270*time.Minute, 4*time.Hour, 9.0/4)
	f("sum_over_time", 390*time.Minute, 6*time.Hour, 11)
}
