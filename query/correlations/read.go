package correlations

import (
	"context"
	"errors"
	"iter"
	"math"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/internal/parallel"
	"github.com/gnocco-db/gnocco/query"
)

// aggregates are the aggregates of one metric.
type aggregates struct {
	first, last carbonara.Timestamp
	starts      []carbonara.Timestamp // nil if each group between is there
	values      []float64
}

// start returns when the k-th group starts.
func (s *aggregates) start(k int, granularity time.Duration) carbonara.Timestamp {
	if s.starts != nil {
		return s.starts[k]
	}
	return s.first.Add(time.Duration(k) * granularity)
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
		var starts []carbonara.Timestamp
		for i := range jobs {
			t, _ := q.TypeOf(q.Metrics[i])
			method, _ := q.Metrics[i].ComparedBy(q.Method, t)
			read := query.ReadOf(q.Metrics[i], q.Granularity, method, q.From, q.To)
			if err := c.reader.Archives.Groups(ctx, read, q.Staleness, groups); err != nil {
				return err
			}
			if err := memory.account.Acquire(budget.Answers, int64(8*groups.Len())); err != nil {
				return err
			}
			budget.Of(ctx).Release(budget.Answers, int64(groups.Bytes()))
			s := &series[i]
			starts, s.values = groups.Aggregate(method, starts[:0], make([]float64, 0, groups.Len()))
			if method == carbonara.Increase && !groups.Lead && len(s.values) > 0 {
				s.values[0] = math.NaN() // the step into it is unknown
			}
			job.Counters[i] = q.increases(q.Metrics[i], starts, s.values)
			if err := s.keep(memory.account, starts, q.Granularity); err != nil {
				return err
			}
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

// keep notes when values start: each of them only where groups are missing.
func (s *aggregates) keep(account *budget.Account, starts []carbonara.Timestamp, granularity time.Duration) error {
	n := len(starts)
	if n == 0 {
		return nil
	}
	s.first, s.last = starts[0], starts[n-1]
	if s.first.Add(time.Duration(n-1)*granularity) == s.last {
		return nil
	}
	s.starts = slices.Clone(starts)
	return account.Acquire(budget.Answers, int64(8*n))
}

var groupsPool budget.Pool[carbonara.Groups]

// align gives all series the same groups: every group between the first and the last, or, where that would be too many
// and no lag needs it, those that some series has.
func align(series []aggregates, job *Job, o *Options) (correlate.Values, error) {
	q, memory := job.Request, job.memory
	first, last := carbonara.Timestamp(math.MaxInt64), carbonara.Timestamp(math.MinInt64)
	held := int64(0)
	for i := range series {
		if s := &series[i]; len(s.values) > 0 {
			first, last, held = min(first, s.first), max(last, s.last), held+8*int64(len(s.values))
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
		if err := memory.account.Acquire(budget.Answers, held); err != nil {
			return nil, err
		}
		defer memory.account.Release(budget.Answers, held)
		union = make([]carbonara.Timestamp, 0, held/8)
		for i := range series {
			for k := range series[i].values {
				union = append(union, series[i].start(k, q.Granularity))
			}
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
	return columns, parallel.Each(parallel.Workers(len(series)), len(series), func(i int) error {
		s := &series[i]
		if union == nil && s.starts == nil && s.first == first && int64(len(s.values)) == rows {
			columns[i] = s.values // as most do
			return nil
		}
		if err := memory.account.Acquire(budget.Answers, 8*rows); err != nil {
			return err
		}
		column := make([]float64, rows)
		for k := range column {
			column[k] = math.NaN()
		}
		at := 0
		for k, v := range s.values {
			start := s.start(k, q.Granularity)
			if union == nil {
				at = int((start - first) / carbonara.Timestamp(q.Granularity))
			} else {
				for union[at] != start {
					at++
				}
			}
			column[at] = v
		}
		memory.account.Release(budget.Answers, int64(8*(len(s.starts)+cap(s.values))))
		*s, columns[i] = aggregates{}, column
		return nil
	})
}
