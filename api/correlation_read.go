package api

import (
	"context"
	"math"
	"net/http"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"gnocco/carbonara"
	"gnocco/correlate"
)

// correlated is one metric's aggregates.
type correlated struct {
	starts []carbonara.Timestamp
	values []float64
}

// readCorrelated reads the metrics' aggregates into columns of the same groups; NaN where a metric has none.
func (a *api) readCorrelated(ctx context.Context, q *correlationRequest) (correlate.Values, error) {
	series := make([]correlated, len(q.metrics))
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next, total atomic.Int64
	work := func() {
		var groups carbonara.Groups
		for {
			i := int(next.Add(1)) - 1
			if i >= len(series) || ctx.Err() != nil {
				return
			}
			if err := a.Archives.Groups(ctx, readOf(q.metrics[i], q.granularity, q.method, q.from, q.to), &groups); err != nil {
				cancel(err)
				return
			}
			s := &series[i]
			s.starts, s.values = groups.Aggregate(q.method, make([]carbonara.Timestamp, 0, groups.Len()), make([]float64, 0, groups.Len()))
			if total.Add(int64(len(s.values))) > int64(a.Correlations.MaxValues) {
				cancel(a.tooManyValues())
				return
			}
		}
	}
	var done sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(series)) - 1 {
		done.Go(work)
	}
	work()
	done.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	return a.align(series, q)
}

func (a *api) tooManyValues() *Error {
	return &Error{Status: http.StatusBadRequest, Detail: Cause{
		Cause: "Too many values", Reason: "Ask for fewer metrics, a shorter time or a coarser granularity", Detail: a.Correlations.MaxValues,
	}}
}

// align gives all series the same groups: every group between the first and the last, or, where that would be too many and no
// lag needs it, those that some series has.
func (a *api) align(series []correlated, q *correlationRequest) (correlate.Values, error) {
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
	most := a.Correlations.MaxValues / len(series)
	rows := int64(last-first)/int64(q.granularity) + 1
	var union []carbonara.Timestamp
	if rows > int64(most) && q.lag == 0 {
		for i := range series {
			union = append(union, series[i].starts...)
		}
		slices.Sort(union)
		union = slices.Compact(union)
		rows = int64(len(union))
	}
	if rows > int64(most) {
		return nil, a.tooManyValues()
	}
	for i := range series {
		column := make([]float64, rows)
		for k := range column {
			column[k] = math.NaN()
		}
		at := 0
		for k, start := range series[i].starts {
			if union == nil {
				at = int((start - first) / carbonara.Timestamp(q.granularity))
			} else {
				for union[at] != start {
					at++
				}
			}
			column[at] = series[i].values[k]
		}
		series[i] = correlated{} // its memory may go
		columns[i] = column
	}
	return columns, nil
}
