package api

import (
	"context"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/internal/quota"
	"github.com/gnocco-db/gnocco/model"
)

// Metrics knows metrics by their ids where another process holds the index.
type Metrics interface {
	// Find sets found[i] to the metric ids[i], nil for an unknown one. It fails with a model.ErrUnavailable if it
	// cannot know.
	Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error
}

// routesWithoutIndex are the routes of a process without an index. It takes measures, and reads them for users whose
// right it can decide alone. Forward answers the rest.
func (a *api) routesWithoutIndex(at func(method, path string, h http.HandlerFunc)) {
	if !a.AsksResource("post measures") {
		at("POST", "/v1/metric/{id}/measures", a.Authenticated(a.withMetric("post measures", a.postMeasures)))
		at("POST", "/v1/batch/metrics/measures", a.Authenticated(a.postBatch))
	}
	if !a.Policy.Overridden("get measures") {
		at("GET", "/v1/metric/{id}/measures", a.AuthenticatedRows(a.getMeasuresWithoutIndex))
	}
}

// getMeasuresWithoutIndex answers users whom the rule permits for any resource of the metric. By Gnocchi's rule the
// resource can only add permissions, so the holder of the index decides about all other users.
func (a *api) getMeasuresWithoutIndex(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	if id, err := model.ParseUUID(web.Param(r, "id")); err == nil {
		metric, err := a.findMetric(r.Context(), id)
		if err == nil && metric != nil && a.Enforce(who, "get measures", a.MetricTarget(metric)) == nil {
			return a.Timed(func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
				return a.getMeasures(w, r, who, metric)
			})(w, r, who)
		}
	}
	a.Quotas.Return(quota.Requests, model.ProjectOf(who.User), 1) // the other process charges it
	a.options.Forward.ServeHTTP(w, r)
	return nil
}

// findMetric returns a metric by its ID, nil if there is none.
func (a *api) findMetric(ctx context.Context, id uuid.UUID) (*model.Metric, error) {
	if a.Index != nil {
		return a.Index.Lookup(id), nil
	}
	var found [1]*model.Metric
	err := a.options.Metrics.Find(ctx, []uuid.UUID{id}, found[:])
	return found[0], err
}

// finder returns a function that returns the i-th of these metrics, nil if it does not exist.
func (a *api) finder(ctx context.Context, ids []uuid.UUID) (func(i int) *model.Metric, error) {
	if a.Index != nil {
		return func(i int) *model.Metric { return a.Index.Lookup(ids[i]) }, nil
	}
	found := make([]*model.Metric, len(ids))
	if err := a.options.Metrics.Find(ctx, ids, found); err != nil {
		return nil, err
	}
	return func(i int) *model.Metric { return found[i] }, nil
}
