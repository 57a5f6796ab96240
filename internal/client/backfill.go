package client

import (
	"context"
	"net/http"
	"net/url"
)

// CreateBackfill creates a metric that takes the history of another one, and returns its UUID. ok is false, with the
// reason, if the server cannot do so for that metric, or not for this user.
func (c *Client) CreateBackfill(ctx context.Context, metric string) (history string, ok bool, err error) {
	var answer struct {
		ID string `json:"id"`
	}
	err = c.Do(ctx, http.MethodPost, "/v1/metric/"+metric+"/backfill", nil, &answer)
	if HasStatus(err, http.StatusBadRequest) || HasStatus(err, http.StatusForbidden) ||
		HasStatus(err, http.StatusNotFound) || HasStatus(err, http.StatusMethodNotAllowed) {
		return "", false, err
	}
	return answer.ID, true, err
}

// Backfill moves the history that CreateBackfill's metric has into the metric. It returns the starts of the periods,
// of the coarsest granularity, that the metric has other measures in: these are not moved.
func (c *Client) Backfill(ctx context.Context, metric, history string) (refused []string, err error) {
	path := "/v1/metric/" + metric + "/backfill/" + history
	for step := path; ; {
		var answer struct {
			Refused []string `json:"refused"`
			Next    *string  `json:"next"`
		}
		err := again(ctx, func() error { return c.Do(ctx, http.MethodPost, step, nil, &answer) })
		if err != nil {
			return nil, err
		}
		refused = append(refused, answer.Refused...)
		if answer.Next == nil {
			return refused, nil
		}
		step = path + "?start=" + url.QueryEscape(*answer.Next)
	}
}

// DeleteMetric deletes a metric.
func (c *Client) DeleteMetric(ctx context.Context, metric string) error {
	return c.Do(ctx, http.MethodDelete, "/v1/metric/"+metric, nil, nil)
}
