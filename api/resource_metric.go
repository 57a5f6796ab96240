package api

import (
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"gnocco/model"
)

// withNamedMetric finds the metric that the path names within a resource, for its creator and admin.
func (a *api) withNamedMetric(h metricHandler) userHandler {
	return func(w http.ResponseWriter, r *http.Request, who *Identity) error {
		id, err := resourceID(r, who)
		if err != nil {
			return err
		}
		name := param(r, "name")
		metric, err := a.Index.MetricOfResource(id, name)
		if errors.Is(err, model.ErrNotFound) {
			if _, err := a.Index.Resource(param(r, "type"), id); err != nil {
				return err
			}
			return model.NotFound(model.NounMetric, name)
		}
		if err != nil {
			return err
		}
		if !who.Owns(metric.Creator) {
			return errForbidden
		}
		return h(w, r, who, metric)
	}
}

func (a *api) listResourceMetrics(w http.ResponseWriter, r *http.Request, _ *Identity, resource *model.Resource) error {
	metrics, err := a.Index.MetricsOfResource(r.Context(), resource.ID)
	if err != nil {
		return err
	}
	shown := make([]listedMetric, len(metrics))
	for i, metric := range metrics {
		shown[i] = listMetric(metric)
	}
	return writeJSON(w, http.StatusOK, shown)
}

// createResourceMetrics adds metrics to a resource.
func (a *api) createResourceMetrics(w http.ResponseWriter, r *http.Request, who *Identity, resource *model.Resource) error {
	body, err := a.decodeBody(w, r)
	if err != nil {
		return err
	}
	metrics, existing, err := a.parseNamedMetrics(input{value: body}, who, resource.ID)
	if err != nil {
		return err
	}
	for name := range existing {
		return badRequest("Metric %s exists already: it cannot be moved to a resource yet", name)
	}
	if err := a.Index.CreateMetrics(r.Context(), metrics); err != nil {
		var object *model.ObjectError
		if errors.As(err, &object) && object.Noun != model.NounResource && object.Kind == model.ErrNotFound {
			return refused(err)
		}
		return err
	}
	return a.listResourceMetrics(w, r, who, resource)
}

// parseNamedMetrics reads the metrics of a resource, by name: definitions of new ones, IDs of existing ones.
func (a *api) parseNamedMetrics(in input, who *Identity, resource uuid.UUID) ([]*model.Metric, map[string]uuid.UUID, error) {
	object, ok := in.value.(map[string]any)
	if !ok {
		return nil, nil, in.fault("expected a dictionary")
	}
	var metrics []*model.Metric
	existing := map[string]uuid.UUID{}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field := in.at(object[name], name)
		if text, ok := field.value.(string); ok {
			id, err := model.ParseUUID(text)
			if err != nil {
				return nil, nil, field.fault("not a valid value")
			}
			existing[name] = id
			continue
		}
		metric, err := a.parseMetric(field, who, name)
		if err != nil {
			return nil, nil, err
		}
		metric.ResourceID = &resource
		metrics = append(metrics, metric)
	}
	return metrics, existing, nil
}
