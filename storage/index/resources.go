package index

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// NewResource is a resource to create: with it the new metrics, each named, and the metrics in Resource.Metrics
// attached, existing ones of the same creator, which get that name and leave any other resource. One that comes from
// another database brings its past states, oldest first.
type NewResource struct {
	Resource *model.Resource
	Metrics  []*model.Metric
	Past     []*model.Resource
}

// CreateResource creates one, as CreateResources does.
func (s *Store) CreateResource(ctx context.Context, r *model.Resource, metrics []*model.Metric) error {
	return s.CreateResources(ctx, []NewResource{{Resource: r, Metrics: metrics}})
}

// CreateResources creates all or, with an error, none. It returns a *model.FieldError, a model.ErrExists for an ID or a
// metric name given twice, or a model.ErrNotFound for the type, a metric to attach or an archive policy. What is given
// stays the caller's.
func (s *Store) CreateResources(ctx context.Context, given []NewResource) error {
	for _, n := range given {
		if err := n.Resource.Validate(); err != nil {
			return err
		}
	}
	// In the order of their IDs, in which their keys lie.
	given = slices.SortedFunc(slices.Values(given), func(a, b NewResource) int {
		return slices.Compare(a.Resource.ID[:], b.Resource.ID[:])
	})
	var changes metricChanges
	var seen uint64
	err := s.write(ctx, func(c *change) error {
		seen = s.cache.generation.Load()
		changes = metricChanges{}
		var value []byte
		var keys sortedKeys
		for _, n := range given {
			t, err := s.checkNewResource(c, n.Resource)
			if err != nil {
				return err
			}
			kept := *n.Resource
			kept.Metrics = make(map[string]uuid.UUID, len(n.Metrics))
			its, err := s.setMetrics(c, &kept, &MetricSet{Create: n.Metrics, Attach: n.Resource.Metrics})
			if err != nil {
				return err
			}
			changes.created = append(changes.created, its.created...)
			changes.touched = append(changes.touched, its.touched...)
			value = records.AppendResource(value[:0], n.Resource, t)
			if len(n.Resource.Metrics) == 0 && len(its.created) > 0 && len(its.created) <= records.MostInline {
				value = records.AppendInline(value, its.created)
				c.listed[n.Resource.ID] = true
			}
			if n.Resource.EndedAt != nil {
				s.ended.add(n.Resource.ID)
			}
			if err := c.putResource(n.Resource.ID, value, &keys); err != nil {
				return err
			}
		}
		if err := keys.write(c.Batch); err != nil {
			return err
		}
		if err := s.putPast(c, given); err != nil {
			return err
		}
		return c.putMetrics(changes.created)
	})
	if err != nil {
		return err
	}
	changes.apply(s.cache, seen)
	return nil
}

// checkNewResource returns the type of a resource that c may create.
func (s *Store) checkNewResource(c *change, r *model.Resource) (*model.ResourceType, error) {
	t, err := s.ResourceType(r.Type)
	if err != nil {
		return nil, err
	}
	if err := t.Check(r.Attributes); err != nil {
		return nil, err
	}
	exists, err := c.has(keyspace.IDKey(keyspace.Resource, r.ID))
	if err != nil {
		return nil, err
	}
	if exists || c.takenResources[r.ID] {
		return nil, model.Exists(model.NounResource, r.ID.String())
	}
	c.takenResources[r.ID] = true
	c.resources++
	return t, nil
}

