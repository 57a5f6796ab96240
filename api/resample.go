package api

import (
	"context"

	"gnocco/api/aggregates"
	"gnocco/carbonara"
)

// regrouping is the memory that resample= needs.
type regrouping struct {
	aggregates []carbonara.Timestamp
	groupsOf   aggregates.Regrouping
	batch      carbonara.Batch
	result     carbonara.Result
}

// regroup aggregates the aggregates in s.groups anew, by the query's method, and appends those of the groups that
// start in the query's range to s: a mean of means, as Gnocchi does, not what the measures would give.
func (a *api) regroup(ctx context.Context, s *outgoingScratch, query *measuresQuery) error {
	s.aggregates, s.batch.Values = s.groups.Aggregate(query.method, s.aggregates[:0], s.batch.Values[:0])
	if len(s.aggregates) == 0 {
		return nil
	}
	s.groupsOf.Set(s.aggregates, query.resample.group)
	s.batch.Timestamps = s.groupsOf.Times
	s.batch.Series = append(s.batch.Series[:0], carbonara.Series{Plan: s.groupsOf.Plan(query.method), To: len(s.aggregates)})
	if err := a.Resampler.Resample(ctx, &s.batch, &s.result); err != nil {
		return err
	}
	defer s.result.Release()
	kept, from := len(s.starts), query.resample.group(query.from)
	at := kept
	s.starts, s.values = s.result.Groups(0, 0).Aggregate(query.method, s.starts, s.values)
	for i := at; i < len(s.starts); i++ {
		number := s.groupsOf.Number(s.starts[i])
		if start := query.resample.start(number); number >= from && start < query.to {
			s.starts[kept], s.values[kept] = start, s.values[i]
			kept++
		}
	}
	s.starts, s.values = s.starts[:kept], s.values[:kept]
	return nil
}
