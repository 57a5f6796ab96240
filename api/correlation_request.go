package api

import (
	"context"
	"encoding/json"
	"maps"
	"math"
	"net/http"
	"slices"
	"time"

	"gnocco/carbonara"
	"gnocco/correlate"
	"gnocco/model"
)

// correlationRequest is what a body asks for, once the metrics have been found.
type correlationRequest struct {
	metrics     []*model.Metric // ordered by ID, each once
	method      carbonara.Method
	aggregation string
	granularity time.Duration
	from, to    carbonara.Timestamp
	overlap     float64 // percent of the groups that a pair has to share
	lag         int     // groups
	ranks       bool    // Spearman
	selection   correlate.Selection
}

// parseCorrelation reads a body and finds its metrics, those that who may read.
func (a *api) parseCorrelation(ctx context.Context, who *Identity, body any) (*correlationRequest, error) {
	keys := []string{"aggregation", "granularity", "start", "stop", "needed_overlap", "lag", "top", "top_per_metric", "threshold", "method"}
	object, _ := body.(map[string]any)
	if object["metrics"] != nil {
		keys = append(keys, "metrics*")
	} else {
		keys = append(keys, "resource_type*", "search", "name")
	}
	fields, err := input{value: body}.fields(keys...)
	if err != nil {
		return nil, err
	}
	q := &correlationRequest{to: carbonara.MaxTimestamp, aggregation: "mean"}
	if err := q.parse(fields, carbonara.FromTime(a.Now())); err != nil {
		return nil, err
	}
	if in, ok := fields["metrics"]; ok {
		q.metrics, err = a.correlatedByID(who, in)
	} else {
		q.metrics, err = a.correlatedByName(ctx, who, fields)
	}
	if err != nil {
		return nil, err
	}
	subject := fields["metrics"]
	if subject.path == nil {
		subject = fields["resource_type"]
	}
	q.metrics = uniqueMetrics(q.metrics)
	if len(q.metrics) < 2 {
		return nil, subject.fault("a correlation takes two metrics, not %d,", len(q.metrics))
	}
	if len(q.metrics) > a.Correlations.MaxMetrics {
		return nil, subject.fault("%d metrics are more than %d", len(q.metrics), a.Correlations.MaxMetrics)
	}
	return q, q.chooseGranularity()
}

// parse reads the fields that do not name metrics.
func (q *correlationRequest) parse(fields map[string]input, now carbonara.Timestamp) (err error) {
	if in, ok := fields["aggregation"]; ok {
		if q.aggregation, err = in.text(0); err != nil {
			return err
		}
	}
	if q.method, err = carbonara.ParseMethod(q.aggregation); err != nil {
		return input{path: []any{"aggregation"}}.fault("%q is not an aggregation method", q.aggregation)
	}
	if in, ok := fields["granularity"]; ok {
		if q.granularity, err = in.timespan(); err != nil {
			return err
		}
		if q.granularity <= 0 {
			return in.fault("not positive")
		}
	}
	for name, t := range map[string]*carbonara.Timestamp{"start": &q.from, "stop": &q.to} {
		if in, ok := fields[name]; ok {
			if *t, err = in.timestamp(now); err != nil {
				return err
			}
		}
	}
	for name, n := range map[string]*int{"lag": &q.lag, "top": &q.selection.Top, "top_per_metric": &q.selection.TopPerColumn} {
		if in, ok := fields[name]; ok {
			value, err := in.integer(0)
			if err != nil {
				return err
			}
			if value > math.MaxInt32 {
				return in.fault("value must be at most %d", math.MaxInt32)
			}
			*n = int(value)
		}
	}
	if in, ok := fields["needed_overlap"]; ok {
		if q.overlap, err = in.within(0, 100); err != nil {
			return err
		}
	}
	if in, ok := fields["threshold"]; ok {
		if q.selection.MinAbs, err = in.within(0, 1); err != nil {
			return err
		}
	}
	if in, ok := fields["method"]; ok {
		name, err := in.text(0)
		if err != nil {
			return err
		}
		if name != "pearson" && name != "spearman" {
			return in.fault("%q is not pearson or spearman", name)
		}
		q.ranks = name == "spearman"
	}
	return nil
}

// within returns a number of this range.
func (in input) within(least, most float64) (float64, error) {
	number, ok := in.value.(json.Number)
	if !ok {
		return 0, in.fault("expected float")
	}
	v, err := number.Float64()
	if err != nil || !(v >= least && v <= most) {
		return 0, in.fault("value must be between %v and %v", least, most)
	}
	return v, nil
}

// correlatedByID looks up metrics as dynamic aggregates do: all have to be there, and who has to be allowed to read them.
func (a *api) correlatedByID(who *Identity, in input) ([]*model.Metric, error) {
	items, err := in.list()
	if err != nil {
		return nil, err
	}
	var metrics []*model.Metric
	missing := []string{}
	for _, item := range items {
		text, err := item.text(0)
		if err != nil {
			return nil, err
		}
		id, err := model.ParseUUID(text)
		if err != nil {
			return nil, item.fault("%q is not a UUID", text)
		}
		if metric := a.Index.Lookup(id); metric != nil {
			metrics = append(metrics, metric)
		} else {
			missing = append(missing, id.String())
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return nil, &Error{Status: http.StatusNotFound, Detail: Cause{
			Cause: "Unknown metrics", Reason: "Provided metrics don't exists", Detail: slices.Compact(missing),
		}}
	}
	permitted := a.permits(who, "get metric")
	for _, metric := range metrics {
		if !permitted(metric) {
			return nil, errForbidden
		}
	}
	return metrics, nil
}

// correlatedByName finds the metrics, by the pattern of their names, of the resources that a search finds among those that who
// may search.
func (a *api) correlatedByName(ctx context.Context, who *Identity, fields map[string]input) ([]*model.Metric, error) {
	name, err := fields["resource_type"].text(0)
	if err != nil {
		return nil, err
	}
	kind, err := a.Index.ResourceType(name)
	if err != nil {
		return nil, refused(err)
	}
	search, ok := fields["search"]
	if !ok {
		search = input{value: map[string]any{}, path: []any{"search"}}
	}
	expr, err := search.searchFilter()
	if err != nil {
		return nil, err
	}
	pattern := "*"
	if in, ok := fields["name"]; ok {
		if pattern, err = in.text(0); err != nil {
			return nil, err
		}
	}
	resources, err := a.findSorted(ctx, who, kind, expr, false, nil)
	if err != nil {
		return nil, err
	}
	var metrics []*model.Metric
	for _, r := range resources {
		for name, id := range maps.All(r.Metrics) {
			if model.MatchPattern(pattern, name) {
				if metric := a.Index.Lookup(id); metric != nil { // else deleted meanwhile
					metrics = append(metrics, metric)
				}
			}
		}
	}
	return metrics, nil
}

// chooseGranularity takes the finest that all metrics have in common, unless one is asked for, and makes sure that all have it
// and the aggregation method.
func (q *correlationRequest) chooseGranularity() error {
	found := make([]foundMetric, len(q.metrics))
	for i, metric := range q.metrics {
		found[i] = foundMetric{metric: metric, aggregation: q.aggregation}
	}
	granularities, err := commonGranularities(found, q.granularity)
	if err != nil {
		return err
	}
	q.granularity = granularities[len(granularities)-1]
	return nil
}
