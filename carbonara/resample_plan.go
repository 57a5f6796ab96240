package carbonara

import (
	"slices"
	"time"
)

// Plan is what to compute for a metric; one is made per archive policy and shared by its metrics.
type Plan struct {
	Granularities []time.Duration // ascending, distinct, > 0
	Columns       []Column        // ascending; with each column what it takes to continue it

	measures, rate layout
	counter        counterLayout
	beyond         []beyond
	sketch         bool
	open           int     // see OpenValues
	single         []*Plan // of each granularity alone
}

// NewPlan returns the plan of an archive policy with these granularities and methods.
func NewPlan(granularities []time.Duration, methods []Method) *Plan {
	p := &Plan{Granularities: slices.Clone(granularities)}
	slices.Sort(p.Granularities)
	p.Granularities = slices.Compact(p.Granularities)
	for _, m := range methods {
		p.add(m.Columns())
		if m.IsCounter() {
			p.add(counterColumns)
		}
	}
	return p.completed()
}

// add adds columns, and the columns that continue them.
func (p *Plan) add(columns []Column) {
	for _, c := range columns {
		rate := c & rateBit
		// Count shows whether a group is open and a rate present; a second moment continues from count and sum, resets
		// from the last value.
		p.Columns = append(p.Columns, c, ColumnCount|rate)
		if c.Base() == ColumnM2 {
			p.Columns = append(p.Columns, ColumnSum|rate)
		}
		if c.IsCounter() {
			p.Columns = append(p.Columns, ColumnLast)
		}
	}
	slices.Sort(p.Columns)
	p.Columns = slices.Compact(p.Columns)
}

// Narrow returns a plan of p's granularities and of its columns among these, with the columns that continue them.
func (p *Plan) Narrow(columns []Column) *Plan {
	q := &Plan{Granularities: p.Granularities}
	q.add(slices.DeleteFunc(slices.Clone(columns), func(c Column) bool { return !slices.Contains(p.Columns, c) }))
	q.complete()
	return q
}

// NarrowOpen appends to dst what of an open row of p belongs to q, which is Narrow of p.
func (p *Plan) NarrowOpen(q *Plan, dst, open []float64) []float64 {
	for i, c := range p.Columns {
		if _, ok := slices.BinarySearch(q.Columns, c); ok {
			dst = append(dst, open[i])
		}
	}
	if q.measures.low > 0 {
		dst = append(dst, open[p.measures.low])
	}
	if q.rate.low > 0 {
		dst = append(dst, open[p.rate.low])
	}
	return dst
}

// PlanOf returns the plan that makes these columns (ascending, complete as a plan's are) at these granularities
// (ascending): the plan of an archive, independent of its policy.
func PlanOf(granularities []time.Duration, columns []Column) *Plan {
	return (&Plan{Granularities: slices.Clone(granularities), Columns: slices.Clone(columns)}).completed()
}

// Equal reports whether two plans make the same columns at the same granularities.
func (p *Plan) Equal(q *Plan) bool {
	return p == q || slices.Equal(p.Granularities, q.Granularities) && slices.Equal(p.Columns, q.Columns)
}

func (p *Plan) completed() *Plan {
	p.complete()
	for _, g := range p.Granularities {
		single := &Plan{Granularities: []time.Duration{g}, Columns: p.Columns}
		single.complete()
		p.single = append(p.single, single)
	}
	return p
}

// Single returns the plan of the j-th granularity alone, with the same columns.
func (p *Plan) Single(j int) *Plan { return p.single[j] }

func (p *Plan) complete() {
	p.measures = newLayout(p.Columns, false)
	p.rate = newLayout(p.Columns, true)
	p.counter = newCounterLayout(p.Columns)
	p.beyond = newBeyond(p.Columns)
	_, p.sketch = slices.BinarySearch(p.Columns, ColumnSketch)
	p.open = len(p.Columns)
	for _, l := range []*layout{&p.measures, &p.rate} {
		if l.moment[ColumnSum] >= 0 {
			l.low = p.open
			p.open++
		}
	}
}

// OpenValues returns how many numbers an open row has: the columns, each sum as far as float64 adds it up, and then for
// each sum what its additions rounded away.
func (p *Plan) OpenValues() int { return p.open }

// HasRate reports whether any column is computed over differences.
func (p *Plan) HasRate() bool { return p.rate.any }

// HasCounters reports whether any column is one of counters.
func (p *Plan) HasCounters() bool { return p.counter.any }

// HasMoments reports whether any column is a moment other than a count.
func (p *Plan) HasMoments() bool { return p.measures.more || p.rate.more }

// HasPercentiles reports whether any column is an order statistic or a sketch, which cannot be continued from
// moments: such a group is always computed from all its measures.
func (p *Plan) HasPercentiles() bool { return p.Percentiles() > 0 || p.sketch }

// HasSketch reports whether a column is the sketch.
func (p *Plan) HasSketch() bool { return p.sketch }

// NeedsCPU reports whether a column is one that no device computes: a sketch, or one with a threshold.
func (p *Plan) NeedsCPU() bool { return p.sketch || len(p.beyond) > 0 }

// Percentiles returns how many columns are order statistics.
func (p *Plan) Percentiles() int { return len(p.measures.percentiles) + len(p.rate.percentiles) }

// Coarsest returns the widest granularity: the block of the back window.
func (p *Plan) Coarsest() time.Duration { return p.Granularities[len(p.Granularities)-1] }

// StartOf returns the earliest start of the groups that t falls into. Granularities need not divide one another.
func (p *Plan) StartOf(t Timestamp) Timestamp {
	start := t
	for _, g := range p.Granularities {
		start = min(start, t.Floor(g))
	}
	return start
}

// GatherBy puts items of one key side by side, in the order in which their keys come first: of one plan, what a
// resampler does together.
func GatherBy[T any, K comparable](items []T, key func(T) K) {
	order := make(map[K]int)
	var last K
	for i, item := range items {
		k := key(item)
		if (i == 0 || k != last) && order[k] == 0 {
			order[k] = len(order) + 1
		}
		last = k
	}
	if len(order) > 1 {
		slices.SortStableFunc(items, func(a, b T) int { return order[key(a)] - order[key(b)] })
	}
}
