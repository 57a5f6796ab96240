package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
)

// Size returns what a metric takes. Values are not decoded.
func (s *Store) Size(metric uuid.UUID) (size model.ArchiveSize, err error) {
	size.Splits = make(map[time.Duration]int64)
	iter, err := s.reads().NewIter(&pebble.IterOptions{LowerBound: metricKey(nil, metric, 0),
		UpperBound: metricEnd(nil, metric)})
	if err != nil {
		return size, fmt.Errorf("archive: size of %s: %w", metric, err)
	}
	for valid := iter.First(); valid; valid = iter.Next() {
		value, err := iter.ValueAndErr()
		if err != nil {
			return size, errors.Join(fmt.Errorf("archive: size of %s: %w", metric, err), iter.Close())
		}
		key := iter.Key()
		bytes := int64(len(key) + len(value))
		if len(key) == splitKeySize && key[kindOffset] == kindSplit {
			size.Splits[time.Duration(binary.BigEndian.Uint64(key[kindOffset+1:]))] += bytes
		} else if key[kindOffset] == kindRaw {
			size.Raw += bytes
		}
	}
	if err := iter.Close(); err != nil {
		return size, fmt.Errorf("archive: size of %s: %w", metric, err)
	}
	if size.Dropped, err = s.Dropped(metric); err != nil {
		return size, err
	}
	size.Late, err = s.Late(metric)
	return size, err
}
