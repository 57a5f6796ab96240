package aggregates

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// batchValues is how many values a batch for a device holds at most: 64 MiB with their times.
const batchValues = 4 << 20

// resample aggregates the rows of each group anew. Columns are read one by one, and so they are resampled on the CPU,
// where one fits the caches; if a device is faster, as many at a time as fit a batch.
func (e *evaluator) resample(n *node) (*columns, error) {
	in, err := e.columns(n.operands[0])
	if err != nil {
		return nil, err
	}
	if m := e.operation.foldBelow(n); n.method.IsFold() && m != 0 {
		return nil, fail("%s of %s in wider groups follows from their measures: ask with exact=true", n.method, m)
	}
	out := *in
	out.granularity, out.times, out.boolean = n.width, regroupedTimes(n, in.times), false
	out.whole, out.together = true, 0
	r := resampling{in: in, method: n.method, atOnce: 1, resampler: e.resampler}
	r.groups.Set(in.times, n.grouping.Group)
	r.plan = r.groups.Plan(n.method)
	if most := min(len(in.series), batchValues/max(1, len(in.times))); most > 1 {
		if carbonara.Accelerates(e.resampler, r.plan, most*len(in.times), most*len(r.groups.Numbers), e.cores(most)) {
			r.atOnce, r.allocator, out.together = most, e.resampler, most
		} else {
			r.resampler = carbonara.NewCPUResampler(1)
		}
	}
	cores := e.cores(r.atOnce)
	out.reader = func() reader {
		r := r
		for range cores {
			r.readers = append(r.readers, in.reader())
		}
		return func(j, _ int, dst []float64) error { return r.read(e, j, dst) }
	}
	return &out, nil
}

// foldBelow returns a fold that an operand of an operation is computed from; 0: none.
func (o *Operation) foldBelow(n *node) carbonara.Method {
	for _, operand := range n.operands {
		if operand.kind == kindResample && operand.method.IsFold() {
			return operand.method
		}
		for _, i := range operand.references {
			if m, err := carbonara.ParseMethod(o.References[i].Aggregation); err == nil && m.IsFold() {
				return m
			}
		}
		if m := o.foldBelow(operand); m != 0 {
			return m
		}
	}
	return 0
}

// resampling is a resample whose columns are being read by one goroutine.
type resampling struct {
	in        *columns
	readers   []reader // of as many goroutines, which fill a batch
	method    carbonara.Method
	plan      *carbonara.Plan
	groups    Regrouping
	atOnce    int // columns
	resampler carbonara.Resampler
	allocator carbonara.Resampler // of a batch's memory; nil: Go's
	from, to  int                 // columns that the result holds
	batch     carbonara.Batch
	result    carbonara.Result
	starts    []carbonara.Timestamp
}

// read writes column j into dst.
func (r *resampling) read(e *evaluator, j int, dst []float64) error {
	if j < r.from || j >= r.to {
		if err := r.fill(e, j-j%r.atOnce); err != nil {
			return err
		}
	}
	var values []float64
	r.starts, values = r.result.Groups(j-r.from, 0).Aggregate(r.method, r.starts[:0], dst[:0])
	if len(values) != len(dst) {
		panic("aggregates: a resampled column has other rows than its neighbours")
	}
	return nil
}

// fill resamples as many columns as go together, from one on.
func (r *resampling) fill(e *evaluator, from int) error {
	r.from, r.to = from, from
	rows, to := len(r.in.times), min(from+r.atOnce, len(r.in.series))
	b := &r.batch
	if r.allocator == nil { // a column, whose times are those of all
		b.Timestamps, b.Values, b.Series = r.groups.Times, slices.Grow(b.Values[:0], rows)[:rows], b.Series[:0]
	} else {
		defer b.Release() // unlike the result, which may be read again
		b.Reset(r.allocator)
		b.Grow((to - from) * rows)
		b.Values = b.Values[:(to-from)*rows]
		for range to - from {
			b.Timestamps = append(b.Timestamps, r.groups.Times...)
		}
	}
	for i := range to - from {
		b.Series = append(b.Series, carbonara.Series{Plan: r.plan, From: i * rows, To: (i + 1) * rows})
	}
	if err := parallel.Run(e.ctx, len(r.readers), to-from, func(_ context.Context, w int, jobs iter.Seq[int]) error {
		for i := range jobs {
			if err := r.readers[w](from+i, 0, b.Values[i*rows:][:rows]); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		return err
	}
	if err := r.resampler.Resample(e.ctx, b, &r.result); err != nil {
		return err
	}
	r.to = to
	return nil
}

// regroupedTimes returns the starts of the groups that have an aggregate: which ones depends on the rows alone, not on
// their values. A rate needs a row before, std two rows.
func regroupedTimes(n *node, times []carbonara.Timestamp) []carbonara.Timestamp {
	least := 1
	if n.method.Base() == carbonara.Std {
		least = 2
	}
	if n.method.IsRate() {
		times = withoutFirst(times)
	}
	var starts []carbonara.Timestamp
	for i := 0; i < len(times); {
		number, first := n.grouping.Group(times[i]), i
		for i < len(times) && n.grouping.Group(times[i]) == number {
			i++
		}
		if i-first >= least {
			starts = append(starts, n.grouping.Start(number))
		}
	}
	return starts
}

// Regrouping gives aggregates that are to be aggregated anew a time of package carbonara's own, which knows groups of
// equal width only: the i-th row of the n-th group that holds any stands at n*Width + i. So calendars are also served,
// and rows without a gap are evenly spaced: a device needs no times for these. Its memory is used again.
type Regrouping struct {
	Times   []carbonara.Timestamp // of each row
	Numbers []int64               // of the groups that hold any row, ascending
	Width   time.Duration         // rows of the largest group
}

// Set regroups rows at these ascending times by the number of the group that each falls into.
func (r *Regrouping) Set(times []carbonara.Timestamp, group func(carbonara.Timestamp) int64) {
	r.Times, r.Numbers, r.Width = r.Times[:0], r.Numbers[:0], 1
	first := 0 // row of the group
	for i, t := range times {
		if number := group(t); len(r.Numbers) == 0 || number != r.Numbers[len(r.Numbers)-1] {
			r.Numbers, first = append(r.Numbers, number), i
		}
		r.Width = max(r.Width, time.Duration(i-first+1))
		r.Times = append(r.Times, carbonara.Timestamp(i-first))
	}
	base := -carbonara.Timestamp(r.Width)
	for i, place := range r.Times {
		if place == 0 {
			base += carbonara.Timestamp(r.Width)
		}
		r.Times[i] = base + place
	}
}

// Plan computes what a method needs of each group.
func (r *Regrouping) Plan(method carbonara.Method) *carbonara.Plan {
	return carbonara.NewPlan([]time.Duration{r.Width}, []carbonara.Method{method})
}

// Number returns the number of the group that starts there in that time.
func (r *Regrouping) Number(start carbonara.Timestamp) int64 {
	return r.Numbers[start/carbonara.Timestamp(r.Width)]
}
