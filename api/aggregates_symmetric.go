package api

import (
	"net/http"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/query"
)

// symmetric reports whether the answer shows nothing of the resources, and needs them in no order.
func (s *aggregatesSearch) symmetric() bool {
	return len(s.groupBy) == 0 && !s.details && s.operation.Symmetric() && !isPattern(s.operation.References[0].Name)
}

// aggregateSymmetric is aggregateResources for a search that is symmetric: it reads their metrics alone.
func (a *api) aggregateSymmetric(w http.ResponseWriter, r *http.Request, search *aggregatesSearch,
	kind *model.ResourceType, expr *filter.Expr) error {
	reference := search.operation.References[0]
	q, err := a.SearchQuery(search.who, expr, a.FilterScope(kind, search.who, false), search.names())
	if err != nil {
		return err
	}
	metrics, err := a.Index.FindNamedMetrics(r.Context(), q)
	if err != nil {
		return err
	}
	found := make([]query.Operand, 0, len(metrics))
	for _, m := range metrics {
		if metric := a.Index.Lookup(m.ID); metric != nil { // else deleted meanwhile
			found = append(found, query.Operand{Metric: metric, Aggregation: reference.Aggregation,
				Pattern: reference.Name})
		}
	}
	if len(found) == 0 {
		return noSuchMetric(search.operation)
	}
	out := newRowWriter(w, r, seriesColumns...)
	if err := a.aggregateOperands(r.Context(), search, found, kind.Name, out); err != nil {
		return err
	}
	return out.Finish()
}
