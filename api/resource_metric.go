package api

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// withNamedMetric finds the metric that the path names within a resource, for users whom the rule lets pass.
func (a *api) withNamedMetric(rule string, h metricHandler) web.UserHandler {
	return func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		id, err := a.resourceID(r, who)
		if err != nil {
			return err
		}
		name := web.Param(r, "name")
		metric, err := a.Index.MetricOfResource(id, name)
		if errors.Is(err, model.ErrNotFound) {
			if _, err := a.Index.Resource(web.Param(r, "type"), id); err != nil {
				return err
			}
			return model.NotFound(model.NounMetric, name)
		}
		if err != nil {
			return err
		}
		if err := a.Enforce(who, rule, a.MetricTarget(metric)); err != nil {
			return err
		}
		return h(w, r, who, metric)
	}
}

func (a resourceHandlers) listMetrics(w http.ResponseWriter, r *http.Request, _ *auth.Identity,
	resource *model.Resource) error {
	return a.showMetrics(w, r, resource, func(*model.Metric) bool { return true })
}

// showMetrics answers with a resource's metrics by name, with the metrics that first selects at the front.
func (a resourceHandlers) showMetrics(w http.ResponseWriter, r *http.Request, resource *model.Resource,
	first func(*model.Metric) bool) error {
	metrics, err := a.Index.MetricsOfResource(r.Context(), resource.ID)
	if err != nil {
		return err
	}
	var shown, others []listedMetric
	for _, metric := range metrics {
		if first(metric) {
			shown = append(shown, a.listMetric(metric))
		} else {
			others = append(others, a.listMetric(metric))
		}
	}
	return web.WriteJSON(w, http.StatusOK, append(append([]listedMetric{}, shown...), others...))
}

// createMetrics adds metrics to a resource.
func (a resourceHandlers) createMetrics(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	resource *model.Resource) error {
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	set, err := a.parseMetricSet(r.Context(), web.Node{Value: body}, who)
	if err != nil {
		return err
	}
	set.Keep = true
	now := carbonara.FromTime(a.Now())
	_, err = a.Index.UpdateResource(r.Context(), web.Param(r, "type"), resource.ID, now,
		func(current *model.Resource) (*index.MetricSet, error) {
			return set, a.Enforce(who, "update resource", web.ResourceTarget(current))
		})
	if err != nil {
		return refusedParts(err)
	}
	// The gnocchi client takes the first to be the one that it has created.
	return a.showMetrics(w, r, resource, func(m *model.Metric) bool {
		_, attached := set.Attach[m.Name]
		return attached || slices.ContainsFunc(set.Create, func(created *model.Metric) bool {
			return created.Name == m.Name
		})
	})
}

// parseMetricSet reads the metrics of a resource, by name: definitions of new ones, IDs of existing ones.
func (a resourceHandlers) parseMetricSet(ctx context.Context, in web.Node,
	who *auth.Identity) (*index.MetricSet, error) {
	object, ok := in.Value.(map[string]any)
	if !ok {
		return nil, in.Fault("expected a dictionary")
	}
	set := &index.MetricSet{Attach: map[string]uuid.UUID{}}
	for _, name := range slices.Sorted(maps.Keys(object)) {
		field := in.At(object[name], name)
		if text, ok := field.Value.(string); ok {
			id, err := model.ParseUUID(text)
			if err != nil {
				return nil, field.Fault("not a valid value")
			}
			set.Attach[name] = id
			continue
		}
		if _, ok := field.Value.(map[string]any); !ok {
			return nil, field.Fault("not a valid value")
		}
		metric, err := a.parseMetric(ctx, field, who, name)
		if err != nil {
			return nil, err
		}
		set.Create = append(set.Create, metric)
	}
	return set, nil
}
