package metrics

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// A Set says what becomes of a resource's metrics.
type Set struct {
	Create []*model.Metric // new ones, each named; they get the resource's creator
	// Attach are existing metrics of the resource's creator, by the names that they get. They leave any other resource.
	Attach map[string]uuid.UUID
	Keep   bool // those that the resource has stay; else they stay by themselves
}

// Changes is what a change of metrics means for the cache.
type Changes struct {
	Created []*model.Metric
	Touched []uuid.UUID
}

// Apply updates the cache, once the changes are durable. seen is the generation from before them.
func (s *Table) Apply(m *Changes, seen uint64) {
	s.cache.insert(seen, m.Created...)
	if len(m.Touched) > 0 {
		s.cache.remove(m.Touched)
	}
}

// SetMetrics makes r's metrics what set says, but for writing the created ones, which is the caller's; r.Metrics are
// those it has, and becomes those it will have; its value lists none of them. It returns a *model.FieldError, a
// model.ErrExists for a name, or a model.ErrNotFound for a metric to attach or an archive policy.
func (s *Table) SetMetrics(c *commits.Change, r *model.Resource, set *Set) (Changes, error) {
	var changes Changes
	fail := func(err error) (Changes, error) { return Changes{}, err }
	attached, err := s.readMetricsToAttach(c, r, set.Attach)
	if err != nil {
		return fail(err)
	}
	// First all names are given up, then new ones taken: two metrics may change theirs.
	for _, m := range attached {
		if m.ResourceID == nil {
			continue
		}
		if *m.ResourceID == r.ID {
			delete(r.Metrics, m.Name)
		} else if err := s.unlistStored(c, *m.ResourceID); err != nil {
			return fail(err)
		}
		if err := c.Delete(keyspace.NamedMetricKey(*m.ResourceID, m.Name), nil); err != nil {
			return fail(err)
		}
	}
	if !set.Keep {
		for _, id := range r.Metrics {
			m, err := s.Read(id)
			if err != nil {
				return fail(err)
			}
			alone := *m
			alone.ResourceID = nil
			if err := replace(c, m, &alone); err != nil {
				return fail(err)
			}
			changes.Touched = append(changes.Touched, id)
		}
		clear(r.Metrics)
	}
	names := slices.Sorted(maps.Keys(attached))
	for _, name := range names {
		was := *attached[name]
		was.ResourceID = nil // its name there is given up
		m := *attached[name]
		if _, taken := r.Metrics[name]; taken {
			return fail(model.Exists(model.NounNamedMetric, name))
		}
		m.Name, m.ResourceID = name, &r.ID
		if err := m.Validate(); err != nil {
			return fail(err)
		}
		if err := replace(c, &was, &m); err != nil {
			return fail(err)
		}
		r.Metrics[name] = m.ID
		changes.Touched = append(changes.Touched, m.ID)
	}
	if changes.Created, err = s.checkMetrics(c, set.Create, r); err != nil {
		return fail(err)
	}
	return changes, nil
}

// readMetricsToAttach reads the metrics that are to get names in r.
func (s *Table) readMetricsToAttach(c *commits.Change, r *model.Resource,
	names map[string]uuid.UUID) (map[string]*model.Metric, error) {
	metrics := make(map[string]*model.Metric, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		id := names[name]
		m, err := s.Read(id)
		if err != nil {
			return nil, err
		}
		if m.Deleted || m.Creator != r.Creator {
			return nil, model.NotFound(model.NounMetric, id.String())
		}
		if c.TakenMetrics[id] { // here, or in another resource of the same change
			return nil, &model.FieldError{Field: "metrics", Reason: fmt.Sprintf("metric %s is given two names", id)}
		}
		c.TakenMetrics[id] = true
		metrics[name] = m
	}
	return metrics, nil
}
