package client

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/gnocco-db/gnocco/internal/pause"
)

// EnsureSeries returns the metric with these labels, its name among them as __name__, which it creates if it is not
// there. One that it has created has its ID even with an error.
func (c *Client) EnsureSeries(ctx context.Context, labels map[string]string, create NewMetric) (found *Metric,
	created bool, err error) {
	var answer struct {
		ID         string `json:"id"`
		PolicyName string `json:"archive_policy_name"`
	}
	body := struct {
		NewMetric
		Labels map[string]string `json:"labels"`
	}{create, labels}
	err = c.Do(ctx, http.MethodPost, "/v1/metric", body, &answer)
	var refused *StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest &&
		strings.Contains(refused.Description, "already exists") {
		found, err = c.series(ctx, labels)
		return found, false, err
	}
	if err != nil {
		return nil, false, err
	}
	found = &Metric{ID: answer.ID}
	policy, err := c.knownPolicy(ctx, answer.PolicyName)
	if err == nil {
		found.ArchivePolicy = *policy
	}
	return found, true, err
}

// series returns the metric that exactly these labels have.
func (c *Client) series(ctx context.Context, labels map[string]string) (*Metric, error) {
	query := url.Values{}
	for name, value := range labels {
		query.Set("labels."+name, value)
	}
	for {
		var page []Metric
		if err := c.Do(ctx, http.MethodGet, "/v1/metric?"+query.Encode(), nil, &page); err != nil {
			return nil, err
		}
		for i := range page {
			if maps.Equal(page[i].Labels, labels) {
				return &page[i], nil
			}
		}
		if len(page) == 0 {
			return nil, fmt.Errorf("client: the series %v belongs to another user", labels)
		}
		query.Set("marker", page[len(page)-1].ID)
	}
}

// knownPolicy returns an archive policy, and asks for it once.
func (c *Client) knownPolicy(ctx context.Context, name string) (*ArchivePolicy, error) {
	if known, ok := c.policies.Load(name); ok {
		return known.(*ArchivePolicy), nil
	}
	policy, err := c.ArchivePolicy(ctx, name)
	if err == nil {
		c.policies.Store(name, policy)
	}
	return policy, err
}

// firstPause is the wait before the first repetition; each time it doubles.
const (
	firstPause = 100 * time.Millisecond
	tries      = 7 // over 6.3 s in all
)

// SendMeasures posts a batch: {metric UUID: [{"timestamp", "value"}]}, as JSON. When the server is not reached, or
// busy, it tries again for some seconds: measures sent twice count once.
func (c *Client) SendMeasures(ctx context.Context, batch []byte) error {
	return again(ctx, func() error {
		return c.send(ctx, http.MethodPost, "/v1/batch/metrics/measures", batch, nil)
	})
}

// again repeats a request, which may be repeated, for some seconds while it may succeed later.
func again(ctx context.Context, request func() error) error {
	for try, wait := 1, firstPause; ; try, wait = try+1, 2*wait {
		err := request()
		if err == nil || try == tries || !mayPass(err) || ctx.Err() != nil {
			return err
		}
		if pause.For(ctx, wait) != nil {
			return err
		}
	}
}

// mayPass reports whether the same request may succeed later.
func mayPass(err error) bool {
	var answer *StatusError
	if !errors.As(err, &answer) {
		return true
	}
	switch answer.Status {
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}
