package incoming

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"

	"gnocco/carbonara"
	"gnocco/model"
)

// A block is the measures of some metrics of one request, column by column:
//
//	version 1 | checksum (4) | accepted (8) | metrics, measures (uvarints) | counts (1)
//	metric ids, 16 bytes each
//	values, 8 bytes each
//	counts = 1: the measures of each metric (uvarints); counts = 0: all have the same number, measures / metrics
//	timestamps: zigzag varints; the first of a metric less the first of the metric before it (less accepted, for the
//	  first metric), the second less the first, from then on the difference of differences
//
// Little-endian; accepted is nanoseconds since 1970. The checksum is the low half of the xxHash64 of what follows it.
const (
	blockVersion    = 1
	checksumFrom    = 1
	checkedFrom     = checksumFrom + 4
	acceptedFrom    = checkedFrom
	countsFrom      = acceptedFrom + 8
	maxBlockHeader  = countsFrom + 2*binary.MaxVarintLen64 + 1
	countsEqual     = 0
	countsListed    = 1
	minMeasureBytes = 8 + 1 // a value, and a timestamp of one byte
)

// AppendBlock appends the block of the metrics m.Metrics[pick[0]], m.Metrics[pick[1]], …. Timestamps must be valid.
func AppendBlock(dst []byte, m *model.Measures, pick []int, accepted time.Time) []byte {
	measures, equal := 0, true
	for _, i := range pick {
		n := m.Offsets[i+1] - m.Offsets[i]
		measures += n
		equal = equal && n == m.Offsets[pick[0]+1]-m.Offsets[pick[0]]
	}
	start := len(dst)
	// Room for the longest encoding, so that the loops below write without asking.
	dst = slices.Grow(dst, maxBlockHeader+len(pick)*(16+binary.MaxVarintLen64)+measures*(8+binary.MaxVarintLen64))
	buf := dst[start:cap(dst)]

	buf[0] = blockVersion
	binary.LittleEndian.PutUint64(buf[acceptedFrom:], uint64(accepted.UnixNano()))
	at := countsFrom
	at += binary.PutUvarint(buf[at:], uint64(len(pick)))
	at += binary.PutUvarint(buf[at:], uint64(measures))
	buf[at] = countsListed
	if equal {
		buf[at] = countsEqual
	}
	at++
	for _, i := range pick {
		*(*[16]byte)(buf[at:]) = m.Metrics[i]
		at += 16
	}
	for _, i := range pick {
		for _, v := range m.Values[m.Offsets[i]:m.Offsets[i+1]] {
			binary.LittleEndian.PutUint64(buf[at:], math.Float64bits(v))
			at += 8
		}
	}
	if !equal {
		for _, i := range pick {
			at += binary.PutUvarint(buf[at:], uint64(m.Offsets[i+1]-m.Offsets[i]))
		}
	}
	before := accepted.UnixNano()
	for _, i := range pick {
		t := m.Timestamps[m.Offsets[i]:m.Offsets[i+1]]
		if len(t) == 0 {
			continue
		}
		first := int64(t[0])
		at = putZigzag(buf, at, first-before)
		before = first
		previous, delta := first, int64(0)
		for _, t := range t[1:] {
			// May wrap around, and back in the decoder.
			d := int64(t) - previous
			at = putZigzag(buf, at, d-delta)
			previous, delta = int64(t), d
		}
	}
	binary.LittleEndian.PutUint32(buf[checksumFrom:], uint32(xxhash.Sum64(buf[checkedFrom:at])))
	return dst[:start+at]
}

// putZigzag writes d at buf[at:] and returns where it ends. Most are below 64 and take one byte.
func putZigzag(buf []byte, at int, d int64) int {
	u := uint64(d<<1) ^ uint64(d>>63)
	if u < 0x80 {
		buf[at] = byte(u)
		return at + 1
	}
	return at + binary.PutUvarint(buf[at:], u)
}

// blockHeader is what stands before a block's columns.
type blockHeader struct {
	accepted          time.Time
	metrics, measures int
	listed            bool // counts are listed
}

// decodeHeader returns the header and the columns after it, which are long enough for the ids and values, and for a
// byte of each timestamp. It does not look at the checksum.
func decodeHeader(src []byte) (h blockHeader, columns []byte, err error) {
	if len(src) < countsFrom || src[0] != blockVersion {
		return h, nil, fmt.Errorf("%w: block header", errCorrupt)
	}
	h.accepted = time.Unix(0, int64(binary.LittleEndian.Uint64(src[acceptedFrom:]))).UTC()
	rest := src[countsFrom:]
	metrics, n := binary.Uvarint(rest)
	if n <= 0 || metrics > uint64(len(src)/16) {
		return h, nil, fmt.Errorf("%w: number of metrics", errCorrupt)
	}
	rest = rest[n:]
	measures, n := binary.Uvarint(rest)
	if n <= 0 || measures > uint64(len(src)/minMeasureBytes) {
		return h, nil, fmt.Errorf("%w: number of measures", errCorrupt)
	}
	rest = rest[n:]
	h.metrics, h.measures = int(metrics), int(measures)
	if len(rest) < 1+16*h.metrics+minMeasureBytes*h.measures {
		return h, nil, fmt.Errorf("%w: block is too short", errCorrupt)
	}
	switch {
	case rest[0] == countsListed:
		h.listed = true
	case rest[0] != countsEqual, h.metrics == 0 && h.measures > 0, h.metrics > 0 && h.measures%h.metrics != 0:
		return h, nil, fmt.Errorf("%w: counts", errCorrupt)
	}
	return h, rest[1:], nil
}

