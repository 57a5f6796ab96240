package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// AddMetrics sets the metrics of resources that came without; past states get those of the live one.
func (s *Store) AddMetrics(ctx context.Context, resources ...*model.Resource) error {
	if err := s.addMetricsTo(ctx, resources, nil); err != nil {
		return fmt.Errorf("index: read metrics of resources: %w", err)
	}
	return s.commits.waitDurable()
}

// addMetricsTo is AddMetrics of the metrics of these names, nil for all; what it reads need not be durable yet.
func (s *Store) addMetricsTo(ctx context.Context, resources []*model.Resource, names []string) error {
	return inParts(len(resources), func(from, to int) error {
		var others []*model.Resource
		for _, r := range resources[from:to] {
			metrics, listed, err := s.readListed(r.ID, names)
			if err != nil && !s.skipCorrupt(err) || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			if r.Metrics = metrics; !listed {
				others = append(others, r)
			}
		}
		return s.addNamedPart(ctx, others, names)
	})
}

// addNamedMetrics sets the metrics of these names (nil: all) of resources whose metrics have keys of their own.
func (s *Store) addNamedMetrics(ctx context.Context, resources []*model.Resource, names []string) error {
	return inParts(len(resources), func(from, to int) error { return s.addNamedPart(ctx, resources[from:to], names) })
}

func (s *Store) addNamedPart(ctx context.Context, resources []*model.Resource, names []string) (err error) {
	if len(resources) == 0 {
		return nil
	}
	all := []byte{keyspace.NamedMetric}
	iter, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: all, UpperBound: keyspace.PrefixEnd(all)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for _, r := range resources {
		r.Metrics = map[string]uuid.UUID{}
		prefix := keyspace.IDKey(keyspace.NamedMetric, r.ID)
		for valid := iter.SeekGE(prefix); valid && bytes.HasPrefix(iter.Key(), prefix); valid = iter.Next() {
			name := iter.Key()[len(prefix):]
			if names != nil && records.IndexOf(names, name) < 0 {
				continue
			}
			value, err := iter.ValueAndErr()
			if err != nil {
				return err
			}
			id, err := uuid.FromBytes(value)
			if err != nil {
				s.skipCorrupt(fmt.Errorf("%w: named metric of resource %s", records.ErrCorrupt, r.ID))
				continue
			}
			r.Metrics[string(name)] = id
		}
		if err := errors.Join(iter.Error(), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}

// MetricOfResource returns the metric that a resource calls name, or a model.ErrNotFound.
func (s *Store) MetricOfResource(resource uuid.UUID, name string) (*model.Metric, error) {
	id, listed, err := s.findListed(resource, name)
	if err == nil && !listed {
		return s.metricAt(keyspace.NamedMetricKey(resource, name), func() string { return name })
	}
	if err := s.commits.waitDurable(); err != nil {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("index: read metric %q of resource %s: %w", name, resource, err)
	}
	if id == uuid.Nil {
		return nil, model.NotFound(model.NounMetric, name)
	}
	return s.Metric(id)
}

// findListed looks a metric up in the list of a resource; listed is false if there is none.
func (s *Store) findListed(resource uuid.UUID, name string) (id uuid.UUID, listed bool, err error) {
	key := [17]byte{keyspace.Resource}
	copy(key[1:], resource[:])
	value, closer, err := s.db.Get(key[:])
	if errors.Is(err, pebble.ErrNotFound) {
		return id, false, nil
	}
	if err != nil {
		return id, false, err
	}
	defer closer.Close()
	l, listed, err := records.InlineOf(resource, value)
	if err == nil && listed {
		id, _ = l.Find(name)
	}
	return id, listed, err
}
