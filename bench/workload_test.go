package bench

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/bench/pattern"
)

func TestWorkloadDependsOnSeedAndSeriesOnly(t *testing.T) {
	a, b := newWorkload(7, meters[:], 40, 30, defaultStep), newWorkload(7, meters[:], 25, 30, defaultStep)
	for s := range b.values {
		if !slices.Equal(a.values[s], b.values[s]) {
			t.Errorf("series %d differs with the number of series", s)
		}
	}
	if slices.Equal(a.values[1], newWorkload(8, meters[:], 40, 30, defaultStep).values[1]) {
		t.Error("another seed gives the same values")
	}
	counts := make(map[pattern.Pattern]int)
	for _, p := range meters {
		counts[p]++
	}
	if want := map[pattern.Pattern]int{pattern.Counter: 8, pattern.Gauge: 5, pattern.Constant: 3, pattern.Percentage: 2,
		pattern.Sparse: 2}; len(counts) != len(want) {
		t.Errorf("meters are %v, want %v", counts, want)
	} else {
		for p, n := range want {
			if counts[p] != n {
				t.Errorf("%d meters of %v, want %d", counts[p], p, n)
			}
		}
	}
}

func TestBodiesHoldEveryMeasureOnceInOrder(t *testing.T) {
	w := newWorkload(1, append(meters[:], pattern.Random), 21, 10, 1500*time.Millisecond)
	ids := make([]string, 21)
	for s := range ids {
		ids[s] = "metric-" + string(rune('a'+s))
	}
	for _, shape := range []Shape{{21, 1, 1}, {5, 4, 1}, {100, 100, 1}, {1, 3, 1}} {
		got := make(map[string][]float64)
		for _, body := range w.bodies(ids, shape, 2, 9) {
			var request map[string][]struct {
				Timestamp string
				Value     float64
			}
			if err := json.Unmarshal(body, &request); err != nil {
				t.Fatalf("%v: %v in %s", shape, err, body)
			}
			if len(request) > shape.Metrics {
				t.Errorf("%v: a request of %d metrics", shape, len(request))
			}
			for id, measures := range request {
				if len(measures) > shape.Measures {
					t.Errorf("%v: %d measures of a metric in a request", shape, len(measures))
				}
				for _, m := range measures {
					at, err := time.Parse(timestampFormat, m.Timestamp)
					if want := w.time(2 + len(got[id])); err != nil || !at.Equal(want) {
						t.Fatalf("%v: measure %d of %s is at %q, want %v", shape, len(got[id]), id, m.Timestamp, want)
					}
					got[id] = append(got[id], m.Value)
				}
			}
		}
		for s, id := range ids {
			if !slices.Equal(got[id], w.values[s][2:9]) {
				t.Errorf("%v: series %d holds %v, want %v", shape, s, got[id], w.values[s][2:9])
			}
		}
	}
}

func TestCompareFindsEachKindOfError(t *testing.T) {
	w := &workload{start: firstMeasure, step: 20 * time.Second, values: [][]float64{{1, 2, 6, 5}}}
	groups := w.expect(w.values[0], time.Minute)
	rows := func(values ...float64) []row {
		var r []row
		for i, v := range values {
			r = append(r, row{firstMeasure.Add(time.Duration(i) * time.Minute), time.Minute, v})
		}
		return r
	}
	right := map[string][]row{"mean": rows(3, 5), "min": rows(1, 5), "max": rows(6, 5), "sum": rows(9, 5),
		"count": rows(3, 1), "std": rows(math.Sqrt(7))} // of one measure there is no deviation
	for method, answer := range right {
		if err := compare(groups, method, time.Minute, answer); err != nil {
			t.Errorf("%s: %v", method, err)
		}
		for name, wrong := range map[string][]row{
			"short":       answer[:len(answer)-1],
			"long":        append(slices.Clone(answer), answer[0]),
			"value":       append([]row{{answer[0].start, time.Minute, answer[0].value + 1e-6}}, answer[1:]...),
			"NaN":         append([]row{{answer[0].start, time.Minute, math.NaN()}}, answer[1:]...),
			"start":       append([]row{{answer[0].start.Add(1), time.Minute, answer[0].value}}, answer[1:]...),
			"granularity": append([]row{{answer[0].start, time.Hour, answer[0].value}}, answer[1:]...),
		} {
			if compare(groups, method, time.Minute, wrong) == nil {
				t.Errorf("%s: a wrong answer (%s) passes", method, name)
			}
		}
	}
}

func TestSampleIsWithinTheSeries(t *testing.T) {
	for _, n := range []int{1, 7, 20, 21, 50, 500, 10_000} {
		w := &workload{values: make([][]float64, n)}
		kinds := make(map[int]bool)
		for _, s := range w.sample() {
			if s < 0 || s >= n {
				t.Errorf("series %d of %d", s, n)
			}
			kinds[s%len(meters)] = true
		}
		if n >= 500 && len(kinds) != len(meters) {
			t.Errorf("of %d series, %d kinds of meter are checked", n, len(kinds))
		}
	}
}
