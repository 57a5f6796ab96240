package metrics

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// Lookup returns a metric by its ID, nil if it is unknown or marked deleted. This is the fast one, for each metric of
// each request of measures; a value that does not decode is reported and counts as unknown.
func (s *Table) Lookup(id uuid.UUID) *model.Metric {
	if m := s.cache.get(&id); m != nil {
		return m
	}
	m, err := s.Metric(id)
	if err != nil && !errors.Is(err, model.ErrNotFound) && !s.log.SkipCorrupt(err) {
		s.logger.Error("index lookup failed", "metric", id, "error", err)
	}
	return m
}

// Metric returns a metric by its ID, or a model.ErrNotFound, also if it is marked deleted.
func (s *Table) Metric(id uuid.UUID) (*model.Metric, error) {
	if m := s.cache.get(&id); m != nil {
		return m, nil
	}
	s.misses.Inc()
	seen := s.cache.generation.Load()
	m, err := s.Read(id)
	if err == nil {
		err = s.completeLive(m)
	}
	if err := s.log.Durable(err); err != nil {
		return nil, err
	}
	s.cache.insert(seen, m)
	return m, nil
}

// completeLive adds to a metric what its resource says. It returns a model.ErrNotFound for one that is marked deleted.
func (s *Table) completeLive(m *model.Metric) (err error) {
	if m.Deleted {
		return model.NotFound(model.NounMetric, m.ID.String())
	}
	if m.ResourceID != nil && s.mayHaveEnded(*m.ResourceID) {
		m.ResourceEndedAt, _, err = s.endOf(*m.ResourceID)
	}
	return err
}

