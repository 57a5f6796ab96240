package api

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"gnocco/carbonara"
	"gnocco/model"
)

// With use_history, a resource counts for a group only as long as it was in a state that belongs there. Aggregates of a
// period that a state covers in part count for that part of their value.

// stateSpan is the time in which a state of a resource counts.
type stateSpan struct {
	state    *model.Resource
	from, to *carbonara.Timestamp // nil: unbounded
}

// weighted is what the states of a group come to in one period.
type weighted struct {
	granularity time.Duration
	start       carbonara.Timestamp
	value       float64
}

// aggregateHistory evaluates the operation state by state and adds up what falls into the same group and period.
func (a *api) aggregateHistory(ctx context.Context, search *aggregatesSearch, groups []resourceGroup, kind string, out *rowWriter) error {
	spans := spansOf(groups, &search.query)
	var writes []func(*rowWriter)
	for i := range groups {
		var rows []weighted
		shown := []resourceJSON{}
		for _, state := range groups[i].resources {
			span, ok := spans[state]
			if !ok {
				continue
			}
			before := len(rows)
			var err error
			if rows, err = a.aggregateState(ctx, search, span, rows); err != nil && !errors.Is(err, errNoSuchMetric) {
				return err
			}
			if len(rows) > before {
				shown = append(shown, showResource(asType(state, kind)))
			}
		}
		if len(rows) == 0 {
			continue
		}
		rows = addUp(rows)
		writes = append(writes, func(out *rowWriter) {
			out.raw(fmt.Sprintf(`{"group": %s, "measures": {"measures": {"aggregated": [`, groups[i].shown))
			var text rowText
			for j, row := range rows {
				if j == 0 || row.granularity != rows[j-1].granularity {
					text.label(appendFloat(nil, row.granularity.Seconds()))
				}
				out.body = text.append(out.body, row.start, row.value)
				out.flush(flushSize)
			}
			out.raw("]}")
			if search.details {
				out.raw(`, "references": `)
				out.json(shown)
			}
			out.raw("}}")
		})
	}
	if len(writes) == 0 {
		return errNoSuchMetric
	}
	out.list(writes)
	return nil
}

// spansOf finds out when each state counts. States that lie outside of the request's time are left out. A resource's first state reaches back to the request's start: what was measured before the resource was made
// known is its own.
func spansOf(groups []resourceGroup, query *aggregatesQuery) map[*model.Resource]stateSpan {
	var states []*model.Resource
	bounded := query.options.HasFrom && query.options.HasTo
	for i := range groups {
		for _, state := range groups[i].resources {
			if !bounded || state.RevisionStart < query.to && (state.RevisionEnd == nil || *state.RevisionEnd >= query.from) {
				states = append(states, state)
			}
		}
	}
	slices.SortFunc(states, func(a, b *model.Resource) int {
		return cmp.Or(slices.Compare(a.ID[:], b.ID[:]), cmp.Compare(a.RevisionStart, b.RevisionStart))
	})
	spans := make(map[*model.Resource]stateSpan, len(states))
	for i, state := range states {
		span := stateSpan{state: state, to: state.RevisionEnd}
		switch first := i == 0 || states[i-1].ID != state.ID; {
		case first && query.options.HasFrom:
			span.from = &query.from
		case !first:
			from := state.RevisionStart
			if query.options.HasFrom {
				from = max(from, query.from)
			}
			span.from = &from
		}
		if query.options.HasTo {
			to := query.to
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

// aggregateState appends what the operation gives for one state.
func (a *api) aggregateState(ctx context.Context, search *aggregatesSearch, span stateSpan, rows []weighted) ([]weighted, error) {
	found, err := a.findNamed(search.operation, []*model.Resource{span.state})
	if err != nil {
		return rows, err
	}
	query := search.query
	query.from, query.to = 0, carbonara.MaxTimestamp
	if query.options.HasFrom = span.from != nil; query.options.HasFrom {
		query.from = *span.from
	}
	if query.options.HasTo = span.to != nil; query.options.HasTo {
		query.to = *span.to
	}
	results, err := a.evaluate(ctx, search.operation, found, &query)
	if err != nil {
		return rows, err
	}
	var values []float64
	for _, result := range results {
		if !result.Aggregated {
			return rows, badArgument("use_history", "The operations have to aggregate across metrics")
		}
		if result.Columns() == 0 {
			continue
		}
		if values, err = result.Column(0, values); err != nil {
			return rows, err
		}
		for i, v := range values {
			if result.Shows(v) {
				start := result.Times[i]
				rows = append(rows, weighted{result.Granularity, start, v * span.share(start, result.Granularity)})
			}
		}
	}
	return rows, nil
}

// share is how much of a period the state covers.
func (s *stateSpan) share(start carbonara.Timestamp, granularity time.Duration) float64 {
	from, to := start, start.Add(granularity)
	if s.from != nil {
		from = max(from, *s.from)
	}
	if s.to != nil {
		to = min(to, *s.to)
	}
	return float64(to-from) / float64(granularity)
}

// addUp sorts rows, coarsest granularity first, and adds those of the same period.
func addUp(rows []weighted) []weighted {
	slices.SortStableFunc(rows, func(a, b weighted) int {
		return cmp.Or(cmp.Compare(b.granularity, a.granularity), cmp.Compare(a.start, b.start))
	})
	kept := rows[:0]
	for _, row := range rows {
		if last := len(kept) - 1; last >= 0 && kept[last].granularity == row.granularity && kept[last].start == row.start {
			kept[last].value += row.value
			continue
		}
		kept = append(kept, row)
	}
	return kept
}
