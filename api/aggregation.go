package api

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"time"

	"gnocco/api/aggregates"
	"gnocco/carbonara"
	"gnocco/model"
)

// The aggregation API is older than operations, and still used: one aggregation across metrics.

// aggregation is what its parameters ask for.
type aggregation struct {
	aggregatesQuery
	aggregation   string   // of each metric
	reaggregation string   // across the metrics
	resample      grouping // nil: as stored
	refresh       bool
	exact         bool // from moments, not from aggregates
}

// getAggregation aggregates the metrics that the query names, postAggregation those in the body.
func (a *api) getAggregation(w http.ResponseWriter, r *http.Request, who *Identity) error {
	values := r.URL.Query()
	return a.aggregateMetrics(w, r, who, values["metric"], func(text string) error {
		return badRequest("Invalid input: not a valid value: %s", text)
	})
}

func (a *api) postAggregation(w http.ResponseWriter, r *http.Request, who *Identity) error {
	body, err := a.decodeBody(w, r)
	if err != nil {
		return err
	}
	in := input{value: body}
	list, ok := body.([]any)
	if !ok {
		return in.fault("expected a list")
	}
	texts := make([]string, len(list))
	at := map[string]int{}
	for i, item := range list {
		if texts[i], ok = item.(string); !ok {
			return in.at(item, i).fault("not a valid value")
		}
		at[texts[i]] = i
	}
	return a.aggregateMetrics(w, r, who, texts, func(text string) error {
		return in.at(text, at[text]).fault("not a valid value")
	})
}

// refuseNoName answers where the name of the metric is missing.
func refuseNoName(http.ResponseWriter, *http.Request) error {
	return &Error{Status: http.StatusMethodNotAllowed, Detail: "The path has to end with the name of a metric"}
}

// aggregateMetrics answers for metrics by ID; invalid makes the error for what is no ID.
func (a *api) aggregateMetrics(w http.ResponseWriter, r *http.Request, who *Identity, ids []string, invalid func(text string) error) error {
	metrics := make([]*model.Metric, 0, len(ids))
	for _, text := range ids {
		id, err := model.ParseUUID(text)
		if err != nil {
			return invalid(text)
		}
		metric := a.Index.Lookup(id)
		if metric == nil {
			return model.NotFound(model.NounMetric, id.String())
		}
		metrics = append(metrics, metric)
	}
	metrics = uniqueMetrics(metrics)
	query, err := parseAggregation(r.URL.Query(), carbonara.FromTime(a.Now()))
	if err != nil {
		return err
	}
	defer query.memory.release()
	write, err := a.aggregate(r.Context(), who, metrics, &query)
	if err != nil {
		return err
	}
	out := rowWriter{w: w}
	write(&out)
	return out.finish()
}

// aggregate reads the metrics, and returns what writes their aggregation as a list of rows. Parameters are judged only
// where there is a metric, as in Gnocchi.
func (a *api) aggregate(ctx context.Context, who *Identity, metrics []*model.Metric, query *aggregation) (func(*rowWriter), error) {
	if err := a.enforceAll(who, "get metric", metrics); err != nil {
		return nil, err
	}
	if len(metrics) == 0 {
		return func(out *rowWriter) { out.raw("[]") }, nil
	}
	if query.resample != nil && query.granularity == 0 {
		return nil, badRequest("A granularity must be specified to resample")
	}
	found := make([]foundMetric, len(metrics))
	references := make([]aggregates.Reference, len(metrics))
	for i, metric := range metrics {
		found[i] = foundMetric{metric: metric, reference: i, aggregation: query.aggregation}
		references[i] = aggregates.Reference{Name: metric.ID.String(), Aggregation: query.aggregation}
	}
	method, err := checkAggregation(metrics, query)
	if err != nil {
		return nil, err
	}
	if query.refresh {
		if err := a.refresh(ctx, metrics); err != nil {
			return nil, err
		}
	}
	if len(metrics) == 1 {
		return a.aggregateOne(ctx, metrics[0], method, query)
	}
	var by aggregates.Grouping
	var label []byte
	if query.resample != nil {
		by, label = resampleGrouping{query.resample}, query.resample.label()
	}
	operation, err := aggregates.Reaggregate(references, query.reaggregation, method, by)
	if err != nil {
		var invalid *aggregates.InvalidError
		if errors.As(err, &invalid) {
			return nil, badArgument("reaggregation", invalid.Reason)
		}
		return nil, err
	}
	if query.exact {
		if operation, err = operation.Exact(); err != nil {
			return nil, inexact(err)
		}
	}
	results, err := a.evaluate(ctx, operation, found, &query.aggregatesQuery)
	if err != nil {
		return nil, err
	}
	return func(out *rowWriter) { out.aggregated(results, label) }, nil
}

