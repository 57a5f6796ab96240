package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// CreateResource keeps r and, with it or not at all, creates the new metrics, each named, and attaches the metrics in
// r.Metrics: existing ones of the same creator, which get that name and leave any other resource. It returns a
// *model.FieldError, a model.ErrExists for the ID or a metric name given twice, or a model.ErrNotFound for a metric to
// attach or an archive policy. r and metrics stay the caller's.
func (s *Store) CreateResource(ctx context.Context, r *model.Resource, metrics []*model.Metric) error {
	if err := r.Validate(); err != nil {
		return err
	}
	owned := make([]*model.Metric, len(metrics))
	for i, m := range metrics {
		if _, ok := r.Metrics[m.Name]; ok {
			return model.Exists(model.NounNamedMetric, m.Name)
		}
		of := *m
		of.ResourceID = &r.ID
		owned[i] = &of
	}
	var attached []uuid.UUID
	var created []*model.Metric
	var seen uint64
	err := s.write(ctx, func(c *change) error {
		seen = s.cache.generation.Load()
		exists, err := s.has(idKey(prefixResource, r.ID))
		if err != nil {
			return err
		}
		if exists {
			return model.Exists(model.NounResource, r.ID.String())
		}
		if created, err = s.addMetrics(c, owned, r); err != nil {
			return err
		}
		if attached, err = s.attachMetrics(c, r); err != nil {
			return err
		}
		return setResource(c.Batch, r)
	})
	if err != nil {
		return err
	}
	s.cache.insert(seen, created...)
	if len(attached) > 0 {
		s.cache.remove(attached)
	}
	return nil
}

// attachMetrics moves the metrics in r.Metrics to r and returns their IDs.
func (s *Store) attachMetrics(c *change, r *model.Resource) ([]uuid.UUID, error) {
	var attached []uuid.UUID
	for name, id := range r.Metrics {
		m, err := s.readMetric(id)
		if err != nil {
			return nil, err
		}
		if m.Deleted || m.Creator != r.Creator {
			return nil, model.NotFound(model.NounMetric, id.String())
		}
		if slices.Contains(attached, id) {
			return nil, &model.FieldError{Field: "metrics", Reason: fmt.Sprintf("metric %s is given two names", id)}
		}
		if m.ResourceID != nil {
			if err := c.Delete(namedMetricKey(*m.ResourceID, m.Name), nil); err != nil {
				return nil, err
			}
		}
		m.Name, m.ResourceID = name, &r.ID
		if err := m.Validate(); err != nil {
			return nil, err
		}
		if err := c.setMetric(m); err != nil {
			return nil, err
		}
		attached = append(attached, id)
	}
	return attached, nil
}

// Resource returns a resource of a type, or of any as "generic", with its metrics, or a model.ErrNotFound.
func (s *Store) Resource(resourceType string, id uuid.UUID) (*model.Resource, error) {
	r, err := s.readResource(id)
	if err == nil {
		err = s.readMetricsOfResource(context.Background(), r)
	}
	if err := s.durable.settle(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	if resourceType != model.GenericType && r.Type != resourceType {
		return nil, model.NotFound(model.NounResource, id.String())
	}
	return r, nil
}

// MetricsOfResource returns a resource's metrics by name; none if there is no such resource.
func (s *Store) MetricsOfResource(ctx context.Context, id uuid.UUID) ([]*model.Metric, error) {
	r := &model.Resource{ID: id}
	if err := s.readMetricsOfResource(ctx, r); err != nil {
		return nil, err
	}
	var metrics []*model.Metric
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		m, err := s.Metric(r.Metrics[name])
		switch {
		case errors.Is(err, model.ErrNotFound) || s.skipCorrupt(err): // deleted meanwhile
		case err != nil:
			return nil, err
		default:
			metrics = append(metrics, m)
		}
	}
	return metrics, s.durable.settle()
}

