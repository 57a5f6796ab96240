package metrics

import (
	"bytes"
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

// AddMetrics sets the metrics of resources that came without; past states get those of the live one.
func (s *Table) AddMetrics(ctx context.Context, resources ...*model.Resource) error {
	if err := s.AddMetricsNamed(ctx, resources, nil); err != nil {
		return fmt.Errorf("index: read metrics of resources: %w", err)
	}
	return s.log.WaitDurable()
}

// AddMetricsNamed is AddMetrics of the metrics of these names, nil for all. The metrics need not be durable yet.
func (s *Table) AddMetricsNamed(ctx context.Context, resources []*model.Resource, names []string) error {
	return keyspace.InParts(len(resources), func(from, to int) error {
		var others []*model.Resource
		for _, r := range resources[from:to] {
			metrics, listed, err := s.readListed(r.ID, names)
			if err != nil && !s.log.SkipCorrupt(err) || ctx.Err() != nil {
				return errors.Join(err, ctx.Err())
			}
			if r.Metrics = metrics; !listed {
				others = append(others, r)
			}
		}
		return s.addNamedPart(ctx, others, names)
	})
}

// AddNamedMetrics sets the metrics of these names (nil: all) of resources whose metrics have keys of their own.
func (s *Table) AddNamedMetrics(ctx context.Context, resources []*model.Resource, names []string) error {
	return keyspace.InParts(len(resources), func(from, to int) error {
		return s.addNamedPart(ctx, resources[from:to], names)
	})
}

func (s *Table) addNamedPart(ctx context.Context, resources []*model.Resource, names []string) (err error) {
	if len(resources) == 0 {
		return nil
	}
	all := []byte{keyspace.NamedMetric}
	iter, err := s.log.DB.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: all,
		UpperBound: keyspace.PrefixEnd(all)})
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
				s.log.SkipCorrupt(fmt.Errorf("%w: named metric of resource %s", records.ErrCorrupt, r.ID))
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
func (s *Table) MetricOfResource(resource uuid.UUID, name string) (*model.Metric, error) {
	var id uuid.UUID
	listed, err := s.lookAtList(resource, func(l records.InlineMetrics) { id, _ = l.Find(name) })
	if err == nil && !listed {
		return s.metricAt(keyspace.NamedMetricKey(resource, name), func() string { return name })
	}
	if err := s.log.Durable(err); err != nil {
		return nil, fmt.Errorf("index: read metric %q of resource %s: %w", name, resource, err)
	}
	if id == uuid.Nil {
		return nil, model.NotFound(model.NounMetric, name)
	}
	return s.Metric(id)
}

// MetricsOfResource returns a resource's metrics by name; none if there is no such resource.
func (s *Table) MetricsOfResource(ctx context.Context, id uuid.UUID) ([]*model.Metric, error) {
	r := &model.Resource{ID: id}
	if err := s.AddMetricsNamed(ctx, []*model.Resource{r}, nil); err != nil {
		return nil, err
	}
	var metrics []*model.Metric
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		m, err := s.Metric(r.Metrics[name])
		switch {
		case errors.Is(err, model.ErrNotFound) || s.log.SkipCorrupt(err): // deleted meanwhile
		case err != nil:
			return nil, err
		default:
			metrics = append(metrics, m)
		}
	}
	return metrics, s.log.WaitDurable()
}

// ReadMetricsOfResource sets the metrics of r, which is stored as value. The metrics need not be durable yet.
func (s *Table) ReadMetricsOfResource(ctx context.Context, r *model.Resource, value []byte) error {
	l, listed, err := records.InlineOf(r.ID, value)
	if listed {
		r.Metrics, _ = l.ByName(nil)
		return nil
	}
	return errors.Join(err, s.addNamedPart(ctx, []*model.Resource{r}, nil))
}
