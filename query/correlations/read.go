package correlations

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/query"
)

// aggregates are the aggregates of one metric.
type aggregates struct {
	starts []carbonara.Timestamp
	values []float64
}

// readPatiently reads a job's values and takes memory for the sums over them. It begins again if other requests held
// the memory that it needed.
func (c *Jobs) readPatiently(ctx context.Context, job *Job) (correlate.Values, error) {
	account := job.memory.account
	for {
		values, err := c.read(account.With(ctx), job)
		if err == nil {
			job.Groups = len(values[0])
			err = job.memory.chargeSums(job, &c.Options, values)
		}
		if err == nil {
			account.Unreserve()
			return values, nil
		}
		if !errors.Is(err, budget.ErrExhausted) || errors.As(err, new(*budget.TooLargeError)) ||
			account.AwaitRefused(ctx) != nil {
			return nil, err
		}
	}
}

// read reads the metrics' aggregates into columns of the same groups; NaN where a metric has none. The context carries
// the job's account.
func (c *Jobs) read(ctx context.Context, job *Job) (correlate.Values, error) {
	q, memory := job.Request, job.memory
	series := make([]aggregates, len(q.Metrics))
	job.Counters = make([]bool, len(q.Metrics))
	var total atomic.Int64
	workers := parallel.Workers(len(series))
	err := parallel.Run(ctx, workers, len(series), func(ctx context.Context, _ int, jobs iter.Seq[int]) error {
		groups := groupsPool.Get()
		defer func() { groupsPool.Put(groups, groups.Capacity()) }()
		for i := range jobs {
			t, _ := q.TypeOf(q.Metrics[i])
			method, _ := q.Metrics[i].ComparedBy(q.Method, t)
			read := query.ReadOf(q.Metrics[i], q.Granularity, method, q.From, q.To)
			if err := c.reader.Archives.Groups(ctx, read, q.Staleness, groups); err != nil {
				return err
			}
			if err := memory.account.Acquire(budget.Answers, int64(aggregateBytes*groups.Len())); err != nil {
				return err
			}
			budget.Of(ctx).Release(budget.Answers, int64(groups.Bytes()))
			s := &series[i]
			s.starts, s.values = make([]carbonara.Timestamp, 0, groups.Len()), make([]float64, 0, groups.Len())
			s.starts, s.values = groups.Aggregate(method, s.starts, s.values)
			if method == carbonara.Increase && !groups.Lead && len(s.values) > 0 {
				s.values[0] = math.NaN() // the step into it is unknown
			}
			job.Counters[i] = q.increases(q.Metrics[i], s)
			if total.Add(int64(len(s.values))) > int64(c.MaxValues) {
				return &TooManyValuesError{c.MaxValues}
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return align(series, job, &c.Options)
}

// aggregateBytes is what an aggregate takes in aggregates.
const aggregateBytes = 16

var groupsPool budget.Pool[carbonara.Groups]

// align gives all series the same groups: every group between the first and the last, or, where that would be too many
// and no lag needs it, those that some series has.
func align(series []aggregates, job *Job, o *Options) (correlate.Values, error) {
	q, memory := job.Request, job.memory
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
	most := min(o.MaxValues, job.mostValues(o)) / len(series)
	rows := int64(last-first)/int64(q.Granularity) + 1
	var union []carbonara.Timestamp
	if rows > int64(most) && q.Lag == 0 {
		held := int64(0)
		for i := range series {
			held += 8 * int64(len(series[i].starts))
		}
		if err := memory.account.Acquire(budget.Answers, held); err != nil {
			return nil, err
		}
		defer memory.account.Release(budget.Answers, held)
		union = make([]carbonara.Timestamp, 0, held/8)
		for i := range series {
			union = append(union, series[i].starts...)
		}
		slices.Sort(union)
		union = slices.Compact(union)
		rows = int64(len(union))
	}
	if rows > int64(o.MaxValues/len(series)) {
		return nil, &TooManyValuesError{o.MaxValues}
	}
	if rows > int64(most) {
		return nil, job.tooLarge(o, rows*int64(len(series)), false)
	}
	for i := range series {
		if err := memory.account.Acquire(budget.Answers, 8*rows); err != nil {
			return nil, err
		}
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
		memory.account.Release(budget.Answers, aggregateBytes*int64(cap(series[i].starts)))
		series[i] = aggregates{}
		columns[i] = column
	}
	return columns, nil
}
