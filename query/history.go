package query

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// A state of a resource counts for a group only as long as the resource was in it. Aggregates of a period that a state
// covers in part count for that part of their value.

// StateSpan is the time in which a state of a resource counts.
type StateSpan struct {
	from, to *carbonara.Timestamp // nil: unbounded
}

// StateSpans returns when each state counts, without the states that lie outside of the read's time. It sorts states.
// The first state of a resource reaches back to the read's start: measures from before its creation belong to it.
func StateSpans(states []*model.Resource, read *Read) map[*model.Resource]StateSpan {
	bounded := read.Options.HasFrom && read.Options.HasTo
	states = slices.DeleteFunc(states, func(state *model.Resource) bool {
		return bounded && (state.RevisionStart >= read.To || state.RevisionEnd != nil && *state.RevisionEnd < read.From)
	})
	slices.SortFunc(states, func(a, b *model.Resource) int {
		return cmp.Or(slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.RevisionStart, b.RevisionStart))
	})
	spans := make(map[*model.Resource]StateSpan, len(states))
	for i, state := range states {
		span := StateSpan{to: state.RevisionEnd}
		switch first := i == 0 || states[i-1].ID != state.ID; {
		case first && read.Options.HasFrom:
			span.from = &read.From
		case !first:
			from := state.RevisionStart
			if read.Options.HasFrom {
				from = max(from, read.From)
			}
			span.from = &from
		}
		if read.Options.HasTo {
			to := read.To
			if span.to != nil {
				to = min(to, *span.to)
			}
			span.to = &to
		}
		if span.from == nil || span.to == nil || *span.from < *span.to {
			spans[state] = span
		}
	}
	return spans
}

// limit returns read with the span's time.
func (s StateSpan) limit(read *Read) *Read {
	limited := *read
	limited.From, limited.To = 0, carbonara.MaxTimestamp
	if limited.Options.HasFrom = s.from != nil; limited.Options.HasFrom {
		limited.From = *s.from
	}
	if limited.Options.HasTo = s.to != nil; limited.Options.HasTo {
		limited.To = *s.to
	}
	return &limited
}

// share is how much of a period the state covers.
func (s StateSpan) share(start carbonara.Timestamp, granularity time.Duration) float64 {
	from, to := start, start.Add(granularity)
	if s.from != nil {
		from = max(from, *s.from)
	}
	if s.to != nil {
		to = min(to, *s.to)
	}
	return float64(to-from) / float64(granularity)
}

// WeightedAggregate is the sum of an aggregate over the states of a group, each with its share of the period as weight.
type WeightedAggregate struct {
	Granularity time.Duration
	Start       carbonara.Timestamp
	Value       float64
}

// EvaluateState appends to dst what Evaluate gives for the operands of one state, weighted.
func (r *Reader) EvaluateState(ctx context.Context, operation *aggregates.Operation, operands []Operand, read *Read,
	span StateSpan, dst []WeightedAggregate) ([]WeightedAggregate, error) {
	part := span.limit(read)
	results, err := r.Evaluate(ctx, operation, operands, part)
	if err != nil {
		return dst, err
	}
	read.OfSketches = part.OfSketches
	var values []float64
	for _, result := range results {
		if !result.Aggregated {
			return dst, &ArgumentError{"use_history", "The operations have to aggregate across metrics"}
		}
		if result.Columns() == 0 {
			continue
		}
		if values, err = result.Column(0, values); err != nil {
			return dst, err
		}
		for i, v := range values {
			if result.Shows(v) {
				start := result.Times[i]
				dst = append(dst, WeightedAggregate{result.Granularity, start,
					v * span.share(start, result.Granularity)})
			}
		}
	}
	return dst, nil
}

// SumStates sorts the aggregates of several states, coarsest granularity first, and adds those of the same period. It
// reuses their memory.
func SumStates(all []WeightedAggregate) []WeightedAggregate {
	slices.SortStableFunc(all, func(a, b WeightedAggregate) int {
		return cmp.Or(cmp.Compare(b.Granularity, a.Granularity), cmp.Compare(a.Start, b.Start))
	})
	sums := all[:0]
	for _, one := range all {
		if last := len(sums) - 1; last >= 0 && sums[last].Granularity == one.Granularity &&
			sums[last].Start == one.Start {
			sums[last].Value += one.Value
			continue
		}
		sums = append(sums, one)
	}
	return sums
}