// Read reads a metric, deleted or not, from the store. The metric need not be durable yet.
func (s *Table) Read(id uuid.UUID) (*model.Metric, error) {
	value, closer, err := s.log.DB.Get(keyspace.IDKey(keyspace.Metric, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, model.NotFound(model.NounMetric, id.String())
	}
	if err != nil {
		return nil, fmt.Errorf("index: read metric %s: %w", id, err)
	}
	defer closer.Close()
	return s.decodeMetric(id, value)
}

// decodeMetric decodes a metric that was read, or returns a model.ErrNotFound if it is gone.
func (s *Table) decodeMetric(id uuid.UUID, value []byte) (*model.Metric, error) {
	m, err := records.DecodeMetric(id, value, s.policyNamed)
	if err == nil {
		return m, nil
	}
	// Perhaps it was expunged since, and then its archive policy deleted.
	exists, existsErr := s.log.Has(keyspace.IDKey(keyspace.Metric, id))
	if existsErr == nil && !exists {
		return nil, model.NotFound(model.NounMetric, id.String())
	}
	return nil, err
}

// policyNamed is what DecodeMetric wants. It must look after the value was read: the policy of a metric is there
// before the metric.
func (s *Table) policyNamed(name []byte) *model.ArchivePolicy { return s.policies()[string(name)] }

// CountMetrics returns the number of metrics, without those marked deleted.
func (s *Table) CountMetrics() int { return int(s.log.Live.Load()) }

// CreateMetric keeps m; of its archive policy only the name is looked at. It returns a *model.FieldError, a
// model.ErrNotFound for the archive policy or the resource, or a model.ErrExists for its name within the resource, or
// its ID. m stays the caller's, and gets an ID if it has none.
func (s *Table) CreateMetric(ctx context.Context, m *model.Metric) error {
	return s.CreateMetrics(ctx, []*model.Metric{m})
}

// CreateMetrics creates all of metrics or, with an error as of CreateMetric, none.
func (s *Table) CreateMetrics(ctx context.Context, metrics []*model.Metric) error {
	var created []*model.Metric
	var seen uint64
	metrics, keys := byLabels(metrics)
	if len(keys) > 0 {
		if err := s.loadKnownLabels(ctx); err != nil {
			return err
		}
	}
	err := s.log.Write(ctx, func(c *commits.Change) (err error) {
		c.LabelsKeys = keys
		seen = s.cache.generation.Load()
		if created, err = s.checkMetrics(c, metrics, nil); err != nil {
			return err
		}
		return Put(c, created)
	})
	if err != nil {
		return err
	}
	s.cache.insert(seen, created...)
	return nil
}

// MarkDeleted marks m, a live metric, and takes it out of its resource. m is not modified.
func MarkDeleted(c *commits.Change, m *model.Metric) error {
	marked := *m
	marked.Deleted, marked.ResourceID = true, nil
	c.AddLive(model.ProjectOf(m.Creator), -1)
	c.Deleted++
	if err := c.Set(keyspace.IDKey(keyspace.Deleted, m.ID), nil, nil); err != nil {
		return err
	}
	return replace(c, m, &marked)
}

// metricAt returns the metric whose ID is a key's value.
func (s *Table) metricAt(key []byte, name func() string) (*model.Metric, error) {
	value, err := s.log.Get(key)
	if err := s.log.Durable(err); err != nil {
		return nil, fmt.Errorf("index: read metric %q by key %x: %w", name(), key, err)
	}
	if value == nil {
		return nil, model.NotFound(model.NounMetric, name())
	}
	id, err := uuid.FromBytes(value)
	if err != nil {
		return nil, fmt.Errorf("%w: metric %q by key %x: %w", records.ErrCorrupt, name(), key, err)
	}
	return s.Metric(id)
}

// SetMetricType sets the type of a metric, "" for none.
func (s *Table) SetMetricType(ctx context.Context, id uuid.UUID, t model.SeriesType) (m *model.Metric, err error) {
	err = s.UpdateMetrics(ctx, []uuid.UUID{id}, func(is *model.Metric) { is.Type, m = t, is })
	return m, err
}

// UpdateMetrics changes metrics in one write, none if one does not exist.
func (s *Table) UpdateMetrics(ctx context.Context, ids []uuid.UUID, change func(m *model.Metric)) error {
	defer s.Forget(ids...)
	return s.log.Write(ctx, func(c *commits.Change) error {
		for _, id := range ids {
			m, err := s.Read(id)
			if err == nil && m.Deleted {
				err = model.NotFound(model.NounMetric, id.String())
			}
			if err != nil {
				return err
			}
			change(m)
			c.TouchMetric(id)
			if err := c.Set(keyspace.IDKey(keyspace.Metric, id), records.AppendMetric(nil, m), nil); err != nil {
				return err
			}
		}
		return nil
	})
}

// DeleteMetric marks a metric deleted: it is out of sight at once, and its name within its resource free. It stays in
// DeletedMetrics until expunged. Returns a model.ErrNotFound, also if it is marked already.
func (s *Table) DeleteMetric(ctx context.Context, id uuid.UUID) error {
	err := s.log.Write(ctx, func(c *commits.Change) error {
		m, err := s.Read(id)
		if err != nil {
			return err
		}
		if m.Deleted {
			return model.NotFound(model.NounMetric, id.String())
		}
		if m.ResourceID != nil {
			if err := s.unlistStored(c, *m.ResourceID); err != nil {
				return err
			}
		}
		return MarkDeleted(c, m)
	})
	if err != nil {
		return err
	}
	s.cache.remove([]uuid.UUID{id})
	return nil
}

// DeletedMetrics returns the IDs of up to limit (0: all) metrics that are marked deleted, ascending.
func (s *Table) DeletedMetrics(ctx context.Context, limit int) ([]uuid.UUID, error) {
	metrics, err := s.ListMetrics(ctx, Query{Deleted: true, Limit: limit})
	if err != nil {
		return nil, err
	}
	ids := make([]uuid.UUID, len(metrics))
	for i, m := range metrics {
		ids[i] = m.ID
	}
	return ids, nil
}

// Expunge permanently removes metrics that are marked deleted, all or none; their measures and archives are the
// caller's concern, and should be gone by then. Returns a model.ErrNotFound, or a model.ErrInUse if one is not marked.
func (s *Table) Expunge(ctx context.Context, ids ...uuid.UUID) error {
	return s.log.Write(ctx, func(c *commits.Change) error {
		ids = slices.Clone(ids)
		slices.SortFunc(ids, model.CompareIDs)
		for _, id := range slices.Compact(ids) {
			m, err := s.Read(id)
			if err != nil {
				return err
			}
			if !m.Deleted {
				return model.InUse(model.NounMetric, id.String())
			}
			c.Deleted--
			for _, key := range [][]byte{
				keyspace.IDKey(keyspace.Metric, id), keyspace.IDKey(keyspace.Deleted, id),
				keyspace.PolicyMetricKey(m.ArchivePolicy.Name, id),
			} {
				if err := c.Delete(key, nil); err != nil {
					return err
				}
			}
		}
		return nil
	})
}
