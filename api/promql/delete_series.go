package promql

import (
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/google/uuid"
)

// deleteSeries deletes the measures of series from start to end, both included as in Prometheus. A group that begins at
// end stays where its measures are gone. The user needs the rule "delete series" and, for each metric, the right to
// delete it.
func (a Handlers) deleteSeries(r *request) (*Answer, error) {
	if err := a.Enforce(r.who, "delete series", nil); err != nil {
		return nil, &Error{http.StatusForbidden, Unauthorized, errors.New(`the rule "delete series" forbids it`)}
	}
	lists := a.neededMatchers(r)
	start, end := r.Time("start", time.Unix(0, 0)), r.Time("end", latest)
	if end.Before(start) || end.Unix() < 0 {
		r.refuse(invalid("end", errEndsEarly))
	}
	if r.fault != nil {
		return nil, r.fault
	}
	var metrics []uuid.UUID
	for _, list := range lists {
		found, err := a.Series.Select(r.Context(), a.VisibleSeries(r.who, "delete metric"), list...)
		if err != nil {
			return nil, err
		}
		for _, one := range found {
			metrics = append(metrics, one.Metric.ID)
		}
	}
	warning, err := a.Delete(r.Context(), r.who, "series "+strings.Join(r.Form["match[]"], " or "), metrics, start, end)
	if warning != "" {
		return &Answer{Warnings: []string{warning}}, err
	}
	return &Answer{Empty: true}, err
}
