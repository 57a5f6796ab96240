package simulation

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"
)

// policy is an archive policy. No measure expires.
type policy struct {
	name          string
	granularities []int64 // seconds, ascending
	backWindow    int64   // blocks of the last
}

var policies = []*policy{
	{"plain", []int64{1, 60}, 0},
	{"late", []int64{5, 60, 300}, 3},
}

func (p *policy) body(methods []string) map[string]any {
	var definition []map[string]any
	for _, g := range p.granularities {
		definition = append(definition, map[string]any{"granularity": g, "timespan": 86400 * 3650})
	}
	return map[string]any{"name": p.name, "definition": definition, "back_window": p.backWindow,
		"aggregation_methods": methods}
}

// aggregates are the methods whose groups are compared.
func (w *World) aggregates() []string {
	if w.options.Plain {
		return []string{"count", "sum"}
	}
	return []string{"count", "sum", "min", "max"}
}

// methods are those of all policies, at least.
func (w *World) methods() []string {
	if w.options.Plain {
		return w.aggregates()
	}
	return append(w.aggregates(), "sketch")
}

// oneMore is a method that policies get, and lose.
func (w *World) oneMore() string {
	if w.options.Plain {
		return "max"
	}
	return "mean"
}

// metric is what its only writer knows of it.
type metric struct {
	id       string
	label    string // of one that remote write makes; "": it has an id
	policy   *policy
	newest   int64 // timestamp ever sent
	measures map[int64]*measure
	counts   map[int64]map[int64]float64 // shown by a read since crash, by granularity and group
	crash    time.Time
	shown    map[int64]float64 // sums by the last answer of PromQL
}

// measure is what was sent for a timestamp.
type measure struct {
	acked  bool
	last   write     // that was acknowledged
	beside []write   // acknowledged before, and their order is not promised: each may count
	past   []float64 // acknowledged before, all
	doubts []float64 // not acknowledged: they may count, at any time
}

// write is one acknowledged value.
type write struct {
	value float64
	by    *process
	at    time.Time // of the acknowledgement
}

func newMetric(id string, p *policy, begin int64) *metric {
	return &metric{id: id, policy: p, newest: begin, measures: make(map[int64]*measure),
		counts: make(map[int64]map[int64]float64)}
}

// sentMeasure is one in JSON.
type sentMeasure struct {
	Timestamp int64   `json:"timestamp"`
	Value     float64 `json:"value"`
}

// next returns measures that are not too old, with or without the requests in doubt.
func (m *metric) next(r *rand.Rand) []sentMeasure {
	coarse := m.policy.granularities[len(m.policy.granularities)-1]
	oldest := (m.newest/coarse - m.policy.backWindow) * coarse
	used := make(map[int64]bool)
	var all []sentMeasure
	for range 1 + r.IntN(4) {
		at := m.newest
		switch r.IntN(8) {
		case 0:
			at = oldest + r.Int64N(m.newest-oldest+1) // late, perhaps a second time
		case 1:
			at += 1 + r.Int64N(20*coarse)
		default:
			at += 1 + r.Int64N(10)
		}
		if used[at] {
			continue
		}
		used[at] = true
		all = append(all, sentMeasure{at, float64(1 + r.IntN(1000))})
		// Measures of one request are judged by earlier requests; newest moves on with the next.
	}
	return all
}

// sent notes what was sent, and how it was answered.
func (m *metric) sent(w *World, all []sentMeasure, a *answer) {
	for _, s := range all {
		m.newest = max(m.newest, s.Timestamp)
		known := m.measures[s.Timestamp]
		if known == nil {
			known = new(measure)
			m.measures[s.Timestamp] = known
		}
		if !a.ok() {
			known.doubts = append(known.doubts, s.Value)
			continue
		}
		if known.acked {
			known.past = append(known.past, known.last.value)
			known.beside = slices.DeleteFunc(append(known.beside, known.last), func(before write) bool {
				return before.by == a.by || a.began.Sub(before.at) > w.apart(before.at)
			})
		}
		known.acked, known.last = true, write{s.Value, a.by, a.began.Add(a.took)}
	}
}

// bounds are what a group may show.
type bounds struct {
	low, high       float64 // count
	lowSum, highSum float64
	lowMin, highMin float64
	lowMax, highMax float64
}

// add adds a measure that is between low and high. One that may be missing bounds only what the extremes may be.
func (b *bounds) add(low, high float64, there bool) {
	if b.high++; b.high == 1 {
		b.lowMin, b.highMin, b.lowMax, b.highMax = low, math.Inf(1), math.Inf(-1), high
	}
	b.lowMin, b.highMax = min(b.lowMin, low), max(b.highMax, high)
	b.highSum += high
	if there {
		b.low++
		b.lowSum += low
		b.highMin, b.lowMax = min(b.highMin, high), max(b.lowMax, low)
	}
}

// groups returns the groups that may be read. Without a refresh earlier values still count.
func (m *metric) groups(granularity int64, refreshed bool) map[int64]*bounds {
	found := make(map[int64]*bounds)
	for at, known := range m.measures {
		start := at / granularity * granularity
		b := found[start]
		if b == nil {
			b = new(bounds)
			found[start] = b
		}
		values := slices.Clone(known.doubts)
		if !refreshed {
			values = append(values, known.past...)
		}
		if known.acked {
			values = append(values, known.last.value)
			for _, before := range known.beside {
				values = append(values, before.value)
			}
		}
		b.add(slices.Min(values), slices.Max(values), known.acked)
	}
	return found
}

// reading is one answer with groups.
type reading struct {
	aggregation string
	granularity int64
	refreshed   bool
	from, to    int64     // only groups that begin in this time
	crash       time.Time // last time at which groups may have become less
}

// check compares the groups of an answer with the requests so far. Without a crash since, groups never shrink.
func (m *metric) check(r reading, got map[int64]float64) (faults []string) {
	if r.crash.After(m.crash) {
		m.crash, m.counts = r.crash, make(map[int64]map[int64]float64)
	}
	aggregation, granularity, refreshed := r.aggregation, r.granularity, r.refreshed
	wanted := m.groups(granularity, refreshed)
	shown := m.counts[granularity]
	if shown == nil {
		shown = make(map[int64]float64)
		m.counts[granularity] = shown
	}
	for start, b := range wanted {
		if start < r.from || start >= r.to {
			continue
		}
		value, there := got[start]
		low, high := b.low, b.high
		switch aggregation {
		case "sum":
			low, high = b.lowSum, b.highSum
		case "min":
			low, high = b.lowMin, b.highMin
		case "max":
			low, high = b.lowMax, b.highMax
		}
		if extreme := aggregation == "min" || aggregation == "max"; extreme && (!there || !refreshed) {
			low, high = min(low, value), max(high, value) // its count says whether it has to be there
			if there {
				low, high = b.lowMin, b.highMax
			}
		}
		if !refreshed && aggregation != "min" && aggregation != "max" {
			low = 0
		}
		if aggregation == "count" {
			if !refreshed {
				low = shown[start]
			}
			if there {
				shown[start] = max(shown[start], value)
			}
		}
		if value < low || value > high {
			faults = append(faults, fmt.Sprintf("%s of the group of %d s at %d is %v, not %v to %v",
				aggregation, granularity, start, value, low, high))
		}
	}
	for start, value := range got {
		if wanted[start] == nil {
			faults = append(faults, fmt.Sprintf("a group of %d s at %d has %s %v, and nothing was sent", granularity, start,
				aggregation, value))
		}
	}
	slices.Sort(faults)
	return faults
}
