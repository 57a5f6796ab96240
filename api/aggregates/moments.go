package aggregates

import (
	"fmt"
	"slices"
	"time"

	"gnocco/carbonara"
)

// Span widens from and to (exclusive) to whole groups of the combination.
func (c *Combination) Span(from, to carbonara.Timestamp) (carbonara.Timestamp, carbonara.Timestamp) {
	if c.Grouping == nil || from >= to {
		return from, to
	}
	from = c.Grouping.Start(c.Grouping.Group(from))
	if to = c.Grouping.Start(c.Grouping.Group(to-1) + 1); to <= 0 {
		to = carbonara.MaxTimestamp // the group's end lies beyond what a Timestamp holds
	}
	return from, to
}

// Combine returns the combination's aggregates of metrics whose groups these are, which stay as they are: of all together
// if it goes Across, else there has to be one. The error is an *UnaggregableError.
func (c *Combination) Combine(sources []*carbonara.Groups) (Series, error) {
	// Those without a group would hide the columns of all others.
	sources = slices.DeleteFunc(slices.Clone(sources), func(g *carbonara.Groups) bool { return g.Len() == 0 })
	if len(sources) == 0 {
		return Series{}, nil
	}
	var combined carbonara.Groups
	if c.Grouping != nil {
		regrouped := make([]*carbonara.Groups, len(sources))
		for i, source := range sources {
			var err error
			if regrouped[i], err = regroup(source, c.Grouping); err != nil {
				return Series{}, err
			}
		}
		sources = regrouped
	}
	if len(sources) == 1 {
		combined = *sources[0]
	} else if err := carbonara.Merge(&combined, sources); err != nil {
		return Series{}, fail("%s", err)
	}
	var s Series
	s.Starts, s.Values = combined.Aggregate(c.Method, make([]carbonara.Timestamp, 0, combined.Len()), make([]float64, 0, combined.Len()))
	return s, nil
}

// regroup puts groups together. Package carbonara knows groups of equal width only, so it gets a time of its own, in which
// row i of the n-th group stands at n * groupWidth + i: that serves calendars, too.
func regroup(source *carbonara.Groups, by Grouping) (*carbonara.Groups, error) {
	virtual := carbonara.Groups{Granularity: 1, Columns: source.Columns, Values: source.Values}
	var starts []carbonara.Timestamp
	last := int64(-1)
	for i, t := range source.Starts {
		if number := by.Group(t); len(starts) == 0 || number != last {
			start, end := by.Start(number), by.Start(number+1)
			if granularity := carbonara.Timestamp(source.Granularity); start%granularity != 0 || end > 0 && end%granularity != 0 {
				return nil, fail("Groups of %v do not fit into those from %s to %s", source.Granularity,
					start.Time().Format(time.RFC3339), end.Time().Format(time.RFC3339))
			}
			starts, last = append(starts, start), number
		}
		virtual.Starts = append(virtual.Starts, carbonara.Timestamp(len(starts)-1)*carbonara.Timestamp(groupWidth)+carbonara.Timestamp(i))
	}
	out := new(carbonara.Groups)
	if err := carbonara.Reaggregate(out, &virtual, groupWidth); err != nil {
		panic(fmt.Sprintf("aggregates: %v", err)) // any width is a multiple of 1
	}
	for i, t := range out.Starts {
		out.Starts[i] = starts[t/carbonara.Timestamp(groupWidth)]
	}
	return out, nil
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
	out := &columns{granularity: granularity, times: g.times, aggregated: c.Across}
	for _, s := range e.table.Combined[n.combination] {
		out.series = append(out.series, s.Found)
	}
	out.read = func(j int, dst []float64) error {
		g.read(from+j, dst)
		return e.ctx.Err()
	}
	return out, nil
}
