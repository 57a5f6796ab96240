package index

import (
	"fmt"
	"maps"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// A MetricSet says what becomes of a resource's metrics.
type MetricSet struct {
	Create []*model.Metric // new ones, each named; they get the resource's creator
	// existing ones of the resource's creator, which get these names and leave any other resource
	Attach map[string]uuid.UUID
	Keep   bool // those that the resource has stay; else they stay by themselves
}

// metricChanges is what a change of metrics means for the cache.
type metricChanges struct {
	created []*model.Metric
	touched []uuid.UUID
}

// apply updates the cache, once the change is durable. seen is the generation from before it.
func (m *metricChanges) apply(cache *metricCache, seen uint64) {
	cache.insert(seen, m.created...)
	if len(m.touched) > 0 {
		cache.remove(m.touched)
	}
}

// setMetrics makes r's metrics what set says, but for writing the created ones, which is the caller's; r.Metrics are
// those it has, and becomes those it will have; its value lists none of them. It returns a *model.FieldError, a
// model.ErrExists for a name, or a model.ErrNotFound for a metric to attach or an archive policy.
func (s *Store) setMetrics(c *change, r *model.Resource, set *MetricSet) (metricChanges, error) {
	var changes metricChanges
	fail := func(err error) (metricChanges, error) { return metricChanges{}, err }
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
			m, err := s.readMetric(id)
			if err != nil {
				return fail(err)
			}
			alone := *m
			alone.ResourceID = nil
			if err := c.replaceMetric(m, &alone); err != nil {
				return fail(err)
			}
			changes.touched = append(changes.touched, id)
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
		if err := c.replaceMetric(&was, &m); err != nil {
			return fail(err)
		}
		r.Metrics[name] = m.ID
		changes.touched = append(changes.touched, m.ID)
	}
	if changes.created, err = s.checkMetrics(c, set.Create, r); err != nil {
		return fail(err)
	}
	return changes, nil
}

// readMetricsToAttach reads the metrics that are to get names in r.
func (s *Store) readMetricsToAttach(c *change, r *model.Resource,
	names map[string]uuid.UUID) (map[string]*model.Metric, error) {
	metrics := make(map[string]*model.Metric, len(names))
	for _, name := range slices.Sorted(maps.Keys(names)) {
		id := names[name]
		m, err := s.readMetric(id)
		if err != nil {
			return nil, err
		}
		if m.Deleted || m.Creator != r.Creator {
			return nil, model.NotFound(model.NounMetric, id.String())
		}
		if c.takenMetrics[id] { // here, or in another resource of the same change
			return nil, &model.FieldError{Field: "metrics", Reason: fmt.Sprintf("metric %s is given two names", id)}
		}
		c.takenMetrics[id] = true
		metrics[name] = m
	}
	return metrics, nil
}
