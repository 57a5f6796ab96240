package api

import (
	"errors"
	"net/http"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/api/auth"
	"github.com/gnocco-db/gnocco/api/web"
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
	may := a.PermittedMetrics(who, "delete metric")
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
		return web.RefusedCause(err)
	}
	a.SetLocation(w, r, "metric", history.ID.String())
	return web.WriteJSON(w, http.StatusCreated, struct {
		ID uuid.UUID `json:"id"`
	}{history.ID})
}

// backfill serves POST /v1/metric/{id}/backfill/{from}: one step.
func (a metricHandlers) backfill(w http.ResponseWriter, r *http.Request, who *auth.Identity,
	metric *model.Metric) error {
	id, err := model.ParseUUID(web.Param(r, "from"))
	if err != nil {
		return model.NotFound(model.NounMetric, web.Param(r, "from"))
	}
	at := carbonara.Timestamp(0)
	if text := r.URL.Query().Get("start"); text != "" {
		if at, err = model.ParseTimestamp(text, carbonara.FromTime(a.Now())); err != nil {
			return web.BadRequest("Invalid value for start")
		}
	}
	history, err := a.findMetric(r.Context(), id)
	if err != nil {
		return err
	}
	if history == nil {
		return model.NotFound(model.NounMetric, id.String())
	}
	if err := a.Enforce(who, "get measures", a.MetricTarget(history)); err != nil {
		return err
	}
	if history.Name != model.HistoryName(metric.ID) || history.ResourceID != nil {
		return web.BadRequest("Metric %v was not created by a backfill of this metric", id)
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
		answer.Refused = append(answer.Refused, web.ShowTime(start))
	}
	if done.Next > 0 {
		next := web.ShowTime(done.Next)
		answer.Next = &next
	}
	return web.WriteJSON(w, http.StatusOK, answer)
}
