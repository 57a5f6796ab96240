package index

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"gnocco/model"
)

// AddMetrics sets the metrics of resources that came without; past states get those of the live one.
func (s *Store) AddMetrics(ctx context.Context, resources ...*model.Resource) error {
	if err := s.addMetricsTo(ctx, resources); err != nil {
		return fmt.Errorf("index: read metrics of resources: %w", err)
	}
	return s.commits.waitDurable()
}

// addMetricsTo is AddMetrics; what it reads need not be durable yet.
func (s *Store) addMetricsTo(ctx context.Context, resources []*model.Resource) error {
	return inParts(len(resources), func(from, to int) error { return s.addMetricsToPart(ctx, resources[from:to]) })
}

func (s *Store) addMetricsToPart(ctx context.Context, resources []*model.Resource) (err error) {
	all := []byte{prefixNamedMetric}
	iter, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{LowerBound: all, UpperBound: prefixEnd(all)})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for _, r := range resources {
		r.Metrics = map[string]uuid.UUID{}
		prefix := idKey(prefixNamedMetric, r.ID)
		for valid := iter.SeekGE(prefix); valid && bytes.HasPrefix(iter.Key(), prefix); valid = iter.Next() {
			value, err := iter.ValueAndErr()
			if err != nil {
				return err
			}
			id, err := uuid.FromBytes(value)
			if err != nil {
				s.skipCorrupt(fmt.Errorf("%w: named metric of resource %s", errCorrupt, r.ID))
				continue
			}
			r.Metrics[string(iter.Key()[len(prefix):])] = id
		}
		if err := errors.Join(iter.Error(), ctx.Err()); err != nil {
			return err
		}
	}
	return nil
}
