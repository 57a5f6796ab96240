package api

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/ingest"
	"github.com/gnocco-db/gnocco/model"
)

// A metricHandler answers for one metric that exists.
type metricHandler func(w http.ResponseWriter, r *http.Request, who *auth.Identity, metric *model.Metric) error

// metricHandlers serve metrics; measures_in.go and measures_read.go serve their measures.
type metricHandlers struct{ *api }

// withMetric finds the metric that the path names, for users whom the rule lets pass.
func (a *api) withMetric(rule string, h metricHandler) web.UserHandler {
	return func(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
		text := web.Param(r, "id")
		id, err := model.ParseUUID(text)
		if err != nil {
			return model.NotFound(model.NounMetric, text)
		}
		metric, err := a.findMetric(r.Context(), id)
		if err != nil {
			return err
		}
		if metric == nil {
			return model.NotFound(model.NounMetric, text)
		}
		if err := a.Enforce(who, rule, a.MetricTarget(metric)); err != nil {
			return err
		}
		return h(w, r, who, metric)
	}
}

// metricJSON is a metric as the API shows it. Which of its relations are nested and which only named depends on the
// request, as in Gnocchi.
type metricJSON struct {
	ID                 uuid.UUID            `json:"id"`
	Creator            string               `json:"creator"`
	CreatedByUserID    string               `json:"created_by_user_id"`
	CreatedByProjectID string               `json:"created_by_project_id"`
	Name               *string              `json:"name"`
	Unit               *string              `json:"unit"`
	ArchivePolicy      *model.ArchivePolicy `json:"archive_policy,omitempty"`
	ArchivePolicyName  string               `json:"archive_policy_name,omitempty"`
	Labels             map[string]string    `json:"labels,omitempty"`
	Type               model.SeriesType     `json:"type,omitempty"`
	TypeGuess          model.SeriesType     `json:"type_guess,omitempty"` // instead of type
}

func (a *api) showMetric(m *model.Metric) metricJSON {
	user, project, _ := strings.Cut(m.Creator, ":")
	shown := metricJSON{
		ID: m.ID, Creator: m.Creator, CreatedByUserID: user, CreatedByProjectID: project,
		Name: web.OrNull(m.Name), Unit: web.OrNull(m.Unit), Labels: maps.Collect(m.Labels.All()),
	}
	switch t, source := a.series.TypeOf(m); {
	case source.IsGuess():
		shown.TypeGuess = t
	case source != model.TypeIsUnknown:
		shown.Type = t
	}
	return shown
}

// detailedMetric is a metric with its archive policy and its resource, null without one.
type detailedMetric struct {
	metricJSON
	Resource any `json:"resource"`
}

func (a *api) detailMetric(m *model.Metric) (detailedMetric, error) {
	shown := detailedMetric{metricJSON: a.showMetric(m)}
	shown.ArchivePolicy = m.ArchivePolicy
	if m.ResourceID == nil {
		return shown, nil
	}
	resource, err := a.Index.Resource(model.GenericType, *m.ResourceID)
	if err != nil {
		return shown, err
	}
	resource.Metrics = nil
	shown.Resource = showResource(asType(resource, model.GenericType))
	return shown, nil
}

// get shows a metric with its archive policy and resource.
func (a metricHandlers) get(w http.ResponseWriter, _ *http.Request, _ *auth.Identity, metric *model.Metric) error {
	answer, err := a.detailMetric(metric)
	return web.Answer(w, answer, err)
}

func (a metricHandlers) delete(w http.ResponseWriter, r *http.Request, _ *auth.Identity, metric *model.Metric) error {
	return web.NoContent(w, a.Index.DeleteMetric(r.Context(), metric.ID))
}

func (a metricHandlers) create(w http.ResponseWriter, r *http.Request, who *auth.Identity) error {
	body, err := a.DecodeBody(w, r)
	if err != nil {
		return err
	}
	metric, err := a.parseMetric(r.Context(), web.Node{Value: body}, who, "")
	if err != nil {
		return err
	}
	if err := a.Index.CreateMetric(r.Context(), metric); err != nil {
		return web.RefusedCause(err)
	}
	a.SetLocation(w, r, "metric", metric.ID.String())
	return a.write(w, http.StatusCreated, metric)
}

// write answers with a metric and the name of its archive policy.
func (a metricHandlers) write(w http.ResponseWriter, status int, metric *model.Metric) error {
	answer := struct {
		metricJSON
		ResourceID *uuid.UUID `json:"resource_id"`
	}{a.showMetric(metric), metric.ResourceID}
	answer.ArchivePolicyName = metric.ArchivePolicy.Name
	return web.WriteJSON(w, status, answer)
}

