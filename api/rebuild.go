package api

import (
	"context"
	"net/http"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/query"
)

// rebuildJSON is a rebuild as the API shows it.
type rebuildJSON struct {
	ID            uuid.UUID  `json:"id"`
	ArchivePolicy *string    `json:"archive_policy_name"` // whose metrics, or
	Metric        *uuid.UUID `json:"metric_id"`
	State         string     `json:"state"`
	StartedAt     time.Time  `json:"started_at"`
	FinishedAt    *time.Time `json:"finished_at"`
	Metrics       int        `json:"metrics"`
	Changed       int        `json:"changed"`
	Unchanged     int        `json:"unchanged"`
	Failed        int        `json:"failed"`
	Error         *string    `json:"error"`

	Unknown *unknownGroupsJSON `json:"unknown"`
}

// unknownGroupsJSON are groups that stay without a method.
type unknownGroupsJSON struct {
	Archives int       `json:"archives"`
	Groups   int       `json:"groups"`
	From     time.Time `json:"from"`
	To       time.Time `json:"to"`
}

func showRebuild(r *model.Rebuild) *rebuildJSON {
	shown := &rebuildJSON{ID: r.ID, ArchivePolicy: web.OrNull(r.ArchivePolicy), State: string(r.State),
		StartedAt: r.Started, Metrics: r.Metrics, Changed: r.Changed, Unchanged: r.Unchanged, Failed: r.Failed,
		Error: web.OrNull(r.Fault)}
	if r.Metric != uuid.Nil {
		shown.Metric = &r.Metric
	}
	if !r.Finished.IsZero() {
		shown.FinishedAt = &r.Finished
	}
	if u := r.Unknown; u.Groups > 0 {
		shown.Unknown = &unknownGroupsJSON{u.Archives, u.Groups, u.From.Time(), u.To.Time()}
	}
	return shown
}

// rebuildHandlers serve rebuilds.
type rebuildHandlers struct{ *api }

func (a rebuildHandlers) list(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	jobs, err := a.Index.Rebuilds(r.Context())
	if err != nil {
		return err
	}
	shown := []*rebuildJSON{}
	for _, job := range jobs {
		shown = append(shown, showRebuild(job))
	}
	return web.WriteJSON(w, http.StatusOK, shown)
}

// find returns the one that the path names.
func (a rebuildHandlers) find(r *http.Request) (*model.Rebuild, error) {
	text := web.Param(r, "id")
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, model.NotFound(model.NounRebuild, text)
	}
	return a.Index.Rebuild(id)
}

func (a rebuildHandlers) get(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	job, err := a.find(r)
	if err != nil {
		return err
	}
	return web.WriteJSON(w, http.StatusOK, showRebuild(job))
}

// create starts the rebuild of a policy's metrics, or of one, as policies are: as after one that was cancelled.
func (a rebuildHandlers) create(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	fields, err := a.DecodeFields(w, r, "archive_policy_name", "metric_id")
	if err != nil {
		return err
	}
	if len(fields) != 1 {
		return web.BadRequest("One of archive_policy_name and metric_id is needed")
	}
	var job *model.Rebuild
	if field, ok := fields["archive_policy_name"]; ok {
		name, err := field.Text(0)
		if err != nil {
			return err
		}
		if job, err = a.Index.RebuildPolicy(r.Context(), name, a.Now()); err != nil {
			return web.RefusedCause(err)
		}
	} else {
		id, err := fields["metric_id"].UUID()
		if err != nil {
			return err
		}
		metric, err := a.Index.Metric(id)
		if err != nil {
			return web.RefusedCause(err)
		}
		if _, job, err = a.Index.ChangeMetric(r.Context(), id, metric.ArchivePolicy.Name, a.Now()); err != nil {
			return web.RefusedCause(err)
		}
	}
	a.SetLocation(w, r, "rebuild", job.ID.String())
	return web.WriteJSON(w, http.StatusAccepted, showRebuild(job))
}

// cancel ends one. It stays to be seen, and may be started again.
func (a rebuildHandlers) cancel(w http.ResponseWriter, r *http.Request, _ *auth.Identity) error {
	job, err := a.find(r)
	if err != nil {
		return err
	}
	_, err = a.Index.CancelRebuild(r.Context(), job.ID, a.Now())
	return web.NoContent(w, err)
}

// decodeChange reads a request to change what is there: its body's fields, and whether what it would do is only to be
// shown.
func (a *api) decodeChange(w http.ResponseWriter, r *http.Request,
	names ...string) (preview bool, fields map[string]web.Node, err error) {
	if err := query.ParseBool(r.URL.Query(), "dry_run", &preview); err != nil {
		return false, nil, err
	}
	fields, err = a.DecodeFields(w, r, names...)
	return preview, fields, err
}

