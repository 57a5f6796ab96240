package metrics

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index/commits"
	"github.com/gnocco-db/gnocco/storage/index/keyspace"
)

// lastMetric is no lower than any ID in the store that model.NewMetricID made: a higher one cannot be there,
// and to look for it would be a quarter of the cost of creating a metric. Guarded by Store.mu.
type lastMetric struct{ id uuid.UUID }

// newMetricID makes the ID of a metric that c is to create, unless it has one, which nobody else may have. Made under
// the lock, it is above those of all requests before, and nobody has to look for it.
func (s *Table) newMetricID(c *commits.Change, m *model.Metric) error {
	if m.ID == uuid.Nil {
		m.ID = model.NewMetricID()
		if s.last.raise(m.ID) {
			return nil
		}
	}
	exists := false
	if !s.last.raise(m.ID) {
		var err error
		if exists, err = c.Has(keyspace.IDKey(keyspace.Metric, m.ID)); err != nil {
			return err
		}
	}
	if exists || c.TakenMetrics[m.ID] {
		return model.Exists(model.NounMetric, m.ID.String())
	}
	c.TakenMetrics[m.ID] = true
	return nil
}

// isNew reports whether an ID is of that kind and higher than all others.
func (l *lastMetric) isNew(id uuid.UUID) bool {
	return id.Version() == 7 && bytes.Compare(id[:], l.id[:]) > 0
}

// raise reports whether an ID isNew. If so, it is not new any more.
func (l *lastMetric) raise(id uuid.UUID) bool {
	isNew := l.isNew(id)
	if isNew {
		l.id = id
	}
	return isNew
}

// LoadLastMetric looks for the last such ID before tomorrow: the clocks of those who make IDs may differ. Among too
// many random ones, of stores from before, it is not looked for, and no ID counts as new.
func (s *Table) LoadLastMetric(now time.Time) (err error) {
	const mostSeen = 10_000 // random IDs between
	tomorrow := make([]byte, 0, 1+8)
	tomorrow = binary.BigEndian.AppendUint64(append(tomorrow, keyspace.Metric),
		uint64(now.Add(24*time.Hour).UnixMilli())<<16)
	iter, err := s.log.DB.NewIter(&pebble.IterOptions{LowerBound: []byte{keyspace.Metric}, UpperBound: tomorrow})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	seen := 0
	for valid := iter.Last(); valid; valid = iter.Prev() {
		id, ok := keyspace.LastID(iter.Key())
		if !ok {
			continue
		}
		if id.Version() == 7 {
			s.last.id = id
			break
		}
		if seen++; seen == mostSeen {
			s.last.id = uuid.Max
			break
		}
	}
	return iter.Error()
}
