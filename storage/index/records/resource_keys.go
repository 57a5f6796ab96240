package records

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// EachResourceKey calls f for each index key of a live resource, from its stored value alone: the keys to delete do not
// depend on later changes of its type. The key is valid during the call.
func EachResourceKey(id uuid.UUID, value []byte, f func(key []byte) error) error {
	r, ok := parseResource(value)
	if !ok {
		return fmt.Errorf("%w: resource %s", ErrCorrupt, id)
	}
	key := make([]byte, 0, 128)
	emit := func(dst []byte) error {
		key = append(dst, id[:]...)
		return f(key)
	}
	key = append(append(append(key, keyspace.TypeResource), r.typeName...), 0)
	if err := emit(keyspace.AppendTime(keyspace.AppendTime(key, r.revisionStart), r.startedAt)); err != nil {
		return err
	}
	texts := [...]struct {
		field byte
		text  []byte
		given bool
	}{
		{keyspace.FieldCreator, r.creator, true},
		{keyspace.FieldUser, r.user, r.flags&flagUserID != 0},
		{keyspace.FieldProject, r.project, r.flags&flagProjectID != 0},
		{keyspace.FieldOriginal, r.original, r.flags&flagOwnID == 0},
	}
	for _, t := range texts {
		if !t.given {
			continue
		}
		if err := emit(keyspace.AppendText(append(key[:0], keyspace.Field, t.field), t.text)); err != nil {
			return err
		}
	}
	if err := emit(keyspace.AppendTime(append(key[:0], keyspace.Field, keyspace.FieldStarted),
		r.startedAt)); err != nil {
		return err
	}
	if r.flags&flagEndedAt != 0 {
		if err := emit(keyspace.AppendTime(append(key[:0], keyspace.Field, keyspace.FieldEnded),
			r.endedAt)); err != nil {
			return err
		}
	}
	in := r.attributes
	for n := r.count; n > 0; n-- {
		era := uint32(in.uvarint())
		key = append(append(append(key[:0], keyspace.Attribute), r.typeName...), 0)
		key = binary.BigEndian.AppendUint32(key, era)
		// As AppendValue does, without making a value of it.
		switch kind := model.AttributeKind(in.bytes(1)[0]); kind {
		case 0:
			continue
		case model.KindBool:
			in.bytes(1)
			continue
		case model.KindString:
			key = keyspace.AppendText(key, in.text())
		case model.KindUUID:
			key = append(key, in.bytes(16)...)
		case model.KindNumber:
			key = keyspace.AppendNumber(key, math.Float64frombits(in.uint64()))
		case model.KindDatetime:
			key = keyspace.AppendTime(key, carbonara.Timestamp(in.uint64()))
		default:
			return fmt.Errorf("%w: resource %s: unknown kind of attribute", ErrCorrupt, id)
		}
		if in.short {
			return fmt.Errorf("%w: resource %s: truncated", ErrCorrupt, id)
		}
		if err := emit(key); err != nil {
			return err
		}
	}
	return nil
}

// ResourceKeys returns the index keys of a live resource, ascending.
func ResourceKeys(id uuid.UUID, value []byte) (keys []string, err error) {
	err = EachResourceKey(id, value, func(key []byte) error {
		keys = append(keys, string(key))
		return nil
	})
	slices.Sort(keys)
	return keys, err
}

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
