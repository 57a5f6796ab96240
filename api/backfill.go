package api

import (
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
)

// createBackfill serves POST /v1/metric/{id}/backfill: it creates the metric that takes the history of another one.
// It deletes those that the user left behind: they may lack measures that were to be sent.
func (a metricHandlers) createBackfill(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	metric *model.Metric) error {
	if err := metric.ArchivePolicy.CanBackfill(); err != nil {
		return err
	}
	history := &model.Metric{Creator: who.User, Name: model.HistoryName(metric.ID), ArchivePolicy: metric.ArchivePolicy}
	may := a.permittedMetrics(who, "delete metric")
	left, err := a.Index.ListMetrics(r.Context(), index.MetricQuery{Name: &history.Name, Creator: &who.User,
		Visible: func(m *model.Metric) bool { return m.ResourceID == nil && may(m) }})
	if err != nil {
		return err
	}
	for _, m := range left {
		if err := a.Index.DeleteMetric(r.Context(), m.ID); err != nil && !errors.Is(err, model.ErrNotFound) {
			return err
		}
	}
	for history.ID == uuid.Nil || a.reader.Archives.Sack(history.ID) != a.reader.Archives.Sack(metric.ID) {
		history.ID = uuid.New()
	}
	if err := a.Index.CreateMetric(r.Context(), history); err != nil {
		return refusedCause(err)
	}
	a.setLocation(w, r, "metric", history.ID.String())
	return writeJSON(w, http.StatusCreated, struct {
		ID uuid.UUID `json:"id"`
	}{history.ID})
}

// backfill serves POST /v1/metric/{id}/backfill/{from}: one step.
func (a metricHandlers) backfill(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	metric *model.Metric) error {
	id, err := model.ParseUUID(param(r, "from"))
	if err != nil {
		return model.NotFound(model.NounMetric, param(r, "from"))
	}
	at := carbonara.Timestamp(0)
	if text := r.URL.Query().Get("start"); text != "" {
		if at, err = model.ParseTimestamp(text, carbonara.FromTime(a.now())); err != nil {
			return badRequest("Invalid value for start")
		}
	}
	history, err := a.findMetric(r.Context(), id)
	if err != nil {
		return err
	}
	if history == nil {
		return model.NotFound(model.NounMetric, id.String())
	}
	if err := a.enforce(who, "get measures", a.metricTarget(history)); err != nil {
		return err
	}
	if history.Name != model.HistoryName(metric.ID) || history.ResourceID != nil {
		return badRequest("Metric %v was not created by a backfill of this metric", id)
	}
	if at == 0 {
		if err := a.reader.Refresh(r.Context(), metric, history); err != nil {
			return err
		}
	}
	done, err := a.reader.Archives.Backfill(r.Context(), metric.ID, history.ID, at)
	if err != nil {
		return err
	}
	answer := struct {
		Moved   int      `json:"moved"`
		Known   int      `json:"known"`
		Refused []string `json:"refused"`
		Next    *string  `json:"next"`
	}{Moved: done.Moved, Known: done.Known, Refused: []string{}}
	for _, start := range done.Refused {
		answer.Refused = append(answer.Refused, showTime(start))
	}
	if done.Next > 0 {
		next := showTime(done.Next)
		answer.Next = &next
	}
	return writeJSON(w, http.StatusOK, answer)
}
