package incoming

import (
	"encoding/binary"
	"fmt"
	"slices"
	"time"

	"github.com/cespare/xxhash/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/keyhash"
	"github.com/gnocco-db/gnocco/internal/roster"
	"github.com/gnocco-db/gnocco/model"
)

// A block is the measures of some metrics of one request, column by column:
//
//	version 2 | checksum (4) | accepted (8) | metrics, measures (uvarints) | flags (1)
//	metric ids, 16 bytes each
//	counts, if listed: the measures of each metric (uvarints); else all have the same number, measures / metrics
//	values, see block_values.go
//	timestamps: zigzag varints; the first of a metric less the first of the metric before it (less accepted, for the
//	  first metric), the second less the first, from then on the difference of differences. If regular, these are all
//	  0, and left out; if together, the timestamps of all metrics are the first one's
//
// Little-endian; accepted is nanoseconds since 1970. The checksum is the low half of the xxHash64 of the bytes that
// follow it.
const (
	blockVersion   = 2
	checksumFrom   = 1
	checkedFrom    = checksumFrom + 4
	acceptedFrom   = checkedFrom
	countsFrom     = acceptedFrom + 8
	maxBlockHeader = countsFrom + 2*binary.MaxVarintLen64 + 1

	countsListed  = 1
	timesRegular  = 2
	timesTogether = 4
	knownFlags    = 7
)

// AppendBlock appends the block of the metrics m.Metrics[pick[0]], m.Metrics[pick[1]], …. Timestamps must be valid.
func AppendBlock(dst []byte, m *model.Measures, pick []int, accepted time.Time) []byte {
	measures := 0
	for _, i := range pick {
		measures += m.Offsets[i+1] - m.Offsets[i]
	}
	flags := blockFlags(m, pick)
	start := len(dst)
	// Room for the longest encoding, so that the loops below write without asking.
	dst = slices.Grow(dst, maxBlockHeader+len(pick)*(16+binary.MaxVarintLen64+1)+measures*(8+binary.MaxVarintLen64))
	buf := dst[start:cap(dst)]

	buf[0] = blockVersion
	binary.LittleEndian.PutUint64(buf[acceptedFrom:], uint64(accepted.UnixNano()))
	at := countsFrom
	at += binary.PutUvarint(buf[at:], uint64(len(pick)))
	at += binary.PutUvarint(buf[at:], uint64(measures))
	buf[at] = flags
	at++
	for _, i := range pick {
		*(*[16]byte)(buf[at:]) = m.Metrics[i]
		at += 16
	}
	if flags&countsListed != 0 {
		for _, i := range pick {
			at += binary.PutUvarint(buf[at:], uint64(m.Offsets[i+1]-m.Offsets[i]))
		}
	}
	for _, i := range pick {
		at = putValues(buf, at, m.Values[m.Offsets[i]:m.Offsets[i+1]])
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
		if flags&timesRegular != 0 {
			t = t[:min(2, len(t))]
		}
		for _, t := range t[1:] {
			// May wrap around, and back in the decoder.
			d := int64(t) - previous
			at = putZigzag(buf, at, d-delta)
			previous, delta = int64(t), d
		}
		if flags&timesTogether != 0 {
			break
		}
	}
	binary.LittleEndian.PutUint32(buf[checksumFrom:], uint32(xxhash.Sum64(buf[checkedFrom:at])))
	return dst[:start+at]
}

// blockFlags returns what the counts and timestamps of a block have in common.
func blockFlags(m *model.Measures, pick []int) byte {
	flags := byte(timesRegular | timesTogether)
	if len(pick) == 0 {
		return 0
	}
	first, _ := m.Of(pick[0])
	for _, i := range pick {
		t, _ := m.Of(i)
		if len(t) != len(first) {
			flags = flags&^timesTogether | countsListed
		}
		if flags&timesTogether != 0 {
			if !slices.Equal(t, first) {
				flags &^= timesTogether
			} else if i != pick[0] {
				continue // regular if the first one is
			}
		}
		for j := 2; j < len(t) && flags&timesRegular != 0; j++ {
			if t[j]-t[j-1] != t[1]-t[0] {
				flags &^= timesRegular
			}
		}
	}
	return flags
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
	flags             byte
}

