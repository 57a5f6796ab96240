package records

import (
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// MetricFields are those under which the live metrics are found. A missing field sorts last, and has a key where most
// metrics have the field. So a list by such a field needs no other keys. Units are rare, and have keys only where they
// are.
var MetricFields = []struct {
	Field  byte
	Sparse bool
	Get    func(*model.Metric) string
}{
	{keyspace.FieldName, false, func(m *model.Metric) string { return m.Name }},
	{keyspace.FieldCreator, false, func(m *model.Metric) string { return m.Creator }},
	{keyspace.FieldUnit, true, func(m *model.Metric) string { return m.Unit }},
}

// First bytes of a metric's value in a key.
const (
	keyText = 1
	keyNone = 2
)

// AppendMetricFieldPrefix appends what the keys of all metrics begin with that have the text, "" for none, in a field.
func AppendMetricFieldPrefix(dst []byte, field byte, text string) []byte {
	dst = append(dst, keyspace.MetricField, field)
	if text == "" {
		return append(dst, keyNone)
	}
	return keyspace.AppendText(append(dst, keyText), text)
}

// MetricKeys returns the keys of a live metric under PrefixMetricField.
func MetricKeys(m *model.Metric) [][]byte {
	var keys [][]byte
	for _, f := range MetricFields {
		if text := f.Get(m); text != "" || !f.Sparse {
			keys = append(keys, append(AppendMetricFieldPrefix(nil, f.Field, text), m.ID[:]...))
		}
	}
	return keys
}
