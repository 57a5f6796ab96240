package metrics

import (
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// Put writes metrics that are new. It goes kind by kind of key: with IDs that ascend, as new ones do, each run is in
// order, and Pebble inserts next to the last key it inserted.
func Put(c *commits.Change, metrics []*model.Metric) error {
	if len(metrics) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(metrics), func(a, b *model.Metric) int {
		return slices.Compare(a.ID[:], b.ID[:])
	})
	var value []byte
	for _, m := range sorted {
		c.TouchMetric(m.ID)
		value = records.AppendMetric(value[:0], m)
		if err := setFor(c, value, m.ID, keyspace.Metric); err != nil {
			return err
		}
	}
	for _, m := range metrics { // those of a resource lie together
		if m.ResourceID == nil || c.Listed[*m.ResourceID] {
			continue
		}
		c.Key = append(append(append(c.Key[:0], keyspace.NamedMetric), m.ResourceID[:]...), m.Name...)
		if err := c.Set(c.Key, m.ID[:], nil); err != nil {
			return err
		}
	}
	for i, m := range metrics {
		if m.Labels == "" {
			continue
		}
		if err := c.Set(labelsKeyOf(c, i, m), m.ID[:], nil); err != nil {
			return err
		}
	}
	for _, m := range sorted {
		c.Key = append(append(append(c.Key[:0], keyspace.PolicyMetric), m.ArchivePolicy.Name...), 0)
		c.Key = append(c.Key, m.ID[:]...)
		if err := c.Set(c.Key, nil, nil); err != nil {
			return err
		}
	}
	for _, f := range records.MetricFields {
		for _, m := range sorted {
			text := f.Get(m)
			if text == "" && f.Sparse {
				continue
			}
			c.Key = append(records.AppendMetricFieldPrefix(c.Key[:0], f.Field, text), m.ID[:]...)
			if err := c.Set(c.Key, nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// setFor sets the value of a key that is a prefix and an ID.
func setFor(c *commits.Change, value []byte, id uuid.UUID, prefix byte) error {
	c.Key = append(append(c.Key[:0], prefix), id[:]...)
	return c.Set(c.Key, value, nil)
}

// replace writes what has become of a live metric, whose keys differ by name, resource or in that it is marked
// deleted now.
func replace(c *commits.Change, was, is *model.Metric) error {
	c.TouchMetric(is.ID)
	if was.ResourceID != nil {
		if err := c.Delete(keyspace.NamedMetricKey(*was.ResourceID, was.Name), nil); err != nil {
			return err
		}
	}
	if is.Deleted && was.Labels != "" {
		if err := c.Delete(keyspace.LabelsKey(was.Creator, was.Labels), nil); err != nil {
			return err
		}
	}
	for _, key := range records.MetricKeys(was) {
		if err := c.Delete(key, nil); err != nil {
			return err
		}
	}
	if is.ResourceID != nil {
		if err := c.Set(keyspace.NamedMetricKey(*is.ResourceID, is.Name), is.ID[:], nil); err != nil {
			return err
		}
	}
	if !is.Deleted {
		for _, key := range records.MetricKeys(is) {
			if err := c.Set(key, nil, nil); err != nil {
				return err
			}
		}
	}
	return c.Set(keyspace.IDKey(keyspace.Metric, is.ID), records.AppendMetric(nil, is), nil)
}
