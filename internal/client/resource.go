package client

import (
	"context"
	"net/http"
	"net/url"
)

// EnsureArchivePolicy creates an archive policy, given as the API wants it, unless one of that name is there.
func (c *Client) EnsureArchivePolicy(ctx context.Context, name string, policy any) error {
	err := c.Do(ctx, http.MethodGet, "/v1/archive_policy/"+url.PathEscape(name), nil, nil)
	if hasStatus(err, http.StatusNotFound) {
		err = c.Do(ctx, http.MethodPost, "/v1/archive_policy", policy, nil)
		if hasStatus(err, http.StatusConflict) { // somebody else did
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
	if hasStatus(err, http.StatusNotFound) {
		err = c.Do(ctx, http.MethodPost, "/v1/resource/generic", map[string]string{"id": id}, &resource)
		if hasStatus(err, http.StatusConflict) {
			err = c.Do(ctx, http.MethodGet, path, nil, &resource)
		}
	}
	return resource.ID, err
}

// EnsureMetrics returns the UUIDs of all metrics of a resource by their names. Those of names that are not there it
// creates with the archive policy; "" leaves the choice to the server's rules.
func (c *Client) EnsureMetrics(ctx context.Context, resource string, names []string, archivePolicy string) (
	map[string]string, error) {
	path := "/v1/resource/generic/" + url.PathEscape(resource) + "/metric"
	ids, err := c.metrics(ctx, path)
	if err != nil {
		return nil, err
	}
	missing := make(map[string]map[string]string)
	for _, name := range names {
		if _, ok := ids[name]; !ok {
			missing[name] = map[string]string{}
			if archivePolicy != "" {
				missing[name]["archive_policy_name"] = archivePolicy
			}
		}
	}
	if len(missing) == 0 {
		return ids, nil
	}
	if err := c.Do(ctx, http.MethodPost, path, missing, nil); err != nil {
		return nil, err
	}
	return c.metrics(ctx, path)
}

func (c *Client) metrics(ctx context.Context, path string) (map[string]string, error) {
	var metrics []struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	}
	if err := c.Do(ctx, http.MethodGet, path, nil, &metrics); err != nil {
		return nil, err
	}
	ids := make(map[string]string, len(metrics))
	for _, metric := range metrics {
		ids[metric.Name] = metric.ID
	}
	return ids, nil
}
