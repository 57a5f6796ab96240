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
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// labelsKey is the key of some labels in a list.
type labelsKey struct {
	key   []byte
	place int
}

// labelsKeys returns those keys of labels that are wanted, ascending.
func labelsKeys(n int, of func(place int) (creator string, labels model.Labels),
	want func(key []byte) bool) []labelsKey {
	var keys []labelsKey
	for i := range n {
		if key := keyspace.LabelsKey(of(i)); want == nil || want(key) {
			if keys == nil {
				keys = make([]labelsKey, 0, n-i)
			}
			keys = append(keys, labelsKey{key, i})
		}
	}
	slices.SortFunc(keys, func(a, b labelsKey) int { return bytes.Compare(a.key, b.key) })
	return keys
}

// MetricsOfLabels returns the metrics of a creator that have these labels, nil for those that do not exist. The fault
// of a place says why its metric cannot be read.
//
// A sender names the same series together, request after request. So they were created together: in the order of
// their keys, with IDs that ascend. A key leads to the record of its metric, and the next records are mostly those of
// the next keys. Other records are read by ID.
func (s *Table) MetricsOfLabels(ctx context.Context, creator string, labels []model.Labels) (metrics []*model.Metric,
	faults []error, err error) {
	const mostAlone = 8 // records in a row without a wanted one behind
	metrics, faults = make([]*model.Metric, len(labels)), make([]error, len(labels))
	keys := labelsKeys(len(labels), func(i int) (string, model.Labels) { return creator, labels[i] }, s.known.mayHave)
	if len(keys) == 0 {
		return metrics, faults, nil
	}
	wanted := make(map[model.Labels]int, len(keys))
	for _, k := range keys {
		wanted[labels[k.place]] = k.place
	}
	byKey, err := s.log.DB.NewIter(&pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, byKey.Close()) }()
	var ids []uuid.UUID // to be read alone
	var places []int
	alone := 0
	for _, k := range keys {
		if metrics[k.place] != nil {
			continue
		}
		id, ok, err := idAt(byKey, k.key)
		if err != nil {
			return nil, nil, fmt.Errorf("index: read metric by labels: %w", err)
		}
		if ok && alone < mostAlone {
			n, err := s.readFrom(id, creator, wanted, metrics)
			if err != nil {
				return nil, nil, err
			}
			if alone++; n > 1 {
				alone = 0
			}
		}
		if ok && metrics[k.place] == nil {
			ids, places = append(ids, id), append(places, k.place)
		}
	}
	found := make([]*model.Metric, len(ids))
	if err := errors.Join(s.Find(ctx, ids, found), s.log.WaitDurable()); err != nil {
		return nil, nil, err
	}
	for i, m := range found {
		if metrics[places[i]] = m; m != nil {
			continue
		}
		if _, err := s.Metric(ids[i]); !errors.Is(err, model.ErrNotFound) { // else deleted since
			faults[places[i]] = err
		}
	}
	return metrics, faults, nil
}

// idAt returns the ID that is stored under a key.
func idAt(iter *pebble.Iterator, key []byte) (id uuid.UUID, ok bool, err error) {
	if !iter.SeekPrefixGE(key) {
		return id, false, iter.Error()
	}
	value, err := iter.ValueAndErr()
	if err != nil {
		return id, false, err
	}
	if id, err = uuid.FromBytes(value); err != nil {
		return id, false, fmt.Errorf("%w: key %x: %w", records.ErrCorrupt, key, err)
	}
	return id, true, nil
}

// readFrom sets the wanted metrics of a creator from the records at an ID and behind it, and returns their number. It
// ends where others lie.
func (s *Table) readFrom(id uuid.UUID, creator string, wanted map[model.Labels]int,
	metrics []*model.Metric) (int, error) {
	const mostOthers = 8 // unwanted records in a row
	seen := s.cache.generation.Load()
	iter, err := s.log.DB.NewIter(&pebble.IterOptions{LowerBound: keyspace.IDKey(keyspace.Metric, id),
		UpperBound: []byte{keyspace.Metric + 1}})
	if err != nil {
		return 0, err
	}
	var found []*model.Metric
	others := 0
	for valid := iter.First(); valid && others < mostOthers; valid = iter.Next() {
		others++
		value, err := iter.ValueAndErr()
		if err != nil {
			return 0, errors.Join(err, iter.Close())
		}
		id, _ := keyspace.LastID(iter.Key())
		m := s.cache.get(&id)
		if m == nil {
			m, err = s.decodeMetric(id, value)
		}
		if err != nil || m.Deleted || m.Creator != creator || m.Labels == "" {
			continue // its key leads to a record that does not decode
		}
		if place, ok := wanted[m.Labels]; ok && metrics[place] == nil {
			metrics[place], found, others = m, append(found, m), 0
		}
	}
	if err := errors.Join(iter.Error(), iter.Close(), s.log.WaitDurable()); err != nil {
		return 0, err
	}
	s.cache.insert(seen, found...)
	return len(found), nil
}

// byLabels returns metrics in the order of their labels' keys, and the keys; nil for metrics without labels. Lookups
// and writes in order cost less, and MetricsOfLabels is fast by it.
func byLabels(metrics []*model.Metric) (ordered []*model.Metric, keys [][]byte) {
	if len(metrics) == 0 || metrics[0].Labels == "" {
		return metrics, nil
	}
	ordered, keys = make([]*model.Metric, 0, len(metrics)), make([][]byte, 0, len(metrics))
	for _, k := range labelsKeys(len(metrics), func(i int) (creator string, labels model.Labels) {
		return metrics[i].Creator, metrics[i].Labels
	}, nil) {
		ordered, keys = append(ordered, metrics[k.place]), append(keys, k.key)
	}
	return ordered, keys
}

// labelsKeyOf returns the key of the labels of the metric at a place among those that c creates.
func labelsKeyOf(c *commits.Change, place int, m *model.Metric) []byte {
	if c.LabelsKeys != nil {
		return c.LabelsKeys[place]
	}
	return keyspace.LabelsKey(m.Creator, m.Labels)
}
