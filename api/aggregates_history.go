package api

import (
	"context"
	"errors"

	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// aggregateHistory answers with use_history: a resource counts for a group as long as it was in a state that belongs
// there.
func (a *api) aggregateHistory(ctx context.Context, search *aggregatesSearch, groups []resourceGroup, kind string,
	out *rowWriter) error {
	var states []*model.Resource
	for i := range groups {
		states = append(states, groups[i].resources...)
	}
	spans := query.StateSpans(states, search.read)
	var writes []func(*rowWriter)
	for i := range groups {
		var rows []query.WeightedAggregate
		shown := []resourceJSON{}
		for _, state := range groups[i].resources {
			span, ok := spans[state]
			if !ok {
				continue
			}
			found, err := a.findNamed(search.operation, []*model.Resource{state})
			if errors.Is(err, errNoSuchMetric) {
				continue
			}
			if err != nil {
				return err
			}
			before := len(rows)
			if rows, err = a.reader.EvaluateState(ctx, search.operation, found, search.read, span, rows); err != nil {
				return err
			}
			if len(rows) > before {
				shown = append(shown, showResource(asType(state, kind)))
			}
		}
		if len(rows) == 0 {
			continue
		}
		rows = query.SumStates(rows)
		writes = append(writes, func(out *rowWriter) {
			out.startGroup(groups[i].shown)
			out.startSeries(nil, nil, nil)
			out.Raw(`{"measures": {"aggregated": `)
			out.StartRows()
			for j, row := range rows {
				if j == 0 || row.Granularity != rows[j-1].Granularity {
					out.Label(text.AppendFloat(nil, row.Granularity.Seconds()))
				}
				out.Row(row.Start, row.Value)
				out.Flush()
			}
			out.EndRows()
			out.Raw("}")
			if search.details {
				out.Raw(`, "references": `)
				out.JSON(shown)
			}
			out.Raw("}}")
		})
	}
	if len(writes) == 0 {
		return errNoSuchMetric
	}
	out.warnOfSketches(search.read.OfSketches)
	out.list(writes)
	return nil
}
