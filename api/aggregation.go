package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// The aggregation API is older than operations, and still used: one aggregation across metrics.

// aggregation is what its parameters ask for.
type aggregation struct {
	query.Read
	aggregation   string         // of each metric
	reaggregation string         // across the metrics
	resample      query.Grouping // nil: as stored
	refresh       bool
	exact         bool // from moments, not from aggregates
}

// getAggregation aggregates the metrics that the query names, postAggregation those in the body.
func (a *api) getAggregation(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	values := r.URL.Query()
	return a.aggregateMetrics(w, r, who, values["metric"], func(text string) error {
		return web.BadRequest("Invalid input: not a valid value: %s", text)
	})
}

func (a *api) postAggregation(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	in := web.Node{Value: body}
	list, ok := body.([]any)
	if !ok {
		return in.Fault("expected a list")
	}
	texts := make([]string, len(list))
	at := map[string]int{}
	for i, item := range list {
		if texts[i], ok = item.(string); !ok {
			return in.At(item, i).Fault("not a valid value")
		}
		at[texts[i]] = i
	}
	return a.aggregateMetrics(w, r, who, texts, func(text string) error {
		return in.At(text, at[text]).Fault("not a valid value")
	})
}

// refuseNoName answers where the name of the metric is missing.
func refuseNoName(http.ResponseWriter, *http.Request) error {
	return &web.Error{Status: http.StatusMethodNotAllowed, Detail: "The path has to end with the name of a metric"}
}

// aggregateMetrics answers for metrics by ID; invalid makes the error for a text that is no ID.
func (a *api) aggregateMetrics(w http.ResponseWriter, r *http.Request, who *auth.Identity, ids []string,
	invalid func(text string) error) error {
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
	metrics = model.UniqueMetrics(metrics)
	read, err := a.parseAggregation(r)
	if err != nil {
		return err
	}
	defer read.Values.Release()
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		read.Restart()
		write, err := a.aggregate(r.Context(), who, metrics, read)
		if err != nil {
			return err
		}
		out := newRowWriter(w, r)
		write(out)
		return out.Finish()
	})
}

// aggregate reads the metrics, and returns what writes their aggregation as a list of rows. Parameters are judged only
// where there is a metric, as in Gnocchi.
func (a *api) aggregate(ctx context.Context, who *auth.Identity, metrics []*model.Metric,
	read *aggregation) (func(*rowWriter), error) {
	if err := a.EnforceMetrics(who, "get metric", metrics); err != nil {
		return nil, err
	}
	if len(metrics) == 0 {
		return func(out *rowWriter) { out.Raw("[]") }, nil
	}
	if read.resample != nil && read.Granularity == 0 {
		return nil, query.ErrNoGranularity
	}
	found := make([]query.Operand, len(metrics))
	references := make([]aggregates.Reference, len(metrics))
	for i, metric := range metrics {
		found[i] = query.Operand{Metric: metric, Reference: i, Aggregation: read.aggregation}
		references[i] = aggregates.Reference{Name: metric.ID.String(), Aggregation: read.aggregation}
	}
	method, err := checkAggregation(metrics, read)
	if err != nil {
		return nil, err
	}
	if read.refresh {
		if err := a.reader.Refresh(ctx, metrics...); err != nil {
			return nil, err
		}
	}
	if len(metrics) == 1 {
		return a.aggregateOne(ctx, metrics[0], method, read)
	}
	var by aggregates.Grouping
	var label []byte
	if read.resample != nil {
		by, label = read.resample, groupingLabel(read.resample)
	}
	operation, err := aggregates.Reaggregate(references, read.reaggregation, method, by)
	if err != nil {
		if invalid, ok := errors.AsType[*aggregates.InvalidError](err); ok {
			return nil, web.BadArgument("reaggregation", invalid.Reason)
		}
		return nil, err
	}
	if read.exact {
		if operation, err = operation.Exact(); err != nil {
			return nil, query.Inexact(err)
		}
	}
	results, err := a.reader.Evaluate(ctx, operation, found, &read.Read)
	if err != nil {
		return nil, err
	}
	return func(out *rowWriter) {
		out.warnOfSketches(read.OfSketches)
		out.aggregated(results, label)
	}, nil
}

// checkAggregation returns the method, or an error if a metric lacks it or the granularity. The error's words depend on
// the number of metrics, as in Gnocchi.
func checkAggregation(metrics []*model.Metric, read *aggregation) (carbonara.Method, error) {
	missing := func(metric *model.Metric, granularity time.Duration) error {
		return &query.AbsentAggregationError{Metric: metric.ID, Aggregation: read.aggregation, Granularity: granularity}
	}
	for _, metric := range metrics {
		if read.Granularity != 0 && !metric.ArchivePolicy.HasGranularity(read.Granularity) {
			return 0, missing(metric, read.Granularity)
		}
	}
	method, err := carbonara.ParseMethod(read.aggregation)
	for _, metric := range metrics {
		switch {
		case err == nil && metric.ArchivePolicy.Answers(method):
		case len(metrics) == 1:
			return 0, missing(metric, 0)
		default:
			return 0, missing(metric, metric.ArchivePolicy.Granularities()[0])
		}
	}
	return method, nil
}

// aggregateOne shows the aggregates of the only metric as they are, without reaggregation.
func (a *api) aggregateOne(ctx context.Context, metric *model.Metric, method carbonara.Method,
	read *aggregation) (func(*rowWriter), error) {
	granularities, err := query.CommonGranularities([]query.Operand{{Metric: metric, Aggregation: read.aggregation}},
		read.Granularity)
	if err != nil {
		return nil, err
	}
	s := new(query.Aggregates)
	one := query.MetricRead{Metric: metric, Method: method, From: read.From, To: read.To, Granularities: granularities,
		Resample: read.resample, Exact: read.exact && read.resample != nil, Staleness: read.Staleness, Rows: read.Rows}
	if err := a.reader.Aggregates(ctx, &one, s); err != nil {
		return nil, err
	}
	return func(out *rowWriter) {
		out.warnOfSketches(one.OfSketches())
		writeAggregates(&out.Writer, s, &one)
	}, nil
}

// parseAggregation reads the parameters. The caller releases the Values.
func (a *api) parseAggregation(r *http.Request) (*aggregation, error) {
	common, err := a.parseRead(r)
	if err != nil {
		return nil, err
	}
	values := r.URL.Query()
	read := &aggregation{Read: *common, aggregation: "mean"}
	if values.Has("aggregation") {
		read.aggregation = values.Get("aggregation")
	}
	read.reaggregation = read.aggregation
	if values.Has("reaggregation") {
		read.reaggregation = values.Get("reaggregation")
	}
	if read.resample, err = query.ParseGrouping(values.Get("resample"), values.Get("tz")); err != nil {
		return nil, err
	}
	return read, cmp.Or(query.ParseBool(values, "exact", &read.exact), query.ParseBool(values, "refresh", &read.refresh))
}
