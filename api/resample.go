package api

import (
	"context"
	"time"

	"gnocco/carbonara"
)

// regrouping is the memory that resample= needs.
type regrouping struct {
	aggregates []carbonara.Timestamp
	numbers    []int64 // of the groups that hold any aggregate, ascending
	batch      carbonara.Batch
	result     carbonara.Result
}

// groupWidth is the width of a group in the resampler's time, see regroup: more aggregates than fit into memory.
const groupWidth = time.Duration(1) << 32

// regroup aggregates the aggregates in s.groups anew, by the query's method, and appends those of the groups that
// start in the query's range to s: a mean of means, as Gnocchi does, not what the measures would give.
//
// The resampler knows groups of equal width only, so it gets a time of its own, in which aggregate i of the n-th
// group that holds any stands at n * groupWidth + i: that serves calendars, too.
func (a *api) regroup(ctx context.Context, s *outgoingScratch, query *measuresQuery) error {
	s.aggregates, s.batch.Values = s.groups.Aggregate(query.method, s.aggregates[:0], s.batch.Values[:0])
	if len(s.aggregates) == 0 {
		return nil
	}
	s.numbers, s.batch.Timestamps = s.numbers[:0], s.batch.Timestamps[:0]
	for i, t := range s.aggregates {
		number := query.resample.group(t)
		if n := len(s.numbers); n == 0 || s.numbers[n-1] != number {
			s.numbers = append(s.numbers, number)
		}
		group := carbonara.Timestamp(len(s.numbers) - 1)
		s.batch.Timestamps = append(s.batch.Timestamps, group*carbonara.Timestamp(groupWidth)+carbonara.Timestamp(i))
	}
	plan := carbonara.NewPlan([]time.Duration{groupWidth}, []carbonara.Method{query.method})
	s.batch.Series = append(s.batch.Series[:0], carbonara.Series{Plan: plan, To: len(s.aggregates)})
	if err := a.resampler.Resample(ctx, &s.batch, &s.result); err != nil {
		return err
	}
	kept, from := len(s.starts), query.resample.group(query.from)
	at := kept
	s.starts, s.values = s.result.Groups(0, 0).Aggregate(query.method, s.starts, s.values)
	for i := at; i < len(s.starts); i++ {
		number := s.numbers[int64(s.starts[i])/int64(groupWidth)]
		if start := query.resample.start(number); number >= from && start < query.to {
			s.starts[kept], s.values[kept] = start, s.values[i]
			kept++
		}
	}
	s.starts, s.values = s.starts[:kept], s.values[:kept]
	return nil
}
