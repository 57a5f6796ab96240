package index

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// A resource's value lists the metrics that it was created with: resource and metrics are read by one key, and written
// as one. Once one of them goes, or another comes, all get keys of their own (unlist), and the list is never made
// again: so a list is never changed, and what it does not name the resource does not have.

// mostListed is how many metrics a value lists: it is read and written as a whole.
const mostListed = 64

// appendListed appends the metrics that a resource was created with to its value.
func appendListed(value []byte, metrics []*model.Metric) []byte {
	value[1] |= flagListed
	value = binary.AppendUvarint(value, uint64(len(metrics)))
	for _, m := range metrics {
		value = append(appendText(value, m.Name), m.ID[:]...)
	}
	return value
}

// inlineMetrics is that part of a value.
type inlineMetrics struct {
	fields []byte // nil: none are listed
}

// each calls f for each metric until it returns false; the name is a piece of the value. ok is false for bytes that are
// no list.
func (l inlineMetrics) each(f func(name []byte, id uuid.UUID) bool) (ok bool) {
	in := fieldReader{rest: l.fields}
	for n := in.uvarint(); n > 0 && !in.short; n-- {
		name, id := in.text(), in.bytes(len(uuid.UUID{}))
		if !in.short && !f(name, uuid.UUID(id)) {
			return true
		}
	}
	return !in.short && len(in.rest) == 0
}

// valid reports whether each reaches all metrics.
func (l inlineMetrics) valid() bool {
	return l.fields == nil || l.each(func([]byte, uuid.UUID) bool { return true })
}

// errList is the error of a list that is not valid.
func errList(resource uuid.UUID) error {
	return fmt.Errorf("%w: resource %s: its metrics", errCorrupt, resource)
}

// byName returns the metrics of these names; nil: all, whose names it copies. ok is false for bytes that are no list.
func (l inlineMetrics) byName(names []string) (metrics map[string]uuid.UUID, ok bool) {
	metrics = make(map[string]uuid.UUID, len(names))
	ok = l.each(func(name []byte, id uuid.UUID) bool {
		if names == nil {
			metrics[string(name)] = id
		} else if i := indexOf(names, name); i >= 0 {
			metrics[names[i]] = id
		}
		return true
	})
	return metrics, ok
}

// indexOf returns which of names it is; -1: none.
func indexOf(names []string, name []byte) int {
	return slices.IndexFunc(names, func(n string) bool { return n == string(name) })
}

// find returns the metric of a name.
func (l inlineMetrics) find(name string) (found uuid.UUID, ok bool) {
	l.each(func(have []byte, id uuid.UUID) bool {
		if ok = string(have) == name; ok {
			found = id
		}
		return !ok
	})
	return found, ok
}

// listedOf returns the metrics that a resource's value lists; listed is false if they have keys of their own.
func listedOf(id uuid.UUID, value []byte) (l inlineMetrics, listed bool, err error) {
	r, ok := parseResource(value)
	if !ok {
		return l, false, fmt.Errorf("%w: resource %s", errCorrupt, id)
	}
	if r.flags&flagListed == 0 {
		return l, false, nil
	}
	in := r.attributes
	for n := r.count; n > 0 && !in.short; n-- {
		in.uvarint()
		in.skipValue()
	}
	l.fields = in.rest
	if in.short || !l.valid() {
		return l, false, errList(id)
	}
	return l, true, nil
}

// readListed returns the metrics of these names (nil: all) that a resource's value lists, as listedOf does, copied;
// none if there is no such resource.
func (s *Store) readListed(id uuid.UUID, names []string) (metrics map[string]uuid.UUID, listed bool, err error) {
	key := [17]byte{prefixResource}
	copy(key[1:], id[:])
	value, closer, err := s.db.Get(key[:])
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	defer closer.Close()
	l, listed, err := listedOf(id, value)
	if err != nil || !listed {
		return nil, false, err
	}
	metrics, _ = l.byName(names)
	return metrics, true, nil
}

// withListOf returns a resource's new value with the metrics that the one before lists.
func withListOf(id uuid.UUID, value, before []byte) ([]byte, error) {
	l, listed, err := listedOf(id, before)
	if err != nil || !listed {
		return value, err
	}
	value[1] |= flagListed
	return append(value, l.fields...), nil
}

// unlist gives the metrics that a resource's value lists keys of their own, and returns the value without them.
func (c *change) unlist(id uuid.UUID, value []byte) ([]byte, error) {
	l, listed, err := listedOf(id, value)
	if err != nil || !listed {
		return value, err
	}
	l.each(func(name []byte, metric uuid.UUID) bool {
		err = c.Set(namedMetricKey(id, string(name)), metric[:], nil)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	value = append([]byte(nil), value[:len(value)-len(l.fields)]...)
	value[1] &^= flagListed
	if c.unlisted == nil {
		c.unlisted = map[uuid.UUID]bool{}
	}
	c.unlisted[id] = true
	return value, c.Set(idKey(prefixResource, id), value, nil)
}

// unlistStored is unlist for a resource whose value c changes in no other way; nothing happens if there is none.
func (s *Store) unlistStored(c *change, id uuid.UUID) error {
	if c.unlisted[id] {
		return nil
	}
	value, err := s.get(idKey(prefixResource, id))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("index: read resource %s: %w", id, err)
	}
	_, err = c.unlist(id, value)
	return err
}
