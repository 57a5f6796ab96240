package archive

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
)

// PartialGroups replace raw measures that are gone, after a metric got wider groups than it had. They hold one row for
// each group that began before a time and had not ended then: the aggregates of its measures until that time. With a
// raw series that is complete from that time on, such groups can be computed again. An unknown column stays unknown for
// the whole group.
type PartialGroups struct {
	Before carbonara.Timestamp // rows hold the measures before it; 0 without rows
	Rows   []carbonara.Groups  // one group each, of distinct granularities
	Since  []Since
}

// Since says that a granularity was added when not all older measures were known: groups that start earlier are
// missing.
type Since struct {
	Granularity time.Duration
	From        carbonara.Timestamp
}

// SinceOf returns from where on a granularity has all groups, as far as they have not expired; f may be nil.
func (f *PartialGroups) SinceOf(granularity time.Duration) carbonara.Timestamp {
	if f != nil {
		for _, s := range f.Since {
			if s.Granularity == granularity {
				return s.From
			}
		}
	}
	return 0
}

// Row returns the row of a granularity, nil if it has none: no measure before f.Before is in the group.
func (f *PartialGroups) Row(granularity time.Duration) *carbonara.Groups {
	for i := range f.Rows {
		if f.Rows[i].Granularity == granularity {
			return &f.Rows[i]
		}
	}
	return nil
}

// Open returns partial groups as the open groups of a plan, which a series that starts there continues. Their sums are
// continued as they are stored, rounded once, so that later measures give the same sums in any batches.
func (f *PartialGroups) Open(plan *carbonara.Plan) []float64 {
	var open []float64
	for _, g := range plan.Granularities {
		row, from := f.Row(g), len(open)
		for _, c := range plan.Columns {
			v := carbonara.Absent()
			if row != nil {
				if values := row.Column(c); values != nil {
					v = values[0]
				}
			} else if c.Base() == carbonara.ColumnCount {
				v = 0 // nothing came before
			}
			open = append(open, v)
		}
		open = append(open, make([]float64, plan.OpenValues()-len(plan.Columns))...)
		if row != nil {
			plan.ScaleOpen(open[from:], row)
		}
	}
	return open
}

// MaskUnknown makes columns absent in groups that were computed on top of partial groups which lack these columns.
func (f *PartialGroups) MaskUnknown(groups *carbonara.Groups) {
	row := f.Row(groups.Granularity)
	if row == nil || groups.Len() == 0 || groups.Starts[0] != row.Starts[0] {
		return
	}
	for i, c := range groups.Columns {
		if values := row.Column(c); values == nil || carbonara.IsAbsent(values[0]) {
			groups.Values[i][0] = carbonara.Absent()
		}
	}
}

// keyOf returns the split of the group that began before f.Before.
func (f *PartialGroups) keyOf(granularity time.Duration) carbonara.SplitKey {
	return carbonara.SplitKeyOf(f.Before.Floor(granularity), granularity)
}

// partialVersion is the first byte of the value; docs/format/archive.md draws the rest.
const partialVersion = 1

func appendPartialGroups(dst []byte, f *PartialGroups) []byte {
	from := len(dst)
	dst = binary.BigEndian.AppendUint64(append(dst, partialVersion), uint64(f.Before))
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

var errPartialGroups = fmt.Errorf("archive: partial groups: %w", storage.ErrCorrupt)

func decodePartialGroups(src []byte) (*PartialGroups, error) {
	end := len(src) - 8
	if end < 9 || src[0] != partialVersion || xxhash.Sum64(src[:end]) != binary.BigEndian.Uint64(src[end:]) {
		return nil, errPartialGroups
	}
	f := &PartialGroups{Before: carbonara.Timestamp(binary.BigEndian.Uint64(src[1:]))}
	if !f.Before.Valid() {
		return nil, errPartialGroups
	}
	src = src[9:end]
	n, size := binary.Uvarint(src)
	if size <= 0 || n > uint64(len(src)-size)/16 {
		return nil, errPartialGroups
	}
	src = src[size:]
	for range n {
		f.Since = append(f.Since, Since{time.Duration(binary.BigEndian.Uint64(src)),
			carbonara.Timestamp(binary.BigEndian.Uint64(src[8:]))})
		src = src[16:]
	}
	for len(src) > 0 {
		if len(src) < 9 {
			return nil, errPartialGroups
		}
		granularity := binary.BigEndian.Uint64(src)
		length, size := binary.Uvarint(src[8:])
		if size <= 0 || length > uint64(len(src)-8-size) || granularity == 0 ||
			granularity > uint64(carbonara.MaxTimestamp) {
			return nil, errPartialGroups
		}
		src = src[8+size:]
		row, err := decodePartialRow(f.keyOf(time.Duration(granularity)), src[:length])
		if err != nil {
			return nil, err
		}
		f.Rows = append(f.Rows, row)
		src = src[length:]
	}
	return f, nil
}

func decodePartialRow(key carbonara.SplitKey, split []byte) (row carbonara.Groups, err error) {
	columns, _, err := carbonara.AppendSplitColumns(nil, split)
	if err != nil {
		return row, err
	}
	columns = slices.DeleteFunc(columns, isPartOfSum)
	row.Reset(key.Granularity, columns)
	if err = carbonara.DecodeSplit(split, key, columns, 0, carbonara.MaxTimestamp, &row); err == nil && row.Len() != 1 {
		err = errPartialGroups
	}
	return row, err
}

// PartialGroups returns the partial groups of a metric; nil if it has none.
func (s *Store) PartialGroups(metric uuid.UUID) (*PartialGroups, error) {
	return valueOf(s, metric, kindPartial, "partial groups", decodePartialGroups)
}

// valueOf returns the one value of a kind that a metric has, nil for none. what names the kind in an error.
func valueOf[T any](s *Store, metric uuid.UUID, kind byte, what string, decode func([]byte) (*T, error)) (*T, error) {
	value, closer, err := s.reads().Get(metricKey(nil, metric, kind))
	if errors.Is(err, pebble.ErrNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("archive: read %s of %s: %w", what, metric, err)
	}
	defer closer.Close()
	return decode(value)
}

// SetPartialGroups replaces a metric's partial groups; nil removes them.
func (c *Checkpoint) SetPartialGroups(metric uuid.UUID, f *PartialGroups) {
	c.scratch = metricKey(c.scratch, metric, kindPartial)
	if f == nil {
		c.delete(c.scratch)
		return
	}
	c.Set(c.scratch, appendPartialGroups(nil, f))
}
