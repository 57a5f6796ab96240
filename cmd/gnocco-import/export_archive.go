package main

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"

	"github.com/gnocco-db/gnocco/cmd/gnocco-client/series"
	"github.com/gnocco-db/gnocco/cmd/gnocco-import/internal/requests"
	"github.com/gnocco-db/gnocco/internal/client"
)

// archiveLine is a line of an export of archives, which has one of its members. Content belongs to the metric before.
type archiveLine struct {
	Policy   *client.ArchivePolicy `json:"archive_policy,omitempty"`
	Rule     json.RawMessage       `json:"archive_policy_rule,omitempty"`
	Type     *resourceType         `json:"resource_type,omitempty"`
	Resource map[string]any        `json:"resource,omitempty"`
	Metric   *archivedMetric       `json:"metric,omitempty"`
	Parts    int                   `json:"parts,omitempty"` // how many lines of content follow the metric
	Left     int                   `json:"left,omitempty"`  // how many metrics follow it
	Content  []byte                `json:"content,omitempty"`
}

type resourceType struct {
	Name       string          `json:"name"`
	Attributes json.RawMessage `json:"attributes"`
}

type archivedMetric struct {
	client.NewMetric
	Name     string            `json:"name,omitempty"`
	Resource string            `json:"resource,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
}

// archiveExport writes metrics with all that they are, down to the bytes of their archives.
type archiveExport struct {
	client    *requests.Client
	lines     *json.Encoder
	policies  map[string]bool
	types     map[string]bool
	resources map[string]bool // by UUID
	left      int             // metrics that are not written
}

// exportArchives begins an export of so many metrics, with all policies, rules and types of resources if everything is
// exported.
func exportArchives(ctx context.Context, c *client.Client, out io.Writer, metrics int, everything bool) (
	*archiveExport, error) {
	e := &archiveExport{requests.New(c), json.NewEncoder(out), make(map[string]bool), make(map[string]bool),
		make(map[string]bool), metrics}
	e.lines.SetEscapeHTML(false)
	if !everything {
		return e, nil
	}
	policies, err := c.ArchivePolicies(ctx)
	if err != nil {
		return nil, err
	}
	for i := range policies {
		if err := e.policy(&policies[i]); err != nil {
			return nil, err
		}
	}
	var rules []json.RawMessage
	if err := c.Do(ctx, http.MethodGet, "/v1/archive_policy_rule", nil, &rules); err != nil {
		return nil, err
	}
	for _, rule := range rules {
		if err := e.lines.Encode(&archiveLine{Rule: rule}); err != nil {
			return nil, err
		}
	}
	var types []resourceType
	if err := c.Do(ctx, http.MethodGet, "/v1/resource_type", nil, &types); err != nil {
		return nil, err
	}
	for i := range types {
		if err := e.resourceType(ctx, types[i].Name, &types[i]); err != nil {
			return nil, err
		}
	}
	return e, nil
}

func (e *archiveExport) policy(p *client.ArchivePolicy) error {
	if e.policies[p.Name] {
		return nil
	}
	e.policies[p.Name] = true
	return e.lines.Encode(&archiveLine{Policy: p})
}

// resourceType writes a type that was not written yet. known is what the server says of it, nil to ask.
func (e *archiveExport) resourceType(ctx context.Context, name string, known *resourceType) error {
	if e.types[name] || name == "generic" {
		return nil
	}
	e.types[name] = true
	if known == nil {
		known = new(resourceType)
		if err := e.client.Do(ctx, http.MethodGet, "/v1/resource_type/"+url.PathEscape(name), nil, known); err != nil {
			return err
		}
	}
	return e.lines.Encode(&archiveLine{Type: known})
}

// notOfNewResources are the members of a resource that a new one is not created with.
var notOfNewResources = []string{"original_resource_id", "creator", "created_by_user_id", "created_by_project_id",
	"revision_start", "revision_end", "metrics"}

// resource writes a resource that was not written yet, after its type.
func (e *archiveExport) resource(ctx context.Context, kind, id, original string) error {
	if e.resources[id] {
		return nil
	}
	e.resources[id] = true
	if err := e.resourceType(ctx, kind, nil); err != nil {
		return err
	}
	var resource map[string]any
	path := "/v1/resource/" + url.PathEscape(kind) + "/" + id
	if err := e.client.Do(ctx, http.MethodGet, path, nil, &resource); err != nil {
		return err
	}
	for _, name := range notOfNewResources {
		delete(resource, name)
	}
	for name, value := range resource {
		if value == nil {
			delete(resource, name)
		}
	}
	resource["id"] = original
	return e.lines.Encode(&archiveLine{Resource: resource})
}

// metric writes a metric, after its policy and its resource.
func (e *archiveExport) metric(ctx context.Context, s *series.Series) error {
	var metric struct {
		client.Metric
		Resource *struct {
			ID       string `json:"id"`
			Original string `json:"original_resource_id"`
		} `json:"resource"`
	}
	if err := e.client.Do(ctx, http.MethodGet, "/v1/metric/"+s.ID, nil, &metric); err != nil {
		return err
	}
	if err := e.policy(&metric.ArchivePolicy); err != nil {
		return err
	}
	line := &archivedMetric{NewMetric: client.NewMetric{ArchivePolicy: metric.ArchivePolicy.Name, Unit: metric.Unit,
		Type: metric.Type}, Name: metric.Name, Labels: metric.Labels}
	if r := metric.Resource; r != nil {
		if err := e.resource(ctx, s.Kind, r.ID, r.Original); err != nil {
			return err
		}
		line.Resource = r.Original
	}
	parts, err := e.client.ArchiveContent(ctx, s.ID)
	if err != nil {
		return err
	}
	e.left--
	if err := e.lines.Encode(&archiveLine{Metric: line, Parts: len(parts), Left: e.left}); err != nil {
		return err
	}
	for _, part := range parts {
		if err := e.lines.Encode(&archiveLine{Content: part}); err != nil {
			return err
		}
	}
	return nil
}
