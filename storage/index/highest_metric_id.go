package index

import (
	"bytes"
	"encoding/binary"
	"errors"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"
)

// lastMetric is the highest ID that model.NewMetricID made, of all that are in the store: a higher one cannot be there,
// and to look for it would be a quarter of the cost of creating a metric. Guarded by Store.mu.
type lastMetric struct{ id uuid.UUID }

// isNew reports whether an ID is of that kind and higher than all others.
func (l *lastMetric) isNew(id uuid.UUID) bool {
	return id.Version() == 7 && bytes.Compare(id[:], l.id[:]) > 0
}

// written notes an ID that is in the store now.
func (l *lastMetric) written(id uuid.UUID) {
	if l.isNew(id) {
		l.id = id
	}
}

// loadLastMetric looks for the last such ID before tomorrow: the clocks of those who make IDs may differ. Among too
// many random ones, of stores from before, it is not looked for, and no ID counts as new.
func (s *Store) loadLastMetric(now time.Time) (err error) {
	const mostSeen = 10_000 // random IDs between
	tomorrow := make([]byte, 0, 1+8)
	tomorrow = binary.BigEndian.AppendUint64(append(tomorrow, prefixMetric), uint64(now.Add(24*time.Hour).UnixMilli())<<16)
	iter, err := s.db.NewIter(&pebble.IterOptions{LowerBound: []byte{prefixMetric}, UpperBound: tomorrow})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, iter.Close()) }()
	seen := 0
	for valid := iter.Last(); valid; valid = iter.Prev() {
		id, ok := lastID(iter.Key())
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
