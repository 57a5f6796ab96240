package correlations

import (
	"context"
	"encoding/json"
	"maps"
	"math"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query/correlations"
)

// parseRequest reads a body, and finds the metrics in it that the user may read.
func (a *Handlers) parseRequest(ctx context.Context, who *auth.Identity, body any) (*correlations.Request, error) {
	keys := []string{"aggregation", "granularity", "start", "stop", "needed_overlap", "lag", "top", "top_per_metric",
		"threshold", "method"}
	object, _ := body.(map[string]any)
	if object["metrics"] != nil {
		keys = append(keys, "metrics*")
	} else {
		keys = append(keys, "resource_type*", "search", "name")
	}
	fields, err := web.Node{Value: body}.Fields(keys...)
	if err != nil {
		return nil, err
	}
	q := &correlations.Request{To: carbonara.MaxTimestamp, Aggregation: "mean", Method: carbonara.Mean, Staleness: web.StalenessOf(ctx),
		TypeOf: a.TypeOf}
	if err := parseFields(q, fields, carbonara.FromTime(a.Now())); err != nil {
		return nil, err
	}
	if in, ok := fields["metrics"]; ok {
		q.Metrics, err = a.metricsByID(who, in)
	} else {
		q.Metrics, err = a.metricsByName(ctx, who, fields)
	}
	if err != nil {
		return nil, err
	}
	subject := fields["metrics"]
	if subject.Path == nil {
		subject = fields["resource_type"]
	}
	q.Metrics = model.UniqueMetrics(q.Metrics)
	if len(q.Metrics) < 2 {
		return nil, subject.Fault("a correlation takes two metrics, not %d,", len(q.Metrics))
	}
	if len(q.Metrics) > a.Jobs.MaxMetrics {
		return nil, subject.Fault("too many metrics: %d, at most %d,", len(q.Metrics), a.Jobs.MaxMetrics)
	}
	return q, q.ChooseGranularity()
}

// parseFields reads the fields that do not name metrics.
func parseFields(q *correlations.Request, fields map[string]web.Node, now carbonara.Timestamp) (err error) {
	web.Take(&err, fields, "aggregation", &q.Aggregation, web.AnyText)
	web.Take(&err, fields, "aggregation", &q.Method, parseMethod)
	web.Take(&err, fields, "granularity", &q.Granularity, web.Node.Timespan)
	web.Take(&err, fields, "start", &q.From, web.TimestampAt(now))
	web.Take(&err, fields, "stop", &q.To, web.TimestampAt(now))
	web.Take(&err, fields, "lag", &q.Lag, count)
	web.Take(&err, fields, "top", &q.Selection.Top, count)
	web.Take(&err, fields, "top_per_metric", &q.Selection.TopPerColumn, count)
	web.Take(&err, fields, "needed_overlap", &q.Overlap, within(0, 100))
	web.Take(&err, fields, "threshold", &q.Selection.MinAbs, within(0, 1))
	web.Take(&err, fields, "method", &q.Ranks, func(in web.Node) (bool, error) {
		name, err := in.Text(0)
		if err == nil && name != "pearson" && name != "spearman" {
			err = in.Fault("%q is not pearson or spearman", name)
		}
		return name == "spearman", err
	})
	return err
}

// count returns a number that an int32 holds.
func count(in web.Node) (int, error) {
	n, err := in.Integer(0)
	if err == nil && n > math.MaxInt32 {
		err = in.Fault("value must be at most %d", math.MaxInt32)
	}
	return int(n), err
}

// within makes a function that returns a number of this range.
func within(least, most float64) func(in web.Node) (float64, error) {
	return func(in web.Node) (float64, error) {
		number, ok := in.Value.(json.Number)
		if !ok {
			return 0, in.Fault("expected float")
		}
		v, err := number.Float64()
		if err != nil || !(v >= least && v <= most) {
			return 0, in.Fault("value must be between %v and %v", least, most)
		}
		return v, nil
	}
}

// metricsByID looks up metrics as dynamic aggregates do: all have to exist, and the user may read each.
func (a *Handlers) metricsByID(who *auth.Identity, in web.Node) ([]*model.Metric, error) {
	items, err := in.List()
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(items))
	for i, item := range items {
		text, err := item.Text(0)
		if err != nil {
			return nil, err
		}
		if ids[i], err = model.ParseUUID(text); err != nil {
			return nil, item.Fault("%q is not a UUID", text)
		}
	}
	return a.MetricsByID(who, ids)
}

// metricsByName finds the metrics, by the pattern of their names, of the resources that a search finds and the user
// may search.
func (a *Handlers) metricsByName(ctx context.Context, who *auth.Identity,
	fields map[string]web.Node) ([]*model.Metric, error) {
	name, err := fields["resource_type"].Text(0)
	if err != nil {
		return nil, err
	}
	kind, err := a.Index.ResourceType(name)
	if err != nil {
		return nil, web.Refused(err)
	}
	search, ok := fields["search"]
	if !ok {
		search = web.Node{Value: map[string]any{}, Path: []any{"search"}}
	}
	expr, err := search.SearchFilter()
	if err != nil {
		return nil, err
	}
	pattern := "*"
	if web.Take(&err, fields, "name", &pattern, web.AnyText); err != nil {
		return nil, err
	}
	resources, _, err := a.FindSorted(ctx, who, kind, expr, false, nil, nil)
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
