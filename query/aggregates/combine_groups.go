package aggregates

import (
	"fmt"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Span widens from and to (exclusive) to whole groups of the combination.
func (c *Combination) Span(from, to carbonara.Timestamp) (carbonara.Timestamp, carbonara.Timestamp) {
	if c.Grouping == nil || from >= to {
		return from, to
	}
	return Span(c.Grouping, from, to)
}

// Span widens from and to (exclusive) to whole groups.
func Span(by Grouping, from, to carbonara.Timestamp) (carbonara.Timestamp, carbonara.Timestamp) {
	from = by.Start(by.Group(from))
	if to <= 0 {
		return from, 0
	}
	if to = by.Start(by.Group(to-1) + 1); to <= 0 {
		to = carbonara.MaxTimestamp // the group's end lies beyond what a Timestamp holds
	}
	return from, to
}

// Combine returns the combined groups of metrics, and leaves sources as they are. Only a combination that goes Across
// accepts more than one. The results of several calls can be merged, so that many metrics need not be in memory at
// once. The error is an *UnaggregableError.
func (c *Combination) Combine(sources []*carbonara.Groups) (*carbonara.Groups, error) {
	if c.Grouping == nil {
		return merge(sources)
	}
	regrouped := make([]*carbonara.Groups, len(sources))
	for i, source := range sources {
		var err error
		if regrouped[i], err = regroup(source, c.Grouping); err != nil {
			return nil, err
		}
	}
	return merge(regrouped)
}

// Series returns the aggregates of results of Combine.
func (c *Combination) Series(parts []*carbonara.Groups) (Series, error) {
	all, err := merge(parts)
	if err != nil {
		return Series{}, err
	}
	var s Series
	s.Starts, s.Values = all.Aggregate(c.Method, make([]carbonara.Timestamp, 0, all.Len()),
		make([]float64, 0, all.Len()))
	return s, nil
}

// merge returns all groups together; it may be one of sources.
func merge(sources []*carbonara.Groups) (*carbonara.Groups, error) {
	// Those without a group would hide the columns of all others.
	sources = slices.DeleteFunc(slices.Clone(sources), func(g *carbonara.Groups) bool { return g.Len() == 0 })
	switch len(sources) {
	case 0:
		return new(carbonara.Groups), nil
	case 1:
		return sources[0], nil
	}
	merged := new(carbonara.Groups)
	if err := carbonara.Merge(merged, sources); err != nil {
		return nil, fail("%s", err)
	}
	return merged, nil
}

// regroup puts groups together.
func regroup(source *carbonara.Groups, by Grouping) (*carbonara.Groups, error) {
	var r Regrouping
	r.Set(source.Starts, by.Group)
	granularity := carbonara.Timestamp(source.Granularity)
	for _, number := range r.Numbers {
		start, end := by.Start(number), by.Start(number+1)
		if start%granularity != 0 || end > 0 && end%granularity != 0 {
			return nil, fail("Groups of %v do not fit into those from %s to %s", source.Granularity,
				start.Time().Format(time.RFC3339), end.Time().Format(time.RFC3339))
		}
	}
	out := new(carbonara.Groups)
	if err := carbonara.Coarsen(out, new(source.At(1, r.Times)), r.Width); err != nil {
		panic(fmt.Sprintf("aggregates: %v", err)) // any width is a multiple of 1
	}
	starts := make([]carbonara.Timestamp, out.Len())
	for i, t := range out.Starts {
		starts[i] = by.Start(r.Number(t))
	}
	regrouped := out.At(1, starts) // alike for all metrics that are merged: a calendar's groups have no width
	return &regrouped, nil
}

// combined gives the series of one combination, aligned with those of all others that have the same granularity.
func (e *evaluator) combined(n *node) (*columns, error) {
	c := &e.operation.Combinations[n.combination]
	granularity := e.table.Granularity
	if c.Grouping != nil {
		granularity = c.width
	}
	together := Table{Granularity: granularity}
	from := 0 // of this combination's series
	for i := range e.operation.Combinations {
		other := &e.operation.Combinations[i]
		if (c.Grouping == nil) != (other.Grouping == nil) || c.width != other.width {
			continue
		}
		if i == n.combination {
			from = len(together.Series)
		}
		together.Series = append(together.Series, e.table.Combined[i]...)
	}
	g, err := align(e.ctx, &together, e.options)
	if err != nil {
		return nil, err
	}
	out := &columns{granularity: granularity, times: g.times, aggregated: c.Across, whole: g.fill.carries()}
	for _, s := range e.table.Combined[n.combination] {
		out.series = append(out.series, s.Found)
	}
	out.reader = func() reader {
		return func(j, row int, dst []float64) error {
			g.read(from+j, row, dst)
			return e.ctx.Err()
		}
	}
	return out, nil
}
