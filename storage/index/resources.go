package index

import (
	"context"
	"errors"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/metrics"
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
// metric name given twice, or a model.ErrNotFound for the type, a metric to attach or an archive policy. The resources
// given stay the caller's.
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
	var changes metrics.Changes
	var seen uint64
	err := s.log.Write(ctx, func(c *commits.Change) error {
		seen = s.Generation()
		changes = metrics.Changes{}
		var value []byte
		var keys sortedKeys
		for _, n := range given {
			t, err := s.checkNewResource(c, n.Resource)
			if err != nil {
				return err
			}
			kept := *n.Resource
			kept.Metrics = make(map[string]uuid.UUID, len(n.Metrics))
			its, err := s.SetMetrics(c, &kept, &metrics.Set{Create: n.Metrics, Attach: n.Resource.Metrics})
			if err != nil {
				return err
			}
			changes.Created = append(changes.Created, its.Created...)
			changes.Touched = append(changes.Touched, its.Touched...)
			value = records.AppendResource(value[:0], n.Resource, t)
			if len(n.Resource.Metrics) == 0 && len(its.Created) > 0 && len(its.Created) <= records.MostInline {
				value = records.AppendInline(value, its.Created)
				c.Listed[n.Resource.ID] = true
			}
			if n.Resource.EndedAt != nil {
				s.NoteEnd(n.Resource.ID)
			}
			if err := putResource(c, n.Resource.ID, value, &keys); err != nil {
				return err
			}
		}
		if err := keys.write(c.Batch); err != nil {
			return err
		}
		if err := s.putPast(c, given); err != nil {
			return err
		}
		return metrics.Put(c, changes.Created)
	})
	if err != nil {
		return err
	}
	s.Apply(&changes, seen)
	return nil
}

// checkNewResource returns the type of a resource that c may create.
func (s *Store) checkNewResource(c *commits.Change, r *model.Resource) (*model.ResourceType, error) {
	t, err := s.ResourceType(r.Type)
	if err != nil {
		return nil, err
	}
	if err := t.Check(r.Attributes); err != nil {
		return nil, err
	}
	exists, err := c.Has(keyspace.IDKey(keyspace.Resource, r.ID))
	if err != nil {
		return nil, err
	}
	if exists || c.TakenResources[r.ID] {
		return nil, model.Exists(model.NounResource, r.ID.String())
	}
	c.TakenResources[r.ID] = true
	c.Resources++
	return t, nil
}

// Resource returns a resource of a type, or of any as "generic", with its metrics, or a model.ErrNotFound.
func (s *Store) Resource(resourceType string, id uuid.UUID) (*model.Resource, error) {
	r, value, err := s.ReadResource(resourceType, id)
	if err == nil {
		err = s.ReadMetricsOfResource(context.Background(), r, value)
	}
	if err := s.log.Durable(err); err != nil {
		return nil, err
	}
	return r, nil
}

// DeleteResource removes a resource of a type, or of any as "generic", with its history, and marks its metrics deleted.
// It returns a model.ErrNotFound, or what check (nil for none) says of the resource as it is when it would go.
func (s *Store) DeleteResource(ctx context.Context, resourceType string, id uuid.UUID,
	check func(*model.Resource) error) error {
	var marked []uuid.UUID
	err := s.log.Write(ctx, func(c *commits.Change) error {
		r, value, err := s.ReadResource(resourceType, id)
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
	s.Forget(marked...)
	return nil
}

// DeleteResources is DeleteResource for many, all or none, and returns how many there were: those that are gone already
// do not count.
func (s *Store) DeleteResources(ctx context.Context, ids []uuid.UUID) (deleted int, err error) {
	ids = slices.Clone(ids)
	slices.SortFunc(ids, func(a, b uuid.UUID) int { return slices.Compare(a[:], b[:]) })
	var marked []uuid.UUID
	err = s.log.Write(ctx, func(c *commits.Change) error {
		deleted = 0
		for _, id := range slices.Compact(ids) {
			r, value, err := s.ReadResource(model.GenericType, id)
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
	s.Forget(marked...)
	return deleted, nil
}

// removeResource adds the end of r, which is stored as value, to c and returns the metrics that it marks deleted.
func (s *Store) removeResource(ctx context.Context, c *commits.Change, r *model.Resource,
	value []byte) ([]uuid.UUID, error) {
	_, listed, err := records.InlineOf(r.ID, value)
	if err != nil {
		return nil, err
	}
	if err := s.ReadMetricsOfResource(ctx, r, value); err != nil {
		return nil, err
	}
	var marked []uuid.UUID
	for _, id := range r.Metrics {
		m, err := s.Read(id)
		if err != nil {
			return nil, err
		}
		if listed { // its name goes with the resource's value
			alone := *m
			alone.ResourceID = nil
			m = &alone
		}
		if err := metrics.MarkDeleted(c, m); err != nil {
			return nil, err
		}
		marked = append(marked, id)
	}
	err = s.log.Scan(ctx, keyspace.IDKey(keyspace.Revision, r.ID), nil, func(key, _ []byte) (bool, error) {
		return true, c.Delete(key, nil)
	})
	if err != nil {
		return nil, err
	}
	c.Resources--
	return marked, dropResource(c, r.ID, value)
}

// putResource writes a resource that is new, and adds its keys to those that are still to be written.
func putResource(c *commits.Change, id uuid.UUID, value []byte, keys *sortedKeys) error {
	c.TouchResource(id)
	if err := c.Set(keyspace.IDKey(keyspace.Resource, id), value, nil); err != nil {
		return err
	}
	return records.EachResourceKey(id, value, func(key []byte) error {
		keys.add(key)
		return nil
	})
}

// replaceResource writes another value of a resource, and those of its keys that differ.
func replaceResource(c *commits.Change, id uuid.UUID, old, value []byte) error {
	c.TouchResource(id)
	was, err := records.ResourceKeys(id, old)
	if err != nil {
		return err
	}
	is, err := records.ResourceKeys(id, value)
	if err != nil {
		return err
	}
	for _, key := range was {
		if _, kept := slices.BinarySearch(is, key); !kept {
			if err := c.Delete([]byte(key), nil); err != nil {
				return err
			}
		}
	}
	for _, key := range is {
		if _, kept := slices.BinarySearch(was, key); !kept {
			if err := c.Set([]byte(key), nil, nil); err != nil {
				return err
			}
		}
	}
	return c.Set(keyspace.IDKey(keyspace.Resource, id), value, nil)
}

// dropResource deletes a resource and its keys.
func dropResource(c *commits.Change, id uuid.UUID, value []byte) error {
	c.TouchResource(id)
	if err := c.Delete(keyspace.IDKey(keyspace.Resource, id), nil); err != nil {
		return err
	}
	return records.EachResourceKey(id, value, func(key []byte) error { return c.Delete(key, nil) })
}
