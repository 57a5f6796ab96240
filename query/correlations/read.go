package correlations

import (
	"context"
	"math"
	"runtime"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"gnocco/carbonara"
	"gnocco/correlate"
	"gnocco/internal/budget"
	"gnocco/query"
)

// aggregates are the aggregates of one metric.
type aggregates struct {
	starts []carbonara.Timestamp
	values []float64
}

// read reads the metrics' aggregates into columns of the same groups; NaN where a metric has none.
func (c *Jobs) read(ctx context.Context, q *Request) (correlate.Values, error) {
	series := make([]aggregates, len(q.Metrics))
	var total atomic.Int64
	all, ctx := errgroup.WithContext(ctx)
	all.SetLimit(runtime.GOMAXPROCS(0))
	for i := range series {
		all.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			groups := groupsPool.Get()
			defer func() { groupsPool.Put(groups, groups.Capacity()) }()
			read := query.ReadOf(q.Metrics[i], q.Granularity, q.Method, q.From, q.To)
			if err := c.reader.Archives.Groups(ctx, read, q.Staleness, groups); err != nil {
				return err
			}
			s := &series[i]
			s.starts, s.values = groups.Aggregate(q.Method, make([]carbonara.Timestamp, 0, groups.Len()), make([]float64, 0, groups.Len()))
			if total.Add(int64(len(s.values))) > int64(c.MaxValues) {
				return &TooManyValuesError{c.MaxValues}
			}
			return nil
		})
	}
	if err := all.Wait(); err != nil {
		return nil, err
	}
	return c.align(series, q)
}

var groupsPool budget.Pool[carbonara.Groups]

// align gives all series the same groups: every group between the first and the last, or, where that would be too many
// and no lag needs it, those that some series has.
func (c *Jobs) align(series []aggregates, q *Request) (correlate.Values, error) {
	first, last := carbonara.Timestamp(math.MaxInt64), carbonara.Timestamp(math.MinInt64)
	for i := range series {
		if starts := series[i].starts; len(starts) > 0 {
			first, last = min(first, starts[0]), max(last, starts[len(starts)-1])
		}
	}
	columns := make(correlate.Values, len(series))
	if first > last {
		return columns, nil // no aggregates at all
	}
	most := c.MaxValues / len(series)
	rows := int64(last-first)/int64(q.Granularity) + 1
	var union []carbonara.Timestamp
	if rows > int64(most) && q.Lag == 0 {
		for i := range series {
			union = append(union, series[i].starts...)
		}
		slices.Sort(union)
		union = slices.Compact(union)
		rows = int64(len(union))
	}
	if rows > int64(most) {
		return nil, &TooManyValuesError{c.MaxValues}
	}
	for i := range series {
		column := make([]float64, rows)
		for k := range column {
			column[k] = math.NaN()
		}
		at := 0
		for k, start := range series[i].starts {
			if union == nil {
				at = int((start - first) / carbonara.Timestamp(q.Granularity))
			} else {
				for union[at] != start {
					at++
				}
			}
			column[at] = series[i].values[k]
		}
		series[i] = aggregates{} // its memory may go
		columns[i] = column
	}
	return columns, nil
}