// parseMetric reads the definition of a new metric, which the index gives an ID. key is the name that the metric has
// within a resource that is being sent along; "" where the definition stands alone.
func (a *api) parseMetric(ctx context.Context, in web.Node, who *auth.Identity, key string) (*model.Metric, error) {
	keys := []string{"archive_policy_name", "resource_id", "name", "unit", "type"}
	if key == "" {
		keys = append(keys, "labels")
	}
	fields, err := in.Fields(keys...)
	if err != nil {
		return nil, err
	}
	metric := &model.Metric{Creator: who.User, Name: key}
	if key == "" {
		web.Take(&err, fields, "name", &metric.Name, web.AnyText)
	}
	web.Take(&err, fields, "unit", &metric.Unit, web.TextUpTo(31))
	web.Take(&err, fields, "type", &metric.Type, parseMetricType)
	if err != nil {
		return nil, err
	}
	if field, ok := fields["labels"]; ok {
		if _, other := fields["name"]; other || fields["resource_id"].Value != nil {
			return nil, field.Fault("a metric with labels has its name in them, and no resource")
		}
		if metric.Labels, err = parseLabels(field); err != nil {
			return nil, err
		}
		metric.Name = metric.Labels.Get(model.LabelName)
	}
	if strings.Contains(metric.Name, "/") && metric.Labels == "" {
		return nil, web.BadRequest("'/' is not supported in metric name")
	}
	policy := ""
	if field, ok := fields["archive_policy_name"]; ok {
		if policy, err = field.Text(0); err != nil {
			return nil, err
		}
		if policy == "" {
			return nil, web.Refused(model.NotFound(model.NounArchivePolicy, policy))
		}
	}
	if metric.ArchivePolicy, err = a.policyFor(ctx, policy, metric); err != nil {
		return nil, err
	}
	if field, ok := fields["resource_id"]; ok && key == "" {
		if metric.ResourceID, err = a.parseMetricResource(field, who, metric.Name); err != nil {
			return nil, err
		}
	}
	return metric, nil
}

// parseMetricType reads the type of a metric. Unknown is none.
func parseMetricType(in web.Node) (model.SeriesType, error) {
	text, err := in.Text(0)
	if err != nil {
		return "", err
	}
	t, err := model.ParseSeriesType(text)
	switch {
	case err != nil:
		return "", in.Fault("%s", err)
	case t == model.UnknownType:
		return "", nil
	}
	return t, nil
}

// policyFor returns the archive policy that a new metric gets: the one that is named, or else that of its type for a
// series, and the one that a rule gives for the name of another metric.
func (a *api) policyFor(ctx context.Context, policy string, metric *model.Metric) (*model.ArchivePolicy, error) {
	switch {
	case policy != "":
		p, err := a.ingester.PolicyNamed(ctx, policy)
		return p, web.Refused(err)
	case metric.Labels != "":
		t, _ := a.series.TypeOf(metric)
		return a.ingester.PolicyOfSeries(ctx, t)
	}
	p, err := a.Index.MatchArchivePolicyRule(metric.Name)
	if err != nil {
		return nil, &ingest.NoPolicyError{Metric: cmp.Or(metric.Name, "None"), Err: err}
	}
	return p, nil
}

// parseMetricResource reads the resource that a new metric is to belong to: one that the user may change.
func (a *api) parseMetricResource(in web.Node, who *auth.Identity, metricName string) (*uuid.UUID, error) {
	text, err := in.Text(0)
	if err != nil {
		return nil, err
	}
	id, err := model.ResourceID(text, who.User)
	if err != nil {
		return nil, in.Fault("%s", err)
	}
	if metricName == "" {
		return nil, web.BadAttribute("name", "Name cannot be null if resource_id is not null")
	}
	resource, err := a.Index.Resource(model.GenericType, id)
	if err != nil {
		return nil, err
	}
	if err := a.Enforce(who, "update resource", web.ResourceTarget(resource)); err != nil {
		return nil, err
	}
	return &id, nil
}

// parseLabels reads the labels of a new metric, its name among them. A sender may push to the same series later.
func parseLabels(in web.Node) (model.Labels, error) {
	object, ok := in.Value.(map[string]any)
	if !ok {
		return "", in.Fault("expected a dictionary")
	}
	var text []byte
	for _, name := range slices.Sorted(maps.Keys(object)) {
		value, err := in.At(object[name], name).Text(0)
		if err != nil {
			return "", err
		}
		if name == "" || value == "" {
			return "", in.At(value, name).Fault("neither the name nor the value of a label may be empty")
		}
		text = model.AppendLabel(text, name, value)
	}
	labels := model.Labels(text)
	if labels.Get(model.LabelName) == "" {
		return "", in.At(nil, model.LabelName).Fault("required key not provided")
	}
	if !labels.Valid() {
		return "", in.Fault("not valid UTF-8")
	}
	return labels, nil
}