// Resource returns a resource of a type, or of any as "generic", with its metrics, or a model.ErrNotFound.
func (s *Store) Resource(resourceType string, id uuid.UUID) (*model.Resource, error) {
	r, value, err := s.readResource(resourceType, id)
	if err == nil {
		err = s.readMetricsOfResource(context.Background(), r, value)
	}
	if err := s.commits.waitDurable(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

// MetricsOfResource returns a resource's metrics by name; none if there is no such resource.
func (s *Store) MetricsOfResource(ctx context.Context, id uuid.UUID) ([]*model.Metric, error) {
	r := &model.Resource{ID: id}
	if err := s.addMetricsTo(ctx, []*model.Resource{r}, nil); err != nil {
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
	return metrics, s.commits.waitDurable()
}

// DeleteResource removes a resource of a type, or of any as "generic", with its history, and marks its metrics deleted.
// It returns a model.ErrNotFound, or what check (nil for none) says of the resource as it is when it would go.
func (s *Store) DeleteResource(ctx context.Context, resourceType string, id uuid.UUID,
	check func(*model.Resource) error) error {
	var marked []uuid.UUID
	err := s.write(ctx, func(c *change) error {
		r, value, err := s.readResource(resourceType, id)
		if err != nil {
			return err
		}
		if check != nil {
			if err := check(r); err != nil {
				return err
			}
		}
		marked, err = s.removeResource(ctx, c, r, value)
		return err
	})
	if err != nil {
		return err
	}
	s.cache.remove(marked)
	return nil
}

// DeleteResources is DeleteResource for many, all or none, and returns how many there were: those that are gone already
// do not count.
func (s *Store) DeleteResources(ctx context.Context, ids []uuid.UUID) (deleted int, err error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	var marked []uuid.UUID
	err = s.write(ctx, func(c *change) error {
		deleted = 0
		for _, id := range slices.Compact(ids) {
			r, value, err := s.readResource(model.GenericType, id)
			if errors.Is(err, model.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			metrics, err := s.removeResource(ctx, c, r, value)
			if err != nil {
				return err
			}
			marked = append(marked, metrics...)
			deleted++
		}
		return nil
	})
	if err != nil {
		return 0, err
	}
	s.cache.remove(marked)
	return deleted, nil
}

// removeResource adds the end of r, which is stored as value, to c and returns the metrics that it marks deleted.
func (s *Store) removeResource(ctx context.Context, c *change, r *model.Resource, value []byte) ([]uuid.UUID, error) {
	_, listed, err := records.InlineOf(r.ID, value)
	if err != nil {
		return nil, err
	}
	if err := s.readMetricsOfResource(ctx, r, value); err != nil {
		return nil, err
	}
	var marked []uuid.UUID
	for _, id := range r.Metrics {
		m, err := s.readMetric(id)
		if err != nil {
			return nil, err
		}
		if listed { // its name goes with the resource's value
			alone := *m
			alone.ResourceID = nil
			m = &alone
		}
		if err := c.markDeleted(m); err != nil {
			return nil, err
		}
		marked = append(marked, id)
	}
	err = s.scan(ctx, keyspace.IDKey(keyspace.Revision, r.ID), nil, func(key, _ []byte) (bool, error) {
		return true, c.Delete(key, nil)
	})
	if err != nil {
		return nil, err
	}
	c.resources--
	return marked, c.dropResource(r.ID, value)
}

// readMetricsOfResource sets the metrics of r, which is stored as value. What it reads need not be durable yet.
func (s *Store) readMetricsOfResource(ctx context.Context, r *model.Resource, value []byte) error {
	l, listed, err := records.InlineOf(r.ID, value)
	if listed {
		r.Metrics, _ = l.ByName(nil)
		return nil
	}
	return errors.Join(err, s.addNamedPart(ctx, []*model.Resource{r}, nil))
}

// readResource reads a resource without its metrics, and returns its stored value, too. What it returns need not be
// durable yet.
func (s *Store) readResource(resourceType string, id uuid.UUID) (*model.Resource, []byte, error) {
	value, err := s.get(keyspace.IDKey(keyspace.Resource, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil, model.NotFound(model.NounResource, id.String())
	}
	if err != nil {
		return nil, nil, fmt.Errorf("index: read resource %s: %w", id, err)
	}
	r, err := s.resourceDecoder(nil).Decode(id, value)
	if err != nil {
		// Perhaps it was deleted since, and then its type.
		if exists, existsErr := s.has(keyspace.IDKey(keyspace.Resource, id)); existsErr == nil && !exists {
			err = model.NotFound(model.NounResource, id.String())
		}
		return nil, nil, err
	}
	if resourceType != model.GenericType && r.Type != resourceType {
		return nil, nil, model.NotFound(model.NounResource, id.String())
	}
	return r, value, nil
}

// Decoder returns a decoder of resources by their types as they are now, or were. It must be asked for after
// the resources were found: a type is there before its resources. Types that are gone since are looked for in before,
// read before the resources were found; nil for none.
func (s *Store) resourceDecoder(before *policiesAndTypes) *records.Decoder {
	d := &records.Decoder{Types: s.policiesAndTypes.Load().types}
	if before != nil {
		d.Before = before.types
	}
	return d
}