// BlockMeasures returns how many measures a block holds, and when they were accepted. It reads the header only, so
// the block may yet turn out to be corrupt.
func BlockMeasures(src []byte) (n int, accepted time.Time, err error) {
	h, _, err := decodeHeader(src)
	return h.measures, h.accepted, err
}

// blockMetrics returns the ids of the metrics of a block, one after the other. They are part of src.
func blockMetrics(src []byte) ([]byte, error) {
	h, columns, err := decodeHeader(src)
	if err != nil {
		return nil, err
	}
	return columns[:16*h.metrics], nil
}

// DecodeBlock appends a block's measures to m, and returns when they were accepted. Decoded one after the other into
// one Measures, blocks may name the same metric, which then stands there twice. On error, which is of kind
// storage.ErrCorrupt, m is as it was.
func DecodeBlock(src []byte, m *model.Measures) (accepted time.Time, err error) {
	h, columns, err := decodeHeader(src)
	if err != nil {
		return time.Time{}, err
	}
	if binary.LittleEndian.Uint32(src[checksumFrom:]) != uint32(xxhash.Sum64(src[checkedFrom:])) {
		return time.Time{}, fmt.Errorf("%w: checksum of block", errCorrupt)
	}
	was := *m
	if err := h.decodeColumns(columns, m); err != nil {
		*m = was
		return time.Time{}, err
	}
	return h.accepted, nil
}

func (h *blockHeader) decodeColumns(src []byte, m *model.Measures) error {
	ids, src := src[:16*h.metrics], src[16*h.metrics:]
	values, src := src[:8*h.measures], src[8*h.measures:]

	m.Metrics = slices.Grow(m.Metrics, h.metrics)
	for ; len(ids) > 0; ids = ids[16:] {
		m.Metrics = append(m.Metrics, uuid.UUID(ids[:16]))
	}
	at := len(m.Values)
	m.Values = slices.Grow(m.Values, h.measures)[:at+h.measures]
	for column := m.Values[at:]; len(column) > 0 && len(values) >= 8; column, values = column[1:], values[8:] {
		column[0] = math.Float64frombits(binary.LittleEndian.Uint64(values))
	}
	src, err := h.decodeCounts(src, m)
	if err != nil {
		return err
	}
	return h.decodeTimestamps(src, m)
}

// decodeCounts appends the offsets of the block's metrics.
func (h *blockHeader) decodeCounts(src []byte, m *model.Measures) (rest []byte, err error) {
	if len(m.Offsets) == 0 {
		m.Offsets = append(m.Offsets, 0)
	}
	offset := m.Offsets[len(m.Offsets)-1]
	m.Offsets = slices.Grow(m.Offsets, h.metrics)
	if !h.listed {
		for range h.metrics {
			offset += h.measures / h.metrics
			m.Offsets = append(m.Offsets, offset)
		}
		return src, nil
	}
	left := uint64(h.measures)
	for range h.metrics {
		n, size := binary.Uvarint(src)
		if size <= 0 || n > left {
			return nil, fmt.Errorf("%w: counts", errCorrupt)
		}
		src, left = src[size:], left-n
		offset += int(n)
		m.Offsets = append(m.Offsets, offset)
	}
	if left != 0 {
		return nil, fmt.Errorf("%w: counts", errCorrupt)
	}
	return src, nil
}

// decodeTimestamps appends the timestamps, which are the rest of the block.
func (h *blockHeader) decodeTimestamps(src []byte, m *model.Measures) error {
	offsets := m.Offsets[len(m.Offsets)-1-h.metrics:]
	at := len(m.Timestamps)
	m.Timestamps = slices.Grow(m.Timestamps, h.measures)[:at+h.measures]
	column := m.Timestamps[at:]
	before := h.accepted.UnixNano()
	all := int64(0) // negative once any timestamp was
	for i := range h.metrics {
		n := offsets[i+1] - offsets[i]
		if n == 0 {
			continue
		}
		t := column[:n]
		column = column[n:]
		var d int64
		var ok bool
		if d, src, ok = zigzag(src); !ok {
			return fmt.Errorf("%w: timestamps", errCorrupt)
		}
		before += d
		t[0] = carbonara.Timestamp(before)
		all |= before
		previous, delta := before, int64(0)
		for j := 1; j < len(t); j++ {
			if d, src, ok = zigzag(src); !ok {
				return fmt.Errorf("%w: timestamps", errCorrupt)
			}
			delta += d
			previous += delta
			t[j] = carbonara.Timestamp(previous)
			all |= previous
		}
	}
	if len(src) != 0 || all < 0 {
		return fmt.Errorf("%w: timestamps", errCorrupt)
	}
	return nil
}

// zigzag takes a zigzag varint from src.
func zigzag(src []byte) (d int64, rest []byte, ok bool) {
	if len(src) > 0 && src[0] < 0x80 {
		u := src[0]
		return int64(u>>1) ^ -int64(u&1), src[1:], true
	}
	u, n := binary.Uvarint(src)
	if n <= 0 {
		return 0, nil, false
	}
	return int64(u>>1) ^ -int64(u&1), src[n:], true
}
