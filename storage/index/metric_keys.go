package index

import (
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// metricFields are those under which the live metrics are found. What a metric does not have sorts last, and has a key
// where most have one: so a list by that field needs nothing else. Units are rare, and have keys only where they are.
var metricFields = []struct {
	field  byte
	sparse bool
	get    func(*model.Metric) string
}{
	{fieldName, false, func(m *model.Metric) string { return m.Name }},
	{fieldCreator, false, func(m *model.Metric) string { return m.Creator }},
	{fieldUnit, true, func(m *model.Metric) string { return m.Unit }},
}

// First bytes of a metric's value in a key.
const (
	keyText = 1
	keyNone = 2
)

// appendMetricFieldPrefix appends what the keys of all metrics begin with that have the text, "" for none, in a field.
func appendMetricFieldPrefix(dst []byte, field byte, text string) []byte {
	dst = append(dst, prefixMetricField, field)
	if text == "" {
		return append(dst, keyNone)
	}
	return appendKeyText(append(dst, keyText), text)
}

// metricKeys returns the keys of a live metric under prefixMetricField.
func metricKeys(m *model.Metric) [][]byte {
	var keys [][]byte
	for _, f := range metricFields {
		if text := f.get(m); text != "" || !f.sparse {
			keys = append(keys, append(appendMetricFieldPrefix(nil, f.field, text), m.ID[:]...))
		}
	}
	return keys
}

// putMetrics writes metrics that are new. It goes kind by kind of key: with IDs that ascend, as new ones do, each run
// is in order, and Pebble inserts next to what it has just inserted.
func (c *change) putMetrics(metrics []*model.Metric) error {
	if len(metrics) == 0 {
		return nil
	}
	sorted := slices.SortedFunc(slices.Values(metrics), func(a, b *model.Metric) int {
		return slices.Compare(a.ID[:], b.ID[:])
	})
	var value []byte
	for _, m := range sorted {
		c.touched = append(c.touched, changed{id: m.ID})
		value = appendMetric(value[:0], m)
		if err := c.setFor(value, m.ID, prefixMetric); err != nil {
			return err
		}
	}
	for _, m := range metrics { // those of a resource lie together
		if m.ResourceID == nil || c.listed[*m.ResourceID] {
			continue
		}
		c.key = append(append(append(c.key[:0], prefixNamedMetric), m.ResourceID[:]...), m.Name...)
		if err := c.Set(c.key, m.ID[:], nil); err != nil {
			return err
		}
	}
	for _, m := range metrics {
		if m.Labels == "" {
			continue
		}
		if err := c.Set(labelsKey(m.Creator, m.Labels), m.ID[:], nil); err != nil {
			return err
		}
	}
	for _, m := range sorted {
		c.key = append(append(append(c.key[:0], prefixPolicyMetric), m.ArchivePolicy.Name...), 0)
		if err := c.Set(append(c.key, m.ID[:]...), nil, nil); err != nil {
			return err
		}
	}
	for _, f := range metricFields {
		for _, m := range sorted {
			text := f.get(m)
			if text == "" && f.sparse {
				continue
			}
			c.key = appendMetricFieldPrefix(c.key[:0], f.field, text)
			if err := c.Set(append(c.key, m.ID[:]...), nil, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// setFor sets the value of a key that is a prefix and an ID.
func (c *change) setFor(value []byte, id uuid.UUID, prefix byte) error {
	c.key = append(append(c.key[:0], prefix), id[:]...)
	return c.Set(c.key, value, nil)
}

// replaceMetric writes what has become of a live metric, whose keys differ by name, resource or in that it is marked
// deleted now.
func (c *change) replaceMetric(was, is *model.Metric) error {
	c.touched = append(c.touched, changed{id: is.ID})
	if was.ResourceID != nil {
		if err := c.Delete(namedMetricKey(*was.ResourceID, was.Name), nil); err != nil {
			return err
		}
	}
	if is.Deleted && was.Labels != "" {
		if err := c.Delete(labelsKey(was.Creator, was.Labels), nil); err != nil {
			return err
		}
	}
	for _, key := range metricKeys(was) {
		if err := c.Delete(key, nil); err != nil {
			return err
		}
	}
	if is.ResourceID != nil {
		if err := c.Set(namedMetricKey(*is.ResourceID, is.Name), is.ID[:], nil); err != nil {
			return err
		}
	}
	if !is.Deleted {
		for _, key := range metricKeys(is) {
			if err := c.Set(key, nil, nil); err != nil {
				return err
			}
		}
	}
	return c.Set(idKey(prefixMetric, is.ID), appendMetric(nil, is), nil)
}