// ListResources returns up to limit (0: all) resources, with their metrics, in the order of their IDs, from after
// marker (zero: from the start).
func (s *Store) ListResources(ctx context.Context, limit int, marker uuid.UUID) ([]*model.Resource, error) {
	var resources []*model.Resource
	var from []byte
	if marker != uuid.Nil {
		from = append(idKey(prefixResource, marker), 0)
	}
	err := s.scan(ctx, []byte{prefixResource}, from, func(key, value []byte) (bool, error) {
		id, _ := lastID(key)
		r, err := decodeResource(id, value)
		if s.skipCorrupt(err) {
			return true, nil
		}
		if err != nil {
			return false, err
		}
		if err := s.readMetricsOfResource(ctx, r); err != nil {
			return false, err
		}
		resources = append(resources, r)
		return limit == 0 || len(resources) < limit, nil
	})
	if err := s.durable.settle(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("index: list resources: %w", err)
	}
	return resources, nil
}

// DeleteResource removes a resource and marks its metrics deleted, or returns a model.ErrNotFound.
func (s *Store) DeleteResource(ctx context.Context, id uuid.UUID) error {
	var marked []uuid.UUID
	err := s.write(ctx, func(c *change) error {
		r := &model.Resource{ID: id}
		exists, err := s.has(idKey(prefixResource, id))
		if err != nil {
			return err
		}
		if !exists {
			return model.NotFound(model.NounResource, id.String())
		}
		if err := s.readMetricsOfResource(ctx, r); err != nil {
			return err
		}
		for _, metric := range r.Metrics {
			m, err := s.readMetric(metric)
			if err != nil {
				return err
			}
			if err := c.markDeleted(m); err != nil {
				return err
			}
			marked = append(marked, metric)
		}
		return c.Delete(idKey(prefixResource, id), nil)
	})
	if err != nil {
		return err
	}
	s.cache.remove(marked)
	return nil
}

// readMetricsOfResource sets r.Metrics. What it reads need not be durable yet.
func (s *Store) readMetricsOfResource(ctx context.Context, r *model.Resource) error {
	r.Metrics = map[string]uuid.UUID{}
	prefix := idKey(prefixNamedMetric, r.ID)
	return s.scan(ctx, prefix, nil, func(key, value []byte) (bool, error) {
		id, err := uuid.FromBytes(value)
		if err != nil {
			return s.skipCorrupt(fmt.Errorf("%w: named metric of resource %s", ErrCorrupt, r.ID)), nil
		}
		r.Metrics[string(key[len(prefix):])] = id
		return true, nil
	})
}

// readResource reads a resource without its metrics. What it returns need not be durable yet.
func (s *Store) readResource(id uuid.UUID) (*model.Resource, error) {
	value, err := s.get(idKey(prefixResource, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, model.NotFound(model.NounResource, id.String())
	}
	if err != nil {
		return nil, fmt.Errorf("index: read resource %s: %w", id, err)
	}
	return decodeResource(id, value)
}

// storedResource is a resource's value; times are nanoseconds since 1970.
type storedResource struct {
	OriginalID    string               `json:"original_id"`
	Type          string               `json:"type"`
	Creator       string               `json:"creator,omitempty"`
	UserID        *string              `json:"user_id,omitempty"`
	ProjectID     *string              `json:"project_id,omitempty"`
	StartedAt     carbonara.Timestamp  `json:"started_at"`
	EndedAt       *carbonara.Timestamp `json:"ended_at,omitempty"`
	RevisionStart carbonara.Timestamp  `json:"revision_start"`
}

func setResource(b *pebble.Batch, r *model.Resource) error {
	return setJSON(b, idKey(prefixResource, r.ID), storedResource{
		OriginalID: r.OriginalID, Type: r.Type, Creator: r.Creator, UserID: r.UserID, ProjectID: r.ProjectID,
		StartedAt: r.StartedAt, EndedAt: r.EndedAt, RevisionStart: r.RevisionStart,
	})
}

func decodeResource(id uuid.UUID, value []byte) (*model.Resource, error) {
	var stored storedResource
	if err := decodeJSON(value, &stored); err != nil {
		return nil, fmt.Errorf("resource %s: %w", id, err)
	}
	return &model.Resource{
		ID: id, OriginalID: stored.OriginalID, Type: stored.Type, Creator: stored.Creator, UserID: stored.UserID,
		ProjectID: stored.ProjectID, StartedAt: stored.StartedAt, EndedAt: stored.EndedAt, RevisionStart: stored.RevisionStart,
	}, nil
}
