package archive

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/engine"
)

// Size returns what a metric takes. Values are not decoded.
func (s *Store) Size(metric uuid.UUID) (size model.ArchiveSize, err error) {
	size.Splits = make(map[time.Duration]int64)
	err = engine.Each(s.reads(), metricKey(nil, metric, 0), metricEnd(nil, metric), func(key, value []byte) error {
		bytes := int64(len(key) + len(value))
		if len(key) == splitKeySize && key[kindOffset] == kindSplit {
			size.Splits[time.Duration(binary.BigEndian.Uint64(key[kindOffset+1:]))] += bytes
		} else if key[kindOffset] == kindRaw {
			size.Raw += bytes
		}
		return nil
	})
	if err != nil {
		return size, fmt.Errorf("archive: size of %s: %w", metric, err)
	}
	if size.Dropped, err = s.Dropped(metric); err != nil {
		return size, err
	}
	size.Late, err = s.Late(metric)
	return size, err
}
