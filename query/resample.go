package query

import (
	"context"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// regrouping is the memory that resampling needs.
type regrouping struct {
	aggregates []carbonara.Timestamp
	groupsOf   aggregates.Regrouping
	batch      carbonara.Batch
	result     carbonara.Result
}

// regroup aggregates the aggregates in s.groups anew, by the read's method, and appends those of the groups that
// start in the read's range to s: a mean of means, as Gnocchi does, not what the measures would give.
func (r *Reader) regroup(ctx context.Context, read *MetricRead, s *Aggregates) error {
	// The aggregates that are regrouped, their groups, and those of the answer.
	if err := s.grow(ctx, 2*s.groups.Len()); err != nil {
		return err
	}
	s.aggregates, s.batch.Values = s.groups.Aggregate(read.Method, s.aggregates[:0], s.batch.Values[:0])
	if len(s.aggregates) == 0 {
		return nil
	}
	s.groupsOf.Set(s.aggregates, read.Resample.Group)
	s.batch.Timestamps = s.groupsOf.Times
	method := read.Method.OfAggregates()
	series := carbonara.Series{Plan: s.groupsOf.Plan(method), To: len(s.aggregates)}
	s.batch.Series = append(s.batch.Series[:0], series)
	if err := r.Resampler.Resample(ctx, &s.batch, &s.result); err != nil {
		return err
	}
	defer s.result.Release()
	kept, from := len(s.Starts), read.Resample.Group(read.From)
	at := kept
	s.Starts, s.Values = s.result.Groups(0, 0).Aggregate(method, s.Starts, s.Values)
	for i := at; i < len(s.Starts); i++ {
		number := s.groupsOf.Number(s.Starts[i])
		if start := read.Resample.Start(number); number >= from && start < read.To {
			s.Starts[kept], s.Values[kept] = start, s.Values[i]
			kept++
		}
	}
	s.Starts, s.Values = s.Starts[:kept], s.Values[:kept]
	return nil
}
