package api

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/text"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/budget"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// valueSearch is a search for aggregates by their values.
type valueSearch struct {
	query.MetricRead        // Granularities nil: all of each metric's archive policy; Method 0: no method has this name
	name             string // of the method
}

// searchValues answers the aggregates of some metrics whose values a predicate holds for. Metrics that do not exist are
// left out.
func (a *api) searchValues(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	values := r.URL.Query()
	metrics, err := a.metricsToSearch(values["metric_id"], who)
	if err != nil {
		return err
	}
	if !web.HasBody(r) {
		return web.BadRequest("No query specified in body")
	}
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	search, err := parseValueSearch(values, carbonara.FromTime(a.Now()))
	if err != nil {
		return err
	}
	predicate, err := query.ParsePredicate(body)
	if err != nil {
		return err
	}
	if err := a.CheckTerms(predicate.Terms()); err != nil {
		return err
	}
	search.Where, search.Staleness = &predicate, web.StalenessOf(r.Context())
	return a.Evaluate(w, r, who, func(w http.ResponseWriter) error {
		search.Rows = query.NewRows(a.Limits.Rows)
		return a.answerValueSearch(w, r, metrics, search)
	})
}

// answerValueSearch answers the rows of all metrics.
func (a *api) answerValueSearch(w http.ResponseWriter, r *http.Request, metrics []*model.Metric,
	search *valueSearch) error {
	s := a.outgoing.Get()
	defer func() { a.outgoing.Put(s, s.bytes()) }()
	out := text.NewWriter(w, s.body)
	out.Raw("{")
	for i, metric := range metrics {
		if i > 0 {
			out.Raw(", ")
		}
		out.Raw(`"` + metric.ID.String() + `": `)
		out.StartRows()
		if err := a.searchMetric(r.Context(), s, metric, search, &out); err != nil {
			return err
		}
		out.EndRows()
	}
	out.Raw("}")
	s.body = out.Buffer()
	return out.Finish()
}

// metricsToSearch returns the metrics that exist of those named, each once, all of which the user may search.
func (a *api) metricsToSearch(named []string, who *auth.Identity) ([]*model.Metric, error) {
	if len(named) == 0 {
		return nil, web.BadArgument("metric_id", "Must be given")
	}
	var metrics []*model.Metric
	seen := map[uuid.UUID]bool{}
	for _, text := range named {
		id, err := model.ParseUUID(text)
		if err != nil {
			return nil, web.BadArgument("metric_id", "Must be a UUID")
		}
		if metric := a.Index.Lookup(id); metric != nil && !seen[id] {
			seen[id] = true
			metrics = append(metrics, metric)
		}
	}
	if err := a.EnforceMetrics(who, "search metric", metrics); err != nil {
		return nil, err
	}
	return metrics, nil
}

func parseValueSearch(values url.Values, now carbonara.Timestamp) (*valueSearch, error) {
	search := &valueSearch{MetricRead: query.MetricRead{To: carbonara.MaxTimestamp}, name: "mean"}
	if values.Has("aggregation") {
		search.name = values.Get("aggregation")
	}
	search.Method, _ = carbonara.ParseMethod(search.name)
	for name, t := range map[string]*carbonara.Timestamp{"start": &search.From, "stop": &search.To} {
		if query.ParseInstant(values, name, now, t) != nil {
			return nil, web.BadRequest("Invalid value for %s", name)
		}
	}
	for _, text := range values["granularity"] {
		granularity, err := model.ParseTimespan(text)
		if err != nil {
			return nil, web.BadArgument("granularity", err.Error())
		}
		search.Granularities = append(search.Granularities, granularity)
	}
	slices.Sort(search.Granularities)
	search.Granularities = slices.Compact(search.Granularities)
	slices.Reverse(search.Granularities)
	return search, nil
}

// rowBytes is what a row takes that waits for others.
const rowBytes = 64

// searchMetric writes the rows of one metric. All metrics are read before a row is sent, so that an error is never too
// late.
func (a *api) searchMetric(ctx context.Context, s *outgoingScratch, metric *model.Metric, search *valueSearch,
	out *text.Writer) error {
	read := search.MetricRead
	read.Metric = metric
	if read.Granularities == nil {
		read.Granularities = slices.Clone(metric.ArchivePolicy.Granularities())
		slices.Reverse(read.Granularities)
	}
	for _, granularity := range read.Granularities {
		if !metric.ArchivePolicy.Answers(read.Method) || !metric.ArchivePolicy.HasGranularity(granularity) {
			return noAggregation(search.name, granularity)
		}
	}
	if err := a.reader.Aggregates(ctx, &read, &s.Aggregates); err != nil {
		return err
	}
	if err := budget.Of(ctx).Acquire(budget.Answers, rowBytes*int64(len(s.Starts))); err != nil {
		return err
	}
	row := 0
	for i, end := range s.Ends {
		out.Label(text.AppendFloat(nil, read.Granularities[i].Seconds()))
		for ; row < end; row++ {
			out.Row(s.Starts[row], s.Values[row])
		}
	}
	return nil
}

// noAggregation is about an aggregation that a metric's archive policy does not have.
func noAggregation(method string, granularity time.Duration) *web.Error {
	return &web.Error{Status: http.StatusBadRequest, Detail: web.Cause{
		Cause: "Aggregation does not exist",
		Detail: struct {
			Granularity text.Seconds `json:"granularity"`
			Method      string       `json:"aggregation_method"`
		}{text.Seconds(granularity.Seconds()), method},
	}}
}
