package api

import (
	"net/http"
	"net/url"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// listedMetric is a metric as lists show it: with its archive policy, and the ID of its resource.
type listedMetric struct {
	metricJSON
	ResourceID *uuid.UUID `json:"resource_id"`
}

func (a *api) listMetric(m *model.Metric) listedMetric {
	shown := listedMetric{a.showMetric(m), m.ResourceID}
	shown.ArchivePolicy = m.ArchivePolicy
	return shown
}

// list lists metrics, page by page. A nil who sees all.
func (a metricHandlers) list(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	values := r.URL.Query()
	query, err := parseMetricFilters(values)
	if err != nil {
		return err
	}
	p, err := a.ParsePage(values, "id:asc")
	if err != nil {
		return err
	}
	if query.Sort, err = parseMetricSort(p.Sort); err != nil {
		return err
	}
	query.LastMeasures = a.options.Archives.LastMeasures
	query.Limit, query.Visible = p.Limit, a.VisibleMetrics(who, "list metric")
	if p.Marker != "" {
		if query.Marker, err = model.ParseUUID(p.Marker); err != nil {
			return badPagination("Invalid marker: `" + p.Marker + "'")
		}
	}
	metrics, err := a.Index.ListMetrics(r.Context(), query)
	if err != nil {
		return err
	}
	shown := make([]listedMetric, len(metrics))
	for i, metric := range metrics {
		shown[i] = a.listMetric(metric)
	}
	if len(shown) > 0 && len(shown) >= p.Limit {
		a.SetLink(w, r, values, p, shown[len(shown)-1].ID.String())
	}
	return web.WriteJSON(w, http.StatusOK, shown)
}

func badPagination(reason string) *web.Error {
	return web.BadRequest("Invalid pagination: `%s'", reason)
}

// labelFilter begins the name of a filter by a label of series that were pushed with labels.
const labelFilter = "labels."

// parseMetricFilters reads the filters, all of which have to hold.
func parseMetricFilters(values url.Values) (index.MetricQuery, error) {
	var query index.MetricQuery
	filter := func(name string) *string {
		if !values.Has(name) {
			return nil
		}
		return new(values.Get(name))
	}
	if values.Has("id") {
		id, err := model.ParseUUID(values.Get("id"))
		if err != nil {
			return query, web.BadRequest("Invalid input: not a valid value for dictionary value @ data['id']")
		}
		query.ID = &id
	}
	query.Name, query.Unit, query.Creator = filter("name"), filter("unit"), filter("creator")
	query.ArchivePolicyName = filter("archive_policy_name")
	for name := range values {
		if label, ok := strings.CutPrefix(name, labelFilter); ok {
			if query.Labels == nil {
				query.Labels = map[string]string{}
			}
			query.Labels[label] = values.Get(name)
		}
	}
	if user, project := filter("user_id"), filter("project_id"); user != nil || project != nil {
		query.Creator = new(values.Get("user_id") + ":" + values.Get("project_id"))
	}
	switch status := filter("status"); {
	case status == nil || *status == "active":
	case *status == "delete":
		query.Deleted = true
	default:
		return query, web.BadRequest("Invalid input: not a valid value for dictionary value @ data['status']")
	}
	return query, nil
}

// parseMetricSort reads keys such as "name", "name:desc" and "name:asc-nullsfirst".
func parseMetricSort(given []string) ([]index.SortKey, error) {
	keys := make([]index.SortKey, len(given))
	for i, text := range given {
		key, direction, _ := strings.Cut(text, ":")
		direction, nulls, hasNulls := strings.Cut(direction, "-")
		keys[i].Key = strings.TrimSpace(key)
		switch direction {
		case "", "asc":
		case "desc":
			keys[i].Descending = true
		default:
			return nil, badPagination(
				"Unknown sort direction, must be one of: asc, desc, and these with -nullsfirst or -nullslast")
		}
		switch {
		case !hasNulls:
		case nulls == "nullsfirst":
			keys[i].Nulls = index.NullsFirst
		case nulls == "nullslast":
			keys[i].Nulls = index.NullsLast
		default:
			return nil, badPagination(
				"Unknown sort direction, must be one of: asc, desc, and these with -nullsfirst or -nullslast")
		}
	}
	return keys, nil
}
