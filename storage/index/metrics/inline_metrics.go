package metrics

import (
	"errors"
	"fmt"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
	"github.com/gnocco-db/gnocco/storage/index/records"
)

// readListed returns the metrics of these names (nil: all) that a resource's value lists, as InlineOf does, copied;
// none if there is no such resource.
func (s *Table) readListed(id uuid.UUID, names []string) (metrics map[string]uuid.UUID, listed bool, err error) {
	listed, err = s.lookAtList(id, func(l records.InlineMetrics) { metrics, _ = l.ByName(names) })
	return metrics, listed, err
}

// lookAtList calls look with the metrics that a resource's value lists, if it does, and reports that. They are valid
// during the call.
func (s *Table) lookAtList(id uuid.UUID, look func(records.InlineMetrics)) (listed bool, err error) {
	key := [17]byte{keyspace.Resource}
	copy(key[1:], id[:])
	value, closer, err := s.log.DB.Get(key[:])
	if errors.Is(err, pebble.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer closer.Close()
	l, listed, err := records.InlineOf(id, value)
	if err != nil || !listed {
		return false, err
	}
	look(l)
	return true, nil
}

// Unlist gives the metrics that a resource's value lists keys of their own, and returns the value without them.
func Unlist(c *commits.Change, id uuid.UUID, value []byte) ([]byte, error) {
	l, listed, err := records.InlineOf(id, value)
	if err != nil || !listed {
		return value, err
	}
	l.Each(func(name []byte, metric uuid.UUID) bool {
		err = c.Set(keyspace.NamedMetricKey(id, string(name)), metric[:], nil)
		return err == nil
	})
	if err != nil {
		return nil, err
	}
	value = records.WithoutInline(value, l)
	if c.Unlisted == nil {
		c.Unlisted = map[uuid.UUID]bool{}
	}
	c.Unlisted[id] = true
	return value, c.Set(keyspace.IDKey(keyspace.Resource, id), value, nil)
}

// unlistStored is unlist for a resource whose value c changes in no other way. It does nothing if there is no such
// resource.
func (s *Table) unlistStored(c *commits.Change, id uuid.UUID) error {
	if c.Unlisted[id] {
		return nil
	}
	value, err := s.log.Get(keyspace.IDKey(keyspace.Resource, id))
	if err != nil {
		return fmt.Errorf("index: read resource %s: %w", id, err)
	}
	if value != nil {
		_, err = Unlist(c, id, value)
	}
	return err
}
