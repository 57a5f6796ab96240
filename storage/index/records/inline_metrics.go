package records

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// A resource's value lists the metrics that it was created with: resource and metrics are read by one key, and written
// as one. Once one of them goes, or another comes, all get keys of their own (unlist), and the list is never made
// again: so a list is never changed, and what it does not name the resource does not have.

// MostInline is how many metrics a value lists: it is read and written as a whole.
const MostInline = 64

// AppendInline appends the metrics that a resource was created with to its value.
func AppendInline(value []byte, metrics []*model.Metric) []byte {
	value[1] |= flagInline
	value = binary.AppendUvarint(value, uint64(len(metrics)))
	for _, m := range metrics {
		value = append(appendText(value, m.Name), m.ID[:]...)
	}
	return value
}

// InlineMetrics is that part of a value.
type InlineMetrics struct {
	Fields []byte // nil: none are listed
}

// Each calls f for each metric until it returns false; the name is a piece of the value. ok is false for bytes that are
// no list.
func (l InlineMetrics) Each(f func(name []byte, id uuid.UUID) bool) (ok bool) {
	in := fieldReader{rest: l.Fields}
	for n := in.uvarint(); n > 0 && !in.short; n-- {
		name, id := in.text(), in.bytes(len(uuid.UUID{}))
		if !in.short && !f(name, uuid.UUID(id)) {
			return true
		}
	}
	return !in.short && len(in.rest) == 0
}

// Valid reports whether each reaches all metrics.
func (l InlineMetrics) Valid() bool {
	return l.Fields == nil || l.Each(func([]byte, uuid.UUID) bool { return true })
}

// ErrInline is the error of a list that is not valid.
func ErrInline(resource uuid.UUID) error {
	return fmt.Errorf("%w: resource %s: its metrics", ErrCorrupt, resource)
}

// ByName returns the metrics of these names; nil: all, whose names it copies. ok is false for bytes that are no list.
func (l InlineMetrics) ByName(names []string) (metrics map[string]uuid.UUID, ok bool) {
	metrics = make(map[string]uuid.UUID, len(names))
	ok = l.Each(func(name []byte, id uuid.UUID) bool {
		if names == nil {
			metrics[string(name)] = id
		} else if i := IndexOf(names, name); i >= 0 {
			metrics[names[i]] = id
		}
		return true
	})
	return metrics, ok
}

// IndexOf returns which of names it is; -1: none.
func IndexOf(names []string, name []byte) int {
	return slices.IndexFunc(names, func(n string) bool { return n == string(name) })
}

// Find returns the metric of a name.
func (l InlineMetrics) Find(name string) (found uuid.UUID, ok bool) {
	l.Each(func(have []byte, id uuid.UUID) bool {
		if ok = string(have) == name; ok {
			found = id
		}
		return !ok
	})
	return found, ok
}

// InlineOf returns the metrics that a resource's value lists; listed is false if they have keys of their own.
func InlineOf(id uuid.UUID, value []byte) (l InlineMetrics, listed bool, err error) {
	r, ok := parseResource(value)
	if !ok {
		return l, false, fmt.Errorf("%w: resource %s", ErrCorrupt, id)
	}
	if r.flags&flagInline == 0 {
		return l, false, nil
	}
	in := r.attributes
	for n := r.count; n > 0 && !in.short; n-- {
		in.uvarint()
		in.skipValue()
	}
	l.Fields = in.rest
	if in.short || !l.Valid() {
		return l, false, ErrInline(id)
	}
	return l, true, nil
}

// WithInlineOf returns a resource's new value with the metrics that the one before lists.
func WithInlineOf(id uuid.UUID, value, before []byte) ([]byte, error) {
	l, listed, err := InlineOf(id, before)
	if err != nil || !listed {
		return value, err
	}
	value[1] |= flagInline
	return append(value, l.Fields...), nil
}

// WithoutInline returns a copy of a resource's value without the list that it has.
func WithoutInline(value []byte, l InlineMetrics) []byte {
	value = append([]byte(nil), value[:len(value)-len(l.Fields)]...)
	value[1] &^= flagInline
	return value
}
