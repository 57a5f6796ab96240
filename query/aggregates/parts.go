package aggregates

import (
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// A table may be too large to be in memory at once. Most operations that make few series of many can be evaluated part
// by part of the time, each of which has a table of its own: rows of one part never matter to those of another one.

// Divisible reports whether the results of consecutive parts of the time, joined, are the result of all of it, in less
// memory than their series take.
func (o *Operation) Divisible(options *Options) bool {
	if len(o.Combinations) > 0 || !o.root.divisible() || !o.root.reduces() {
		return false
	}
	switch options.Fill.mode {
	case fillNone: // rows are cut off once the overlap of all parts is known: groups of rows would miss them before
		return !o.root.any(func(n *node) bool { return n.kind == kindResample })
	case fillNumber, fillNull, fillDropNA:
		return true
	}
	return false // values are carried over from one part to another
}

// divisible reports whether no row depends on rows of another group.
func (n *node) divisible() bool {
	return !n.any(func(n *node) bool {
		switch n.kind {
		case kindNumber, kindMetric, kindUnary, kindBinary, kindClip:
			return false
		case kindAggregate:
			return n.across.rate
		case kindResample:
			return n.method.IsRate()
		}
		return true
	})
}

// reduces reports whether all metrics are aggregated or resampled.
func (n *node) reduces() bool {
	switch n.kind {
	case kindMetric:
		return false
	case kindAggregate, kindResample:
		return true
	}
	return !slices.ContainsFunc(n.operands, func(operand *node) bool { return !operand.reduces() })
}

// any reports whether f holds for n or any node below.
func (n *node) any(f func(*node) bool) bool {
	return f(n) || slices.ContainsFunc(n.operands, func(operand *node) bool { return operand.any(f) })
}

// PartStart returns the latest time, not after t, at which a part may begin: an aggregate of this granularity and a
// group of every resample begin there.
func (o *Operation) PartStart(t carbonara.Timestamp, granularity time.Duration) carbonara.Timestamp {
	const most = 1000 // widths that seldom meet are not worth the search
	for range most {
		start := t.Floor(granularity)
		o.root.any(func(n *node) bool {
			if n.kind == kindResample {
				start = n.grouping.Start(n.grouping.Group(start))
			}
			return false
		})
		if start == t {
			return start
		}
		t = start
	}
	return 0
}

// Detach computes the columns of a result, which needs its table no more then.
func (r *Result) Detach() error {
	values := make([][]float64, r.Columns())
	for j := range values {
		var err error
		if values[j], err = r.Column(j, nil); err != nil {
			return err
		}
	}
	detached := *r.columns
	detached.times, detached.reader = slices.Clone(r.Times), nil // which may be those of a series
	r.Times, r.columns, r.read = detached.times, &detached, func(j, _ int, dst []float64) error {
		copy(dst, values[j])
		return nil
	}
	return nil
}

// Join returns the result of all the time of results for consecutive parts of it, at least one, which were evaluated
// with Options.Part. The error is an *UnaggregableError.
func Join(parts []*Result, options *Options) (*Result, error) {
	joined := *parts[0]
	joined.Times, joined.overlap = nil, nil
	for _, part := range parts {
		for _, row := range part.overlap {
			joined.overlap = append(joined.overlap, len(joined.Times)+row)
		}
		joined.Times = append(joined.Times, part.Times...)
	}
	from, to := 0, len(joined.Times)
	if options.Fill.mode == fillNone {
		var err error
		if from, to, err = cut(joined.overlap, len(joined.Times), options); err != nil {
			return nil, err
		}
	}
	joined.Times = joined.Times[from:to]
	all := *parts[0].columns
	all.times = joined.Times
	joined.columns, joined.read = &all, func(j, _ int, dst []float64) error {
		at := -from // of the part in dst
		for _, part := range parts {
			values, err := part.Column(j, nil)
			if err != nil {
				return err
			}
			if skip := max(0, -at); at < len(dst) && skip < len(values) {
				copy(dst[at+skip:], values[skip:])
			}
			at += len(values)
		}
		return nil
	}
	return &joined, nil
}
