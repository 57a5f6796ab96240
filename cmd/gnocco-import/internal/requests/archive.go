package requests

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/gnocco-db/gnocco/internal/client"
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
	err := client.Again(ctx, func() error {
		return c.Do(ctx, http.MethodGet, "/v1/metric/"+metric+"/archive?refresh=true", nil, &answer)
	})
	if client.HasStatus(err, http.StatusNotFound) {
		return nil, nil
	}
	return &answer, err
}

// mostContentTries bounds how often a content is read that changes meanwhile.
const mostContentTries = 20

// ArchiveContent returns the content of a metric's archive, in parts.
func (c *Client) ArchiveContent(ctx context.Context, metric string) (parts [][]byte, err error) {
	for range mostContentTries {
		if parts, err = c.archiveContent(ctx, metric); !client.HasStatus(err, http.StatusConflict) {
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
		err := client.Again(ctx, func() error {
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
		err := client.Again(ctx, func() error {
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

// Filled is what became of measures, or groups, that were sent as history.
type Filled struct {
	Refused       int
	RefusedBlocks []string `json:"refused_blocks"` // starts of periods of the coarsest granularity
}

// Fill puts a list of measures, or groups, of any age into the periods of the coarsest granularity in which a metric
// has nothing. The body has all of a period that it has a measure of.
func (c *Client) Fill(ctx context.Context, metric string, body []byte) (done Filled, err error) {
	err = client.Again(ctx, func() error {
		return c.Do(ctx, http.MethodPut, "/v1/metric/"+metric+"/measures?where=empty", json.RawMessage(body), &done)
	})
	return done, err
}

// DeleteMetric deletes a metric.
func (c *Client) DeleteMetric(ctx context.Context, metric string) error {
	return c.Do(ctx, http.MethodDelete, "/v1/metric/"+metric, nil, nil)
}
