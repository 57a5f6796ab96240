package requests

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"github.com/gnocco-db/gnocco/internal/client"
)

// Client sends requests to one server. It may be used by several goroutines.
type Client struct {
	*client.Client

	policies sync.Map // *client.ArchivePolicy that series were created with, by name
}

// New returns a client that sends its requests by c.
func New(c *client.Client) *Client { return &Client{Client: c} }

// EnsureNamed returns the metric of a resource by its name, and creates it if it is not there.
func (c *Client) EnsureNamed(ctx context.Context, resource, name string, create client.NewMetric) (
	*client.Metric, error) {
	metric, path := new(client.Metric), "/v1/resource/generic/"+url.PathEscape(resource)+"/metric"
	get := func() error { return c.Do(ctx, http.MethodGet, path+"/"+url.PathEscape(name), nil, metric) }
	err := get()
	if client.HasStatus(err, http.StatusNotFound) {
		err = c.Do(ctx, http.MethodPost, path, map[string]client.NewMetric{name: create}, nil)
		if err == nil || client.HasStatus(err, http.StatusConflict) {
			err = get()
		}
	}
	return metric, err
}

// EnsureSeries returns the metric with these labels, its name among them as __name__, which it creates if it is not
// there. One that it has created has its ID even with an error.
func (c *Client) EnsureSeries(ctx context.Context, labels map[string]string, create client.NewMetric) (
	found *client.Metric, created bool, err error) {
	var answer struct {
		ID         string `json:"id"`
		PolicyName string `json:"archive_policy_name"`
	}
	body := struct {
		client.NewMetric
		Labels map[string]string `json:"labels"`
	}{create, labels}
	err = c.Do(ctx, http.MethodPost, "/v1/metric", body, &answer)
	var refused *client.StatusError
	if errors.As(err, &refused) && refused.Status == http.StatusBadRequest &&
		strings.Contains(refused.Description, "already exists") {
		found, err = c.series(ctx, labels)
		return found, false, err
	}
	if err != nil {
		return nil, false, err
	}
	found = &client.Metric{ID: answer.ID}
	policy, err := c.knownPolicy(ctx, answer.PolicyName)
	if err == nil {
		found.ArchivePolicy = *policy
	}
	return found, true, err
}

// series returns the metric that exactly these labels have.
func (c *Client) series(ctx context.Context, labels map[string]string) (*client.Metric, error) {
	query := url.Values{}
	for name, value := range labels {
		query.Set("labels."+name, value)
	}
	for {
		var page []client.Metric
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
func (c *Client) knownPolicy(ctx context.Context, name string) (*client.ArchivePolicy, error) {
	if known, ok := c.policies.Load(name); ok {
		return known.(*client.ArchivePolicy), nil
	}
	policy, err := c.ArchivePolicy(ctx, name)
	if err == nil {
		c.policies.Store(name, policy)
	}
	return policy, err
}
