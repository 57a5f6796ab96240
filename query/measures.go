package query

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// MetricRead is a request for the aggregates of one metric.
type MetricRead struct {
	Metric        *model.Metric
	Method        carbonara.Method
	From, To      carbonara.Timestamp // To is exclusive
	Granularities []time.Duration     // coarsest first
	Resample      Grouping            // nil: as stored
	Exact         bool                // resample from stored columns, not from aggregates
	Where         *Predicate          // on values, without Resample; nil: none
	Refresh       bool                // asks the caller for Reader.Refresh before
	Staleness     *Staleness          // how old the answer may be; nil: fresh
	Rows          *Rows               // how many the answer may have; nil: any number
}

// OfSketches reports whether the answer is percentiles of sketches: of several groups, or of a method without a column.
func (r *MetricRead) OfSketches() bool {
	policy := r.Metric.ArchivePolicy
	return policy.FromSketch(r.Method) ||
		(r.Resample != nil || r.Exact) && r.Method.OfSketch() > 0 && policy.Plan().HasSketch()
}

// Aggregates are the aggregates of one metric. Their memory is used again by the next read.
type Aggregates struct {
	Starts []carbonara.Timestamp
	Values []float64
	Ends   []int // of each granularity's part of Starts and Values
	groups carbonara.Groups
	regrouping
}

// Aggregates sets dst to the aggregates that read asks for.
func (r *Reader) Aggregates(ctx context.Context, read *MetricRead, dst *Aggregates) error {
	dst.Starts, dst.Values, dst.Ends = dst.Starts[:0], dst.Values[:0], dst.Ends[:0]
	for _, granularity := range read.Granularities {
		if err := r.appendAggregates(ctx, read, granularity, dst); err != nil {
			return err
		}
		before := 0
		if n := len(dst.Ends); n > 0 {
			before = dst.Ends[n-1]
		}
		if err := read.Rows.charge(len(dst.Starts) - before); err != nil {
			return err
		}
		dst.Ends = append(dst.Ends, len(dst.Starts))
	}
	return nil
}

// appendAggregates appends the aggregates of one granularity to dst.
func (r *Reader) appendAggregates(ctx context.Context, read *MetricRead, granularity time.Duration,
	dst *Aggregates) error {
	addsUp := read.Method.IsCounter()
	if read.Exact && !addsUp || read.Resample != nil && (read.OfSketches() || read.Method.IsFold()) {
		return r.resampleExactly(ctx, read, granularity, dst)
	}
	groups := ReadOf(read.Metric, granularity, read.Method, read.From, read.To)
	if read.Resample != nil {
		groups.From, groups.To = aggregates.Span(read.Resample, read.From, read.To)
		if read.Method.IsRate() {
			// The first difference starts at an aggregate before, as far back as Gnocchi looks: the split's first.
			groups.From = min(groups.From, carbonara.SplitKeyOf(read.From, granularity).Start)
		}
	}
	if err := r.Archives.Groups(ctx, groups, read.Staleness, &dst.groups); err != nil {
		return err
	}
	if read.Resample != nil {
		return r.regroup(ctx, read, dst)
	}
	if err := dst.grow(ctx, dst.groups.Len()); err != nil {
		return err
	}
	from := len(dst.Starts)
	dst.Starts, dst.Values = dst.groups.Aggregate(read.Method, dst.Starts, dst.Values)
	bytes := dst.groups.Bytes()
	if bytes > budget.Small { // aggregates may stay until a slow client has read them
		dst.groups = carbonara.Groups{}
	}
	budget.Of(ctx).Release(budget.Answers, int64(bytes))
	if read.Where != nil {
		return dst.keep(ctx, from, read.Where)
	}
	return nil
}

// grow makes room for more aggregates.
func (a *Aggregates) grow(ctx context.Context, more int) error {
	if err := budget.Of(ctx).Acquire(budget.Answers, int64(16*more)); err != nil {
		return err
	}
	a.Starts, a.Values = slices.Grow(a.Starts, more), slices.Grow(a.Values, more)
	return nil
}

// Capacity returns the memory that stays for the next read, in bytes, about.
func (a *Aggregates) Capacity() int {
	const perRegrouped = 64 // an aggregate, what it is resampled from, and a group of the result
	return a.groups.Capacity() + 16*cap(a.Values) + perRegrouped*cap(a.aggregates)
}

// keep drops the aggregates from index from on that do not match.
func (a *Aggregates) keep(ctx context.Context, from int, p *Predicate) error {
	const valuesPerCheck = 1024 // of a predicate that may have thousands of terms
	kept := from
	for i := from; i < len(a.Values); i++ {
		if i%valuesPerCheck == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		if p.Holds(a.Values[i]) {
			a.Starts[kept], a.Values[kept] = a.Starts[i], a.Values[i]
			kept++
		}
	}
	a.Starts, a.Values = a.Starts[:kept], a.Values[:kept]
	return nil
}

// resampleExactly appends the metric's aggregates, regrouped, to dst.
func (r *Reader) resampleExactly(ctx context.Context, read *MetricRead, granularity time.Duration,
	dst *Aggregates) error {
	combination, err := aggregates.Resampled(read.Method, read.Resample)
	if err != nil {
		return Inexact(err)
	}
	if err := combination.Check(read.Metric.ArchivePolicy.Plan()); err != nil {
		return Inexact(err)
	}
	from, to := aggregates.Span(read.Resample, read.From, read.To)
	columns := combination.Columns(read.Metric.ArchivePolicy.Plan())
	groups := model.Read{Metric: read.Metric, Granularity: granularity, Columns: columns, From: from, To: to}
	if err := r.Archives.Groups(ctx, groups, read.Staleness, &dst.groups); err != nil {
		return err
	}
	if err := dst.grow(ctx, dst.groups.Len()); err != nil {
		return err
	}
	combined, err := combination.Combine([]*carbonara.Groups{&dst.groups})
	if unaggregable, ok := errors.AsType[*aggregates.UnaggregableError](err); ok {
		name := "exact"
		if !read.Exact {
			name = "resample"
		}
		return &ArgumentError{name, unaggregable.Reason}
	}
	if err != nil {
		return err
	}
	dst.Starts, dst.Values = combined.Aggregate(read.Method, dst.Starts, dst.Values)
	return nil
}
