package api

import (
	"context"
	"net/http"
	"strings"

	"github.com/go-chi/chi/v5"
	"github.com/google/uuid"

	"gnocco/model"
)

// Metrics knows metrics by their ids where another process holds the index.
type Metrics interface {
	// Find sets found[i] to the metric ids[i], nil for one that is unknown. It fails, with a model.ErrUnavailable, if that
	// cannot be told.
	Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error
}

// routesApart are the routes of a process without an index: it takes measures, and reads those of metrics whose user it can
// tell to be allowed. All else is answered elsewhere.
func (a *api) routesApart(r chi.Router, prefix string) {
	at := func(method, path string, h http.HandlerFunc) { r.MethodFunc(method, prefix+path, h) }
	at("GET", "/healthcheck", a.open(getHealth))
	at("HEAD", "/healthcheck", a.open(getHealth))
	if !a.asksResource("post measures") {
		at("POST", "/v1/metric/{id}/measures", a.as(a.withMetric("post measures", a.postMeasures)))
		at("POST", "/v1/batch/metrics/measures", a.as(a.postBatch))
	}
	if !a.Policy.Overridden("get measures") {
		at("GET", "/v1/metric/{id}/measures", a.getMeasuresApart)
	}
	if prefix == "" {
		a.routesForOperators(r)
	}
}

// asksResource tells whether a rule looks at the metric's resource, which only who holds the index can.
func (a *api) asksResource(rule string) bool {
	for _, key := range a.Policy.Keys(rule) {
		if strings.HasPrefix(key, "resource.") {
			return true
		}
	}
	return false
}

// getMeasuresApart answers whom the rule lets pass without a look at the metric's resource. Gnocchi's rule only ever allows
// more by that look, so that those whom it does not let pass are for who holds the index to judge.
func (a *api) getMeasuresApart(w http.ResponseWriter, r *http.Request) {
	if id, err := model.ParseUUID(param(r, "id")); err == nil {
		if who, err := a.Auth.Authenticate(r); err == nil {
			metric, err := a.findMetric(r.Context(), id)
			if err == nil && metric != nil && a.enforce(who, "get measures", a.metricTarget(metric)) == nil {
				a.json(func(w http.ResponseWriter, r *http.Request) error { return a.getMeasures(w, r, who, metric) })(w, r)
				return
			}
		}
	}
	a.Elsewhere.ServeHTTP(w, r)
}

// findMetric returns a metric by its ID, nil if there is none.
func (a *api) findMetric(ctx context.Context, id uuid.UUID) (*model.Metric, error) {
	if a.Index != nil {
		return a.Index.Lookup(id), nil
	}
	var found [1]*model.Metric
	err := a.Metrics.Find(ctx, []uuid.UUID{id}, found[:])
	return found[0], err
}

// finder returns what tells the i-th of these metrics, nil if there is none.
func (a *api) finder(ctx context.Context, ids []uuid.UUID) (func(i int) *model.Metric, error) {
	if a.Index != nil {
		return func(i int) *model.Metric { return a.Index.Lookup(ids[i]) }, nil
	}
	found := make([]*model.Metric, len(ids))
	if err := a.Metrics.Find(ctx, ids, found); err != nil {
		return nil, err
	}
	return func(i int) *model.Metric { return found[i] }, nil
}

// Refuse answers a request with an error, as the API does.
func Refuse(w http.ResponseWriter, r *http.Request, err error) { asError(err).write(w, r) }
