package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"gnocco/carbonara"
)

// Footing is what stands in for raw measures that are gone, after a metric got wider groups than it had: of each group that
// began before At and had not ended then, what its measures before At make. Together with a raw series that is complete from
// At on, such groups can be computed again. A column that is not known stays so for the whole group.
type Footing struct {
	At    carbonara.Timestamp // 0 if nothing has to be stood in for
	Rows  []carbonara.Groups  // one group each, of distinct granularities
	Since []Since
}

// Since says that a granularity was added when not all older measures were known: groups that start earlier are missing.
type Since struct {
	Granularity time.Duration
	From        carbonara.Timestamp
}

// SinceOf returns from where on a granularity has all groups, as far as they have not expired; f may be nil.
func (f *Footing) SinceOf(granularity time.Duration) carbonara.Timestamp {
	if f != nil {
		for _, s := range f.Since {
			if s.Granularity == granularity {
				return s.From
			}
		}
	}
	return 0
}

// Row returns the row of a granularity, nil if it has none: no measure before At is in the group.
func (f *Footing) Row(granularity time.Duration) *carbonara.Groups {
	for i := range f.Rows {
		if f.Rows[i].Granularity == granularity {
			return &f.Rows[i]
		}
	}
	return nil
}

// keyOf returns the split that the group lies in which began before At.
func (f *Footing) keyOf(granularity time.Duration) carbonara.SplitKey {
	return carbonara.SplitKeyOf(f.At.Floor(granularity), granularity)
}

// footingVersion is the first byte of a footing; docs/format/archive.md draws the rest.
const footingVersion = 1

func appendFooting(dst []byte, f *Footing) []byte {
	from := len(dst)
	dst = binary.BigEndian.AppendUint64(append(dst, footingVersion), uint64(f.At))
	dst = binary.AppendUvarint(dst, uint64(len(f.Since)))
	for _, s := range f.Since {
		dst = binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, uint64(s.Granularity)), uint64(s.From))
	}
	for i := range f.Rows {
		row := &f.Rows[i]
		dst = binary.BigEndian.AppendUint64(dst, uint64(row.Granularity))
		split := carbonara.AppendSplit(nil, f.keyOf(row.Granularity), row)
		dst = append(binary.AppendUvarint(dst, uint64(len(split))), split...)
	}
	return binary.BigEndian.AppendUint64(dst, xxhash.Sum64(dst[from:]))
}

var errFooting = fmt.Errorf("archive: footing: %w", carbonara.ErrCorrupt)

func decodeFooting(src []byte) (*Footing, error) {
	end := len(src) - 8
	if end < 9 || src[0] != footingVersion || xxhash.Sum64(src[:end]) != binary.BigEndian.Uint64(src[end:]) {
		return nil, errFooting
	}
	f := &Footing{At: carbonara.Timestamp(binary.BigEndian.Uint64(src[1:]))}
	if !f.At.Valid() {
		return nil, errFooting
	}
	src = src[9:end]
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)-size)/16 {
		return nil, errFooting
	}
	src = src[size:]
	for range n {
		f.Since = append(f.Since, Since{time.Duration(binary.BigEndian.Uint64(src)), carbonara.Timestamp(binary.BigEndian.Uint64(src[8:]))})
		src = src[16:]
	}
	for len(src) > 0 {
		if len(src) < 9 {
			return nil, errFooting
		}
		granularity := binary.BigEndian.Uint64(src)
		length, size := binary.Uvarint(src[8:])
		if size <= 0 || length > uint64(len(src)-8-size) || granularity == 0 || granularity > uint64(carbonara.MaxTimestamp) {
			return nil, errFooting
		}
		src = src[8+size:]
		row, err := decodeFootingRow(f.keyOf(time.Duration(granularity)), src[:length])
		if err != nil {
			return nil, err
		}
		f.Rows = append(f.Rows, row)
		src = src[length:]
	}
	return f, nil
}

func decodeFootingRow(key carbonara.SplitKey, split []byte) (row carbonara.Groups, err error) {
	info, err := carbonara.SplitInfo(split)
	if err != nil {
		return row, err
	}
	columns := make([]carbonara.Column, len(info.Columns))
	for i, c := range info.Columns {
		columns[i] = c.Column
	}
	row.Reset(key.Granularity, columns)
	if err = carbonara.DecodeSplit(split, key, columns, 0, carbonara.MaxTimestamp, &row); err == nil && row.Len() != 1 {
		err = errFooting
	}
	return row, err
}

// Footing returns that of a metric; nil if it has none.
func (s *Store) Footing(metric uuid.UUID) (*Footing, error) {
	value, closer, err := s.db.Get(metricKey(nil, metric, kindFooting))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("archive: read footing of %s: %w", metric, err)
	}
	defer closer.Close()
	return decodeFooting(value)
}

// SetFooting replaces a metric's footing; nil removes it.
func (c *Checkpoint) SetFooting(metric uuid.UUID, f *Footing) error {
	c.key = metricKey(c.key, metric, kindFooting)
	if f == nil {
		return c.batch.Delete(c.key, nil)
	}
	return c.batch.Set(c.key, appendFooting(nil, f), nil)
}
