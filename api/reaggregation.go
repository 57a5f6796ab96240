package api

import (
	"net/http"
	"time"

	"github.com/google/uuid"

	"gnocco/model"
)

// reaggregationJSON is a reaggregation as the API shows it.
type reaggregationJSON struct {
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
	Fault         *string    `json:"fault"`
}

func showReaggregation(r *model.Reaggregation) *reaggregationJSON {
	shown := &reaggregationJSON{ID: r.ID, ArchivePolicy: orNull(r.ArchivePolicy), State: string(r.State), StartedAt: r.Started,
		Metrics: r.Metrics, Changed: r.Changed, Unchanged: r.Unchanged, Failed: r.Failed, Fault: orNull(r.Fault)}
	if r.Metric != uuid.Nil {
		shown.Metric = &r.Metric
	}
	if !r.Finished.IsZero() {
		shown.FinishedAt = &r.Finished
	}
	return shown
}

func (a *api) listReaggregations(w http.ResponseWriter, r *http.Request, _ *Identity) error {
	jobs, err := a.Index.Reaggregations(r.Context())
	if err != nil {
		return err
	}
	shown := []*reaggregationJSON{}
	for _, job := range jobs {
		shown = append(shown, showReaggregation(job))
	}
	return writeJSON(w, http.StatusOK, shown)
}

// findReaggregation returns the one that the path names.
func (a *api) findReaggregation(r *http.Request) (*model.Reaggregation, error) {
	text := param(r, "id")
	id, err := uuid.Parse(text)
	if err != nil {
		return nil, model.NotFound(model.NounReaggregation, text)
	}
	return a.Index.Reaggregation(id)
}

func (a *api) getReaggregation(w http.ResponseWriter, r *http.Request, _ *Identity) error {
	job, err := a.findReaggregation(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, showReaggregation(job))
}

// createReaggregation starts the reaggregation of a policy's metrics, or of one, as policies are: as after one that was cancelled.
func (a *api) createReaggregation(w http.ResponseWriter, r *http.Request, _ *Identity) error {
	fields, err := a.decodeFields(w, r, "archive_policy_name", "metric_id")
	if err != nil {
		return err
	}
	if len(fields) != 1 {
		return badRequest("One of archive_policy_name and metric_id is needed")
	}
	var job *model.Reaggregation
	if field, ok := fields["archive_policy_name"]; ok {
		name, err := field.text(0)
		if err != nil {
			return err
		}
		if job, err = a.Index.ReaggregatePolicy(r.Context(), name, a.Now()); err != nil {
			return refusedCause(err)
		}
	} else {
		text, err := fields["metric_id"].text(0)
		if err != nil {
			return err
		}
		id, err := model.ParseUUID(text)
		if err != nil {
			return fields["metric_id"].fault("not a valid value")
		}
		metric, err := a.Index.Metric(id)
		if err != nil {
			return refusedCause(err)
		}
		if _, job, err = a.Index.ChangeMetric(r.Context(), id, metric.ArchivePolicy.Name, a.Now()); err != nil {
			return refusedCause(err)
		}
	}
	a.setLocation(w, r, "reaggregation", job.ID.String())
	return writeJSON(w, http.StatusAccepted, showReaggregation(job))
}

// cancelReaggregation ends one. It stays to be seen, and may be started again.
func (a *api) cancelReaggregation(w http.ResponseWriter, r *http.Request, _ *Identity) error {
	job, err := a.findReaggregation(r)
	if err != nil {
		return err
	}
	if _, err := a.Index.CancelReaggregation(r.Context(), job.ID, a.Now()); err != nil {
		return err
	}
	w.WriteHeader(http.StatusNoContent)
	return nil
}

// decodeChange reads a request to change what is there: its body's fields, and whether what it would do is only to be shown.
func (a *api) decodeChange(w http.ResponseWriter, r *http.Request, names ...string) (preview bool, fields map[string]input, err error) {
	if preview, err = parseBool(r.URL.Query(), "dry_run", false); err != nil {
		return false, nil, err
	}
	fields, err = a.decodeFields(w, r, names...)
	return preview, fields, err
}

// changeArchivePolicy gives a policy other granularities or methods, and starts the reaggregation of its metrics.
func (a *api) changeArchivePolicy(w http.ResponseWriter, r *http.Request, name string) error {
	preview, fields, err := a.decodeChange(w, r, "definition", "back_window", "aggregation_methods")
	if err != nil {
		return err
	}
	if len(fields) == 0 {
		return input{}.at(nil, "definition").fault("required key not provided")
	}
	var definition []model.DefinitionInput
	var backWindow *int
	var methods []string
	if field, ok := fields["definition"]; ok {
		if definition, err = parseDefinition(field); err != nil {
			return err
		}
	}
	if field, ok := fields["back_window"]; ok {
		n, err := parseBackWindow(field)
		if err != nil {
			return err
		}
		backWindow = &n
	}
	if field, ok := fields["aggregation_methods"]; ok {
		if methods, err = parseMethods(field); err != nil {
			return err
		}
	}
	change := func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
		return old.Change(backWindow, definition, methods)
	}
	if preview {
		return a.previewPolicy(w, r, name, change)
	}
	policy, job, err := a.Index.ChangeArchivePolicy(r.Context(), name, a.Now(), change)
	if err != nil {
		return err
	}
	if job != nil {
		a.setLocation(w, r, "reaggregation", job.ID.String())
	}
	return writeJSON(w, http.StatusOK, policy)
}

// previewPolicy shows what changing a policy would do.
func (a *api) previewPolicy(w http.ResponseWriter, r *http.Request, name string,
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
	if err != nil {
		return err
	}
	shown := model.PreviewReaggregation(old, changed)
	shown.Affected = len(ids)
	return writeJSON(w, http.StatusOK, shown)
}

// changeMetric gives a metric another archive policy, and starts its reaggregation.
func (a *api) changeMetric(w http.ResponseWriter, r *http.Request, _ *Identity, metric *model.Metric) error {
	preview, fields, err := a.decodeChange(w, r, "archive_policy_name*")
	if err != nil {
		return err
	}
	name, err := fields["archive_policy_name"].text(0)
	if err != nil {
		return err
	}
	policy, err := a.Index.ArchivePolicy(name)
	if err != nil {
		return refusedCause(err)
	}
	if preview {
		shown := model.PreviewReaggregation(metric.ArchivePolicy, policy)
		shown.Affected = 1
		return writeJSON(w, http.StatusOK, shown)
	}
	changed, job, err := a.Index.ChangeMetric(r.Context(), metric.ID, name, a.Now())
	if err != nil {
		return err
	}
	a.setLocation(w, r, "reaggregation", job.ID.String())
	answer := struct {
		metricJSON
		ResourceID *uuid.UUID `json:"resource_id"`
	}{showMetric(changed), changed.ResourceID}
	answer.ArchivePolicyName = name
	return writeJSON(w, http.StatusOK, answer)
}
