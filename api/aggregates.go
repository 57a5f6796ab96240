package api

import (
	"cmp"
	"encoding/json"
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/model/filter"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// postAggregates answers what operations on the aggregates of metrics come to.
func (a *api) postAggregates(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	values := r.URL.Query()
	var useHistory, details, exact bool
	if err := cmp.Or(query.ParseBool(values, "use_history", &useHistory), query.ParseBool(values, "details", &details),
		query.ParseBool(values, "exact", &exact)); err != nil {
		return err
	}
	if exact && useHistory {
		return web.BadArgument("exact", "Does not go with use_history, which weighs aggregates")
	}
	read, err := a.parseRead(r)
	if err != nil {
		return err
	}
	defer read.Values.Release()
	if !values.Has("fill") && !values.Has("needed_overlap") {
		read.Options.Fill = aggregates.DropNA
	}
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	text := "a body of more than 4 KiB"
	if r.ContentLength >= 0 && r.ContentLength <= 4<<10 {
		if compact, err := json.Marshal(body); err == nil {
			text = string(compact)
		}
	}
	web.NoteQuery(r.Context(), text, func() string { return r.URL.RawQuery + " " + text })
	keys := []string{"operations*"}
	if object, ok := body.(map[string]any); ok && (object["resource_type"] != nil || object["search"] != nil) {
		keys = append(keys, "resource_type*", "search*")
	}
	fields, err := web.Node{Value: body}.Fields(keys...)
	if err != nil {
		return err
	}
	operation, err := parseOperations(fields["operations"], exact)
	if err != nil {
		return err
	}
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		read.Restart()
		if len(keys) > 1 {
			search := aggregatesSearch{
				who: who, read: read, operation: operation, details: details, useHistory: useHistory,
				groupBy: parseGroupBy(values),
			}
			return a.aggregateResources(w, r, &search, fields)
		}
		return a.aggregateReferences(w, r, who, operation, read, details)
	})
}

// aggregateReferences answers for the metrics whose IDs the operation names.
func (a *api) aggregateReferences(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	operation *aggregates.Operation, read *query.Read, details bool) error {
	metrics, found, err := a.findReferences(who, operation)
	if err != nil {
		return err
	}
	references := []detailedMetric{}
	for _, metric := range metrics {
		if !details {
			break
		}
		shown, err := a.detailMetric(metric)
		if err != nil {
			return err
		}
		references = append(references, shown)
	}
	results, err := a.reader.Evaluate(r.Context(), operation, found, read)
	if err != nil {
		return err
	}
	out := newRowWriter(w, r, seriesColumns...)
	out.warnOfSketches(read.OfSketches)
	out.Raw(`{"measures": `)
	out.results(found, results)
	if details {
		out.Raw(`, "references": `)
		out.JSON(references)
	}
	out.Raw("}")
	return out.Finish()
}

// parseOperations reads operations, whose faults Gnocchi's clients know by these words.
func parseOperations(in web.Node, exact bool) (*aggregates.Operation, error) {
	parse := aggregates.Parse
	if exact {
		parse = aggregates.ParseExact
	}
	operation, err := parse(in.Value)
	var syntax *aggregates.SyntaxError
	var invalid *aggregates.InvalidError
	switch {
	case errors.As(err, &syntax):
		return nil, web.BadCause("Invalid operations", "Fail to parse the operations string", syntax.Reason)
	case errors.Is(err, aggregates.ErrNoMetric):
		return nil, web.BadCause("Operations is invalid", aggregates.ErrNoMetric.Reason, in.Value)
	case errors.As(err, &invalid):
		fault := in.Fault("%s", invalid.Reason)
		if cause, ok := fault.Detail.(web.Cause); ok && invalid.Detail != "" {
			cause.Reason += ": " + invalid.Detail
			fault.Detail = cause
		}
		return nil, fault
	}
	return operation, err
}

// findReferences looks up the metrics whose IDs the operation names; metrics has each once, in the order of their IDs.
func (a *api) findReferences(who *auth.Identity, operation *aggregates.Operation) (
	metrics []*model.Metric, found []query.Operand, err error) {
	ids := make([]uuid.UUID, len(operation.References))
	for i, reference := range operation.References {
		if ids[i], err = model.ParseUUID(reference.Name); err != nil {
			return nil, nil, web.BadCause("Invalid metric references", "badly formed hexadecimal UUID string",
				pairs(operation.References))
		}
	}
	if metrics, err = a.MetricsByID(who, ids); err != nil {
		return nil, nil, err
	}
	for i, metric := range metrics {
		found = append(found, query.Operand{Metric: metric, Reference: i,
			Aggregation: operation.References[i].Aggregation})
	}
	return model.UniqueMetrics(metrics), found, nil
}

// pairs shows references as Gnocchi does.
func pairs(references []aggregates.Reference) [][2]string {
	shown := make([][2]string, len(references))
	for i, r := range references {
		shown[i] = [2]string{r.Name, r.Aggregation}
	}
	return shown
}

// parseRead reads the parameters that all ways to aggregate across metrics have. The caller releases the Values.
func (a *api) parseRead(r *http.Request) (*query.Read, error) {
	read, err := query.ParseRead(r.URL.Query(), carbonara.FromTime(a.Now()))
	if err != nil {
		return nil, err
	}
	read.Staleness = web.StalenessOf(r.Context())
	read.Rows, read.Values = query.NewRows(a.Limits.Rows), new(query.Arena)
	return read, nil
}

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
