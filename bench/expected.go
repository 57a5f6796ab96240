package bench

import (
	"fmt"
	"math"
	"slices"
	"time"
)

// expectedGroup is what the aggregates of one period must be.
type expectedGroup struct {
	start         time.Time
	count         int
	sum, min, max float64
	squares       float64 // of deviations from the mean
	sorted        []float64
}

// expect computes the groups of one series of the workload in two passes, the plainest way.
func (w *workload) expect(values []float64, granularity time.Duration) []expectedGroup {
	var groups []expectedGroup
	var members [][]float64
	for i, v := range values {
		start := w.time(i).Truncate(granularity)
		if len(groups) == 0 || !groups[len(groups)-1].start.Equal(start) {
			groups = append(groups, expectedGroup{start: start, min: v, max: v})
			members = append(members, nil)
		}
		g := &groups[len(groups)-1]
		g.count++
		g.sum += v
		g.min, g.max = min(g.min, v), max(g.max, v)
		members[len(members)-1] = append(members[len(members)-1], v)
	}
	for i := range groups {
		mean := groups[i].sum / float64(groups[i].count)
		for _, v := range members[i] {
			groups[i].squares += (v - mean) * (v - mean)
		}
		slices.Sort(members[i])
		groups[i].sorted = members[i]
	}
	return groups
}

// methods are the aggregation methods of the benchmark's archive policies: Gnocchi's defaults.
var methods = []string{"mean", "min", "max", "sum", "std", "count"}

// orderMethods are added to them if Options.Percentiles asks for it.
var orderMethods = []string{"median", "95pct"}

// value returns the aggregate of one method; ok is false where the method gives none.
func (g *expectedGroup) value(method string) (v float64, ok bool) {
	switch method {
	case "mean":
		return g.sum / float64(g.count), true
	case "min":
		return g.min, true
	case "max":
		return g.max, true
	case "sum":
		return g.sum, true
	case "count":
		return float64(g.count), true
	case "std":
		return math.Sqrt(g.squares / float64(g.count-1)), g.count > 1
	case "median":
		return g.percentile(0.5), true
	case "95pct":
		return g.percentile(0.95), true
	}
	panic("bench: no such method: " + method)
}

// compare tells the first difference between an answer and the groups that it must show; nil for none.
// Sums may differ in their last digits, for the order of addition is the server's.
func compare(groups []expectedGroup, method string, granularity time.Duration, rows []row) error {
	i := 0
	for g := range groups {
		want, ok := groups[g].value(method)
		if !ok {
			continue
		}
		if i == len(rows) {
			return fmt.Errorf("%d aggregates, the next should be at %v", len(rows), groups[g].start)
		}
		got := rows[i]
		i++
		if !got.start.Equal(groups[g].start) || got.granularity != granularity {
			return fmt.Errorf("aggregate at %v (granularity %v), want %v (%v)", got.start, got.granularity,
				groups[g].start, granularity)
		}
		if !within(got.value, want, &groups[g], method) {
			return fmt.Errorf("%s at %v is %v, want %v", method, got.start, got.value, want)
		}
	}
	if i < len(rows) {
		return fmt.Errorf("%d aggregates too many, the first at %v", len(rows)-i, rows[i].start)
	}
	return nil
}

// within reports whether an aggregate is right, but for the order in which floats were added.
func within(got, want float64, g *expectedGroup, method string) bool {
	scale := math.Abs(want)
	switch method {
	case "mean", "sum":
		scale = max(scale, math.Abs(g.min), math.Abs(g.max))
	case "std":
		// A deviation carries the error of the mean that it is taken from.
		scale = max(scale, math.Abs(g.min)*1e-4, math.Abs(g.max)*1e-4)
	case "min", "max", "count":
		return got == want
	}
	return math.Abs(got-want) <= 1e-9*scale
}

// percentile is the value at a rank between the least and the largest, by linear interpolation.
func (g *expectedGroup) percentile(fraction float64) float64 {
	rank := float64(g.count-1) * fraction
	low := int(rank)
	if low == g.count-1 {
		return g.sorted[low]
	}
	return g.sorted[low] + (g.sorted[low+1]-g.sorted[low])*(rank-float64(low))
}
