package client

import (
	"context"
	"net/http"
	"net/url"
	"slices"
)

// EnsureArchivePolicy creates an archive policy, given as the API wants it, unless one of that name is there.
func (c *Client) EnsureArchivePolicy(ctx context.Context, name string, policy any) error {
	err := c.Do(ctx, http.MethodGet, "/v1/archive_policy/"+url.PathEscape(name), nil, nil)
	if HasStatus(err, http.StatusNotFound) {
		err = c.Do(ctx, http.MethodPost, "/v1/archive_policy", policy, nil)
		if HasStatus(err, http.StatusConflict) { // somebody else did
			err = nil
		}
	}
	return err
}

// EnsureResource returns the UUID of the generic resource id, which it creates if it is not there. The id may be any
// text.
func (c *Client) EnsureResource(ctx context.Context, id string) (string, error) {
	var resource struct {
		ID string `json:"id"`
	}
	path := "/v1/resource/generic/" + url.PathEscape(id)
	err := c.Do(ctx, http.MethodGet, path, nil, &resource)
	if HasStatus(err, http.StatusNotFound) {
		err = c.Do(ctx, http.MethodPost, "/v1/resource/generic", map[string]string{"id": id}, &resource)
		if HasStatus(err, http.StatusConflict) {
			err = c.Do(ctx, http.MethodGet, path, nil, &resource)
		}
	}
	return resource.ID, err
}

// Metric is what a list of metrics says of one.
type Metric struct {
	ID            string            `json:"id"`
	Name          string            `json:"name"`
	Unit          string            `json:"unit"`
	Type          string            `json:"type"`
	Labels        map[string]string `json:"labels"`
	ArchivePolicy ArchivePolicy     `json:"archive_policy"`
}

// ArchivePolicy is a metric's archive policy.
type ArchivePolicy struct {
	Name       string   `json:"name"`
	BackWindow int      `json:"back_window"`
	Methods    []string `json:"aggregation_methods"`
	Definition []struct {
		Granularity string  `json:"granularity"`
		Points      *int64  `json:"points,omitempty"`
		Timespan    *string `json:"timespan,omitempty"` // nil: without limit
	} `json:"definition"`
}

// ArchivePolicy returns an archive policy by its name.
func (c *Client) ArchivePolicy(ctx context.Context, name string) (*ArchivePolicy, error) {
	policy := new(ArchivePolicy)
	return policy, c.Do(ctx, http.MethodGet, "/v1/archive_policy/"+url.PathEscape(name), nil, policy)
}

// ArchivePolicies returns all archive policies.
func (c *Client) ArchivePolicies(ctx context.Context) (policies []ArchivePolicy, err error) {
	return policies, c.Do(ctx, http.MethodGet, "/v1/archive_policy", nil, &policies)
}

// EnsureMetrics returns the UUIDs of all metrics of a resource by their names. It creates missing metrics as described.
func (c *Client) EnsureMetrics(ctx context.Context, resource string, names []string,
	describe func(name string) NewMetric) (map[string]string, error) {
	metrics, err := c.Metrics(ctx, resource)
	if err != nil {
		return nil, err
	}
	missing := slices.DeleteFunc(slices.Clone(names), func(name string) bool { return metrics[name] != nil })
	if len(missing) > 0 {
		create := make(map[string]NewMetric, len(missing))
		for _, name := range missing {
			create[name] = describe(name)
		}
		if metrics, err = c.CreateMetrics(ctx, resource, create); err != nil {
			return nil, err
		}
	}
	ids := make(map[string]string, len(metrics))
	for name, metric := range metrics {
		ids[name] = metric.ID
	}
	return ids, nil
}

// NewMetric describes a metric that is to be created. The archive policy "" leaves the choice to the server's rules.
type NewMetric struct {
	ArchivePolicy string `json:"archive_policy_name,omitempty"`
	Unit          string `json:"unit,omitempty"`
	Type          string `json:"type,omitempty"`
}

// CreateMetrics creates metrics of a resource by name, and returns all that it has then.
func (c *Client) CreateMetrics(ctx context.Context, resource string, create map[string]NewMetric) (
	map[string]*Metric, error) {
	if err := c.Do(ctx, http.MethodPost, metricsPath(resource), create, nil); err != nil {
		return nil, err
	}
	return c.Metrics(ctx, resource)
}

// Metrics returns the metrics of a resource by name.
func (c *Client) Metrics(ctx context.Context, resource string) (map[string]*Metric, error) {
	var metrics []*Metric
	if err := c.Do(ctx, http.MethodGet, metricsPath(resource), nil, &metrics); err != nil {
		return nil, err
	}
	named := make(map[string]*Metric, len(metrics))
	for _, metric := range metrics {
		named[metric.Name] = metric
	}
	return named, nil
}

func metricsPath(resource string) string {
	return "/v1/resource/generic/" + url.PathEscape(resource) + "/metric"
}