// decodeHeader returns the header and the columns after it, which are long enough for the ids, and for the shortest
// values and timestamps. It does not look at the checksum.
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
	if n <= 0 || measures > uint64(len(src)) {
		return h, nil, fmt.Errorf("%w: number of measures", errCorrupt)
	}
	rest = rest[n:]
	h.metrics, h.measures = int(metrics), int(measures)
	if len(rest) < 1+16*h.metrics+h.measures {
		return h, nil, fmt.Errorf("%w: block is too short", errCorrupt)
	}
	h.flags = rest[0]
	if h.flags&^knownFlags != 0 || h.flags&countsListed != 0 && h.flags&timesTogether != 0 ||
		h.flags&countsListed == 0 && (h.metrics == 0 && h.measures > 0 || h.metrics > 0 && h.measures%h.metrics != 0) {
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

// idsOffset returns where the ids of a block begin, which may have been taken out of it.
func idsOffset(src []byte) (int, error) {
	at := countsFrom
	for range 2 {
		if at >= len(src) {
			break
		}
		_, n := binary.Uvarint(src[at:])
		if n <= 0 {
			at = len(src)
			break
		}
		at += n
	}
	if at++; at > len(src) {
		return 0, fmt.Errorf("%w: block header", errCorrupt)
	}
	return at, nil
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

func (h *blockHeader) decodeColumns(src []byte, m *model.Measures) (err error) {
	ids, src := src[:16*h.metrics], src[16*h.metrics:]
	m.Metrics = slices.Grow(m.Metrics, h.metrics)
	for ; len(ids) > 0; ids = ids[16:] {
		m.Metrics = append(m.Metrics, uuid.UUID(ids[:16]))
	}
	at := len(m.Values)
	m.Values = slices.Grow(m.Values, h.measures)[:at+h.measures]
	values := m.Values[at:]
	if src, err = h.decodeCounts(src, m); err != nil {
		return err
	}
	offsets := m.Offsets[len(m.Offsets)-1-h.metrics:]
	for i := range h.metrics {
		n := offsets[i+1] - offsets[i]
		if src, err = consumeValues(values[:n], src); err != nil {
			return err
		}
		values = values[n:]
	}
	return h.decodeTimestamps(src, offsets, m)
}

// decodeCounts appends the offsets of the block's metrics.
func (h *blockHeader) decodeCounts(src []byte, m *model.Measures) (rest []byte, err error) {
	if len(m.Offsets) == 0 {
		m.Offsets = append(m.Offsets, 0)
	}
	offset := m.Offsets[len(m.Offsets)-1]
	m.Offsets = slices.Grow(m.Offsets, h.metrics)
	if h.flags&countsListed == 0 {
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
func (h *blockHeader) decodeTimestamps(src []byte, offsets []int, m *model.Measures) error {
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
		if column = column[n:]; i > 0 && h.flags&timesTogether != 0 {
			copy(t, m.Timestamps[at:at+n])
			continue
		}
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
			if d = 0; j == 1 || h.flags&timesRegular == 0 {
				if d, src, ok = zigzag(src); !ok {
					return fmt.Errorf("%w: timestamps", errCorrupt)
				}
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

// ListOf returns the list of a block's metrics, zero if they are few. The block's checksum is not looked at.
func ListOf(block []byte) keyhash.Hash {
	_, list := listed(block)
	return list
}

// listed returns the ids of a block's metrics and their list, nothing if they are few.
func listed(block []byte) (ids []byte, list keyhash.Hash) {
	ids, err := blockMetrics(block)
	if err != nil || len(ids) < 16*roster.MinListed {
		return nil, keyhash.Hash{}
	}
	return ids, keyhash.Of(ids)
}

// CutIDs returns what a block has before the ids of its metrics, the ids, and what it has behind them.
func CutIDs(block []byte) (before, ids, behind []byte, err error) {
	h, columns, err := decodeHeader(block)
	if err != nil {
		return nil, nil, nil, err
	}
	at := len(block) - len(columns)
	return block[:at], columns[:16*h.metrics], columns[16*h.metrics:], nil
}

// appendWhole appends a block to dst from which the ids were cut.
func appendWhole(dst, block, ids []byte) ([]byte, error) {
	at, err := idsOffset(block)
	if err != nil {
		return nil, err
	}
	dst = append(append(dst, block[:at]...), ids...)
	return append(dst, block[at:]...), nil
}