// checkAggregation tells whether all metrics have the granularity and the method. How it says so depends on their number,
// as in Gnocchi.
func checkAggregation(metrics []*model.Metric, query *aggregation) (carbonara.Method, error) {
	missing := func(metric *model.Metric, granularity time.Duration) error {
		return notFound("Aggregation method '%s' at granularity '%s' for metric %s does not exist",
			query.aggregation, appendFloat(nil, granularity.Seconds()), metric.ID)
	}
	for _, metric := range metrics {
		if query.granularity != 0 && !metric.ArchivePolicy.HasGranularity(query.granularity) {
			return 0, missing(metric, query.granularity)
		}
	}
	method, err := carbonara.ParseMethod(query.aggregation)
	for _, metric := range metrics {
		switch {
		case err == nil && metric.ArchivePolicy.HasMethod(method):
		case len(metrics) == 1:
			return 0, noMethod(metric, query.aggregation)
		default:
			return 0, missing(metric, metric.ArchivePolicy.Granularities()[0])
		}
	}
	return method, nil
}

// aggregateOne shows the aggregates of the only metric as they are, without reaggregation.
func (a *api) aggregateOne(ctx context.Context, metric *model.Metric, method carbonara.Method, query *aggregation) (func(*rowWriter), error) {
	granularities, err := commonGranularities([]foundMetric{{metric: metric, aggregation: query.aggregation}}, query.granularity)
	if err != nil {
		return nil, err
	}
	s := new(outgoingScratch)
	measures := measuresQuery{from: query.from, to: query.to, method: method, granularities: granularities, resample: query.resample,
		exact: query.exact && query.resample != nil}
	for _, granularity := range granularities {
		if err := a.fetch(ctx, s, metric, granularity, &measures); err != nil {
			return nil, err
		}
		s.ends = append(s.ends, len(s.starts))
	}
	return func(out *rowWriter) {
		out.raw("[")
		row := 0
		var text rowText
		for i, end := range s.ends {
			text.label(label(&measures, granularities[i]))
			for ; row < end; row++ {
				out.body = text.append(out.body, s.starts[row], s.values[row])
				out.flush(flushSize)
			}
		}
		out.raw("]")
	}, nil
}

// resampleGrouping shows a grouping to package aggregates.
type resampleGrouping struct{ grouping }

// Group implements aggregates.Grouping.
func (g resampleGrouping) Group(t carbonara.Timestamp) int64 { return g.group(t) }

// Start implements aggregates.Grouping.
func (g resampleGrouping) Start(group int64) carbonara.Timestamp { return g.start(group) }

func parseAggregation(values url.Values, now carbonara.Timestamp) (aggregation, error) {
	query := aggregation{aggregation: "mean"}
	var err error
	if query.aggregatesQuery, err = parseAggregatesQuery(values, now); err != nil {
		return query, err
	}
	if values.Has("aggregation") {
		query.aggregation = values.Get("aggregation")
	}
	query.reaggregation = query.aggregation
	if values.Has("reaggregation") {
		query.reaggregation = values.Get("reaggregation")
	}
	if query.resample, err = parseGrouping(values); err != nil {
		return query, err
	}
	if query.exact, err = parseBool(values, "exact", false); err != nil {
		return query, err
	}
	query.refresh, err = parseBool(values, "refresh", false)
	return query, err
}
