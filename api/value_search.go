package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// valueSearch is a search for aggregates by their values.
type valueSearch struct {
	from, to      carbonara.Timestamp
	name          string           // of the method
	method        carbonara.Method // invalid if no method has this name
	granularities []time.Duration  // coarsest first; nil: those of each metric's archive policy
	predicate     valuePredicate
	sought        *carbonara.Sought // what the predicate is after; nil for everything
}

// searchValues answers the aggregates of some metrics whose values a predicate holds for. Metrics that do not exist are left out.
func (a *api) searchValues(w http.ResponseWriter, r *http.Request, who *Identity) error {
	values := r.URL.Query()
	metrics, err := a.metricsToSearch(values["metric_id"], who)
	if err != nil {
		return err
	}
	if !hasBody(r) {
		return badRequest("No query specified in body")
	}
	body, err := a.decodeBody(w, r)
	if err != nil {
		return err
	}
	search, err := parseValueSearch(values, carbonara.FromTime(a.Now()))
	if err != nil {
		return err
	}
	if search.predicate, err = (input{value: body}).valuePredicate(); err != nil {
		return err
	}
	search.sought = search.predicate.sought(search.method)
	s := a.outgoing.get()
	defer func() { a.outgoing.put(s, cap(s.body)+16*cap(s.values)) }()
	s.body = append(s.body[:0], '{')
	for i, metric := range metrics {
		if i > 0 {
			s.body = append(s.body, ", "...)
		}
		s.body = append(s.body, '"')
		s.body = append(s.body, metric.ID.String()...)
		s.body = append(s.body, `": [`...)
		if err := a.searchMetric(r.Context(), s, metric, search); err != nil {
			return err
		}
		s.body = append(s.body, ']')
	}
	s.body = append(s.body, '}')
	w.Header()["Content-Type"] = jsonContentType
	writeBody(w, http.StatusOK, s.body)
	return nil
}

// metricsToSearch returns the metrics that exist of those named, each once, all of which the user may search.
func (a *api) metricsToSearch(named []string, who *Identity) ([]*model.Metric, error) {
	if len(named) == 0 {
		return nil, badArgument("metric_id", "Must be given")
	}
	var metrics []*model.Metric
	seen := map[uuid.UUID]bool{}
	for _, text := range named {
		id, err := model.ParseUUID(text)
		if err != nil {
			return nil, badArgument("metric_id", "Must be a UUID")
		}
		if metric := a.Index.Lookup(id); metric != nil && !seen[id] {
			seen[id] = true
			metrics = append(metrics, metric)
		}
	}
	if err := a.enforceAll(who, "search metric", metrics); err != nil {
		return nil, err
	}
	return metrics, nil
}

func parseValueSearch(values url.Values, now carbonara.Timestamp) (*valueSearch, error) {
	search := &valueSearch{to: carbonara.MaxTimestamp, name: "mean"}
	if values.Has("aggregation") {
		search.name = values.Get("aggregation")
	}
	search.method, _ = carbonara.ParseMethod(search.name)
	for name, t := range map[string]*carbonara.Timestamp{"start": &search.from, "stop": &search.to} {
		if parseInstant(values, name, now, t) != nil {
			return nil, badRequest("Invalid value for %s", name)
		}
	}
	for _, text := range values["granularity"] {
		granularity, err := model.ParseTimespan(text)
		if err != nil {
			return nil, badArgument("granularity", err.Error())
		}
		search.granularities = append(search.granularities, granularity)
	}
	slices.Sort(search.granularities)
	search.granularities = slices.Compact(search.granularities)
	slices.Reverse(search.granularities)
	return search, nil
}

// searchMetric appends the rows of one metric to s.body.
func (a *api) searchMetric(ctx context.Context, s *outgoingScratch, metric *model.Metric, search *valueSearch) error {
	granularities := search.granularities
	if granularities == nil {
		granularities = slices.Clone(metric.ArchivePolicy.Granularities())
		slices.Reverse(granularities)
	}
	for _, granularity := range granularities {
		if !metric.ArchivePolicy.HasMethod(search.method) || !metric.ArchivePolicy.HasGranularity(granularity) {
			return noAggregation(search.name, granularity)
		}
	}
	var rows rowText
	for _, granularity := range granularities {
		read := readOf(metric, granularity, search.method, search.from, search.to)
		read.Sought = search.sought
		if err := a.Archives.Groups(ctx, read, &s.groups); err != nil {
			return err
		}
		s.starts, s.values = s.groups.Aggregate(search.method, s.starts[:0], s.values[:0])
		rows.label(appendFloat(nil, granularity.Seconds()))
		for i, value := range s.values {
			if search.predicate.holds(value) {
				s.body = rows.append(s.body, s.starts[i], value)
			}
		}
	}
	return nil
}

// noAggregation is about an aggregation that a metric's archive policy does not have.
func noAggregation(method string, granularity time.Duration) *Error {
	return &Error{Status: http.StatusBadRequest, Detail: Cause{
		Cause: "Aggregation does not exist",
		Detail: struct {
			Granularity seconds `json:"granularity"`
			Method      string  `json:"aggregation_method"`
		}{seconds(granularity.Seconds()), method},
	}}
}
