package client

import (
	"context"
	"net/http"
	"net/url"
)

// Archive is what a server says of a metric's archive.
type Archive struct {
	Raw struct {
		KeptFrom *string `json:"kept_from"` // older measures are dropped; nil without measures
		Newest   *string `json:"newest"`    // time of the newest measure; nil for none
	} `json:"raw"`
	Dropped int64 `json:"dropped_measures"` // older than the back window, ever
}

// Archive returns what the server says of a metric's archive, once all that it accepted is processed; nil if the server
// does not know of archives, as Gnocchi does not.
func (c *Client) Archive(ctx context.Context, metric string) (*Archive, error) {
	var answer Archive
	err := again(ctx, func() error {
		return c.Do(ctx, http.MethodGet, "/v1/metric/"+metric+"/archive?refresh=true", nil, &answer)
	})
	if HasStatus(err, http.StatusNotFound) {
		return nil, nil
	}
	return &answer, err
}

// mostContentTries bounds how often a content is read that changes meanwhile.
const mostContentTries = 20

// ArchiveContent returns the content of a metric's archive, in parts.
func (c *Client) ArchiveContent(ctx context.Context, metric string) (parts [][]byte, err error) {
	for range mostContentTries {
		if parts, err = c.archiveContent(ctx, metric); !HasStatus(err, http.StatusConflict) {
			break
		}
	}
	return parts, err
}

func (c *Client) archiveContent(ctx context.Context, metric string) (parts [][]byte, err error) {
	for after := ""; ; {
		var answer struct {
			Content []byte `json:"content"`
			Next    string `json:"next"`
		}
		err := again(ctx, func() error {
			return c.Do(ctx, http.MethodGet, contentPath(metric)+"?after="+url.QueryEscape(after), nil, &answer)
		})
		if err != nil {
			return nil, err
		}
		if parts = append(parts, answer.Content); answer.Next == "" {
			return parts, nil
		}
		after = answer.Next
	}
}

// PutArchiveContent puts the content of another metric's archive into a metric without measures. It reports whether any
// of it was new.
func (c *Client) PutArchiveContent(ctx context.Context, metric string, parts [][]byte) (written bool, err error) {
	for _, part := range parts {
		var answer struct {
			Written int `json:"written"`
		}
		err := again(ctx, func() error {
			return c.Do(ctx, http.MethodPut, contentPath(metric), map[string][]byte{"content": part}, &answer)
		})
		if err != nil {
			return written, err
		}
		written = written || answer.Written > 0
	}
	return written, nil
}

func contentPath(metric string) string { return "/v1/metric/" + metric + "/archive/content" }

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
