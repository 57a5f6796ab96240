package metrics

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// labelsKey is the key of some labels in a list.
type labelsKey struct {
	key   []byte
	place int
}

// labelsKeys returns the keys of labels, ascending.
func labelsKeys(n int, of func(place int) (creator string, labels model.Labels)) []labelsKey {
	keys := make([]labelsKey, n)
	for i := range keys {
		keys[i] = labelsKey{keyspace.LabelsKey(of(i)), i}
	}
	slices.SortFunc(keys, func(a, b labelsKey) int { return bytes.Compare(a.key, b.key) })
	return keys
}

// MetricsOfLabels returns the metrics of a creator that have these labels, nil for those that do not exist. The fault
// of a place says why its metric cannot be read.
func (s *Table) MetricsOfLabels(ctx context.Context, creator string, labels []model.Labels) (metrics []*model.Metric,
	faults []error, err error) {
	keys := labelsKeys(len(labels), func(i int) (string, model.Labels) { return creator, labels[i] })
	ids, places, err := s.idsOfLabels(keys)
	found := make([]*model.Metric, len(ids))
	if err == nil {
		err = s.Find(ctx, ids, found)
	}
	if err := errors.Join(err, s.log.WaitDurable()); err != nil {
		return nil, nil, fmt.Errorf("index: read metrics by labels: %w", err)
	}
	metrics, faults = make([]*model.Metric, len(labels)), make([]error, len(labels))
	for i, m := range found {
		place := places[i]
		if metrics[place] = m; m != nil {
			continue
		}
		if _, err := s.Metric(ids[i]); !errors.Is(err, model.ErrNotFound) { // else deleted since
			faults[place] = err
		}
	}
	return metrics, faults, nil
}

// idsOfLabels returns the IDs that are stored under keys, and the places of their labels.
func (s *Table) idsOfLabels(keys []labelsKey) (ids []uuid.UUID, places []int, err error) {
	iter, err := s.log.DB.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	for _, k := range keys {
		if !iter.SeekPrefixGE(k.key) {
			if err := iter.Error(); err != nil {
				return nil, nil, err
			}
			continue
		}
		value, err := iter.ValueAndErr()
		if err != nil {
			return nil, nil, err
		}
		id, err := uuid.FromBytes(value)
		if err != nil {
			return nil, nil, fmt.Errorf("%w: key %x: %w", records.ErrCorrupt, k.key, err)
		}
		ids, places = append(ids, id), append(places, k.place)
	}
	return ids, places, nil
}

// byLabels returns metrics in the order of their labels' keys, which are cheaper to look for and to write in order.
func byLabels(metrics []*model.Metric) []*model.Metric {
	if len(metrics) < 2 || metrics[0].Labels == "" {
		return metrics
	}
	keys := labelsKeys(len(metrics), func(i int) (creator string, labels model.Labels) {
		return metrics[i].Creator, metrics[i].Labels
	})
	ordered := make([]*model.Metric, len(metrics))
	for i, k := range keys {
		ordered[i] = metrics[k.place]
	}
	return ordered
}