// change gives a policy other granularities or methods, and starts the rebuild of its metrics.
func (a policyHandlers) change(w http.ResponseWriter, r *http.Request, name string) error {
	preview, fields, err := a.decodeChange(w, r, policyChangeFields...)
	if err != nil {
		return err
	}
	change, err := parsePolicyChange(fields)
	if err != nil {
		return err
	}
	if preview {
		return a.preview(w, r, name, change)
	}
	policy, job, err := a.Index.ChangeArchivePolicy(r.Context(), name, a.Now(), change)
	if job != nil {
		a.SetLocation(w, r, "rebuild", job.ID.String())
	}
	return web.Answer(w, policy, err)
}

// policyChangeFields are what a policy may change to, one of them at least.
var policyChangeFields = []string{"definition", "back_window", "aggregation_methods"}

// parsePolicyChange reads what a policy is to change to.
func parsePolicyChange(fields map[string]web.Node) (change func(old *model.ArchivePolicy) (*model.ArchivePolicy,
	error), err error) {
	if len(fields) == 0 {
		return nil, web.Node{}.At(nil, "definition").Fault("required key not provided")
	}
	var definition []model.DefinitionInput
	var backWindow *int
	var methods []string
	web.Take(&err, fields, "definition", &definition, parseDefinition)
	web.Take(&err, fields, "back_window", &backWindow, web.Pointer(parseBackWindow))
	web.Take(&err, fields, "aggregation_methods", &methods, parseMethods)
	if err != nil {
		return nil, err
	}
	return func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		return old.Change(backWindow, definition, methods)
	}, nil
}

// preview shows what changing a policy would do.
func (a policyHandlers) preview(w http.ResponseWriter, r *http.Request, name string,
	change func(*model.ArchivePolicy) (*model.ArchivePolicy, error)) error {
	old, err := a.Index.ArchivePolicy(name)
	if err != nil {
		return err
	}
	changed, err := change(old)
	if err != nil {
		return err
	}
	ids, err := a.Index.MetricsOfPolicy(r.Context(), name, uuid.Nil, 0)
	shown := model.PreviewRebuild(old, changed)
	shown.Affected = len(ids)
	return web.Answer(w, shown, err)
}

// change gives a metric another archive policy, and starts its rebuild. It also sets the metric's type, which may give
// a series the policy of counters. It plans the policy for some time after.
func (a metricHandlers) change(w http.ResponseWriter, r *http.Request, _ *auth.Identity, metric *model.Metric) error {
	preview, fields, err := a.decodeChange(w, r, "archive_policy_name", "type", "after")
	if err != nil {
		return err
	}
	_, typed := fields["type"]
	changed, job, after := *metric, (*model.Rebuild)(nil), time.Duration(0)
	web.Take(&err, fields, "after", &after, web.Node.Timespan)
	if web.Take(&err, fields, "type", &changed.Type, parseMetricType); err != nil {
		return err
	}
	policyField, moved := fields["archive_policy_name"]
	switch {
	case !moved && (!typed || after > 0):
		return web.Node{}.At(nil, "archive_policy_name").Fault("required key not provided")
	case !moved:
		changed.ArchivePolicy, err = a.policyOfType(r.Context(), &changed)
	default:
		name := ""
		if name, err = policyField.Text(0); err != nil {
			return err
		}
		changed.ArchivePolicy, err = a.Index.ArchivePolicy(name)
	}
	if err != nil {
		return web.RefusedCause(err)
	}
	if preview && moved {
		shown := model.PreviewRebuild(metric.ArchivePolicy, changed.ArchivePolicy)
		shown.Affected = 1
		return web.WriteJSON(w, http.StatusOK, shown)
	}
	answer := &changed
	if typed && !preview {
		answer, err = a.Index.SetMetricType(r.Context(), metric.ID, changed.Type)
	}
	if after > 0 && err == nil && !preview {
		answer = metric
		job, err = a.Index.PlanMetric(r.Context(), metric.ID, changed.ArchivePolicy.Name, a.Now().Add(after))
	} else if err == nil && !preview && (moved || changed.ArchivePolicy.Name != metric.ArchivePolicy.Name) {
		answer, job, err = a.Index.ChangeMetric(r.Context(), metric.ID, changed.ArchivePolicy.Name, a.Now())
	}
	if err != nil {
		return err
	}
	if job != nil {
		a.SetLocation(w, r, "rebuild", job.ID.String())
	}
	return a.write(w, http.StatusOK, answer)
}

// policyOfType returns the archive policy of a metric with a new type. A series of the default policy that grows gets
// that of counters, unless it would lose aggregates there.
func (a *api) policyOfType(ctx context.Context, m *model.Metric) (*model.ArchivePolicy, error) {
	t, _ := a.series.TypeOf(m)
	if m.Labels == "" || !t.Grows() || m.ArchivePolicy.Name != model.SeriesArchivePolicy().Name {
		return m.ArchivePolicy, nil
	}
	p, err := a.ingester.PolicyOfSeries(ctx, t)
	if err == nil && model.PreviewRebuild(m.ArchivePolicy, p).Loses() {
		p = m.ArchivePolicy
	}
	return p, err
}
