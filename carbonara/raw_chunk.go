package carbonara

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
)

// rawVersion is the first byte of a raw chunk; docs/format/raw.md draws the rest.
const rawVersion = 1

// maxRawChunk bounds the measures of a chunk, and so what a decoder makes room for.
const maxRawChunk = 1 << 16

// The flags of a chunk.
const (
	rawUnitMask    = 0x03 // the index of rawUnits that times are counted in
	rawHasKeepFrom = 0x04
	rawRegular     = 0x08 // timestamps are equally far apart
	rawStepsPacked = 0x10 // the steps between timestamps are compressed
	rawHasPresent  = 0x20
	rawReplicas    = 0x40 // times have numbers of replicas below the millisecond
	rawKnownFlags  = 0x7f
)

// rawUnits are the units of time in a chunk, in nanoseconds. The widest that divides all its times is taken.
var rawUnits = [...]Timestamp{1, 1_000, 1_000_000, 1_000_000_000}

// AppendRaw appends measures, timestamps strictly ascending, as an operand for a raw series. Of those before keepFrom
// (0 to keep all) only the newest is needed from now on, in the whole series: the first difference of rate: columns
// starts there. The others of the operand are left out at once. It panics if timestamps do not ascend.
func AppendRaw(dst []byte, keepFrom Timestamp, timestamps []Timestamp, values []float64) []byte {
	return AppendRawAhead(dst, keepFrom, MaxTimestamp, false, timestamps, values)
}

// AppendRawAhead is AppendRaw for a series whose measures after present (0 for all) are ahead, or of which replicas
// sent some.
func AppendRawAhead(dst []byte, keepFrom, present Timestamp, replicas bool, timestamps []Timestamp,
	values []float64) []byte {
	s := getScratch()
	defer s.release()
	return s.appendRaw(dst, rawMarks{max(keepFrom, 0), present, replicas}, timestamps, values)
}

// rawMarks is what a chunk says of its series as a whole.
type rawMarks struct {
	keepFrom Timestamp
	present  Timestamp // MaxTimestamp if no measure is ahead
	replicas bool      // see rawReplicas
}

// noMarks are those of a chunk that is followed by another one of its series.
var noMarks = rawMarks{present: MaxTimestamp}

func (m *rawMarks) flags() (flags byte) {
	if m.keepFrom > 0 {
		flags |= rawHasKeepFrom
	}
	if m.present < MaxTimestamp {
		flags |= rawHasPresent
	}
	if m.replicas {
		flags |= rawReplicas
	}
	return flags
}

// append appends the marks, the first in units.
func (m *rawMarks) append(dst []byte, unit Timestamp) []byte {
	if m.keepFrom > 0 {
		dst = intcodec.AppendUvarint(dst, uint64(m.keepFrom/unit))
	}
	if m.present < MaxTimestamp {
		dst = intcodec.AppendUvarint(dst, uint64(m.present))
	}
	return dst
}

func (s *scratch) appendRaw(dst []byte, marks rawMarks, timestamps []Timestamp, values []float64) []byte {
	if at, _ := slices.BinarySearch(timestamps, marks.keepFrom); at > 1 {
		timestamps, values = timestamps[at-1:], values[at-1:]
	}
	for len(timestamps) > maxRawChunk {
		dst = s.appendRawChunk(dst, noMarks, timestamps[:maxRawChunk], values[:maxRawChunk])
		timestamps, values = timestamps[maxRawChunk:], values[maxRawChunk:]
	}
	return s.appendRawChunk(dst, marks, timestamps, values)
}

func (s *scratch) appendRawChunk(dst []byte, marks rawMarks, timestamps []Timestamp, values []float64) []byte {
	if len(timestamps) >= minVectorMeasures {
		return s.appendRawVectors(dst, marks, timestamps, values)
	}
	return s.appendRawColumns(dst, marks, timestamps, values)
}

// appendRawColumns appends a chunk of format 1.
func (s *scratch) appendRawColumns(dst []byte, marks rawMarks, timestamps []Timestamp, values []float64) []byte {
	n, keepFrom := len(timestamps), marks.keepFrom
	unitIndex, regular := shapeOf(keepFrom, timestamps)
	unit := rawUnits[unitIndex]
	flags := byte(unitIndex) | marks.flags()
	if regular {
		flags |= rawRegular
	}
	at := len(dst)
	dst = beginFrame(dst, rawVersion)
	flagsAt := len(dst)
	dst = marks.append(intcodec.AppendUvarint(append(dst, flags), uint64(n)), unit)
	if n == 0 {
		return endFrame(dst, at)
	}
	dst = intcodec.AppendUvarint(dst, intcodec.Zigzag(int64(timestamps[0]/unit-keepFrom/unit)))
	if n > 1 {
		span := (timestamps[n-1] - timestamps[0]) / unit
		dst = intcodec.AppendUvarint(dst, uint64(span))
		if !regular {
			s.body = s.body[:0]
			previous := span / Timestamp(n-1)
			for i := 1; i < n; i++ {
				step := (timestamps[i] - timestamps[i-1]) / unit
				s.body = intcodec.AppendUvarint(s.body, intcodec.Zigzag(int64(step-previous)))
				previous = step
			}
			body := s.body
			if len(body) >= minCompressLen {
				if packed := s.compressed(body); len(packed) < len(body) {
					dst[flagsAt] |= rawStepsPacked
					body = packed
				}
			}
			dst = append(intcodec.AppendUvarint(dst, uint64(len(body))), body...)
		}
	}
	return endFrame(appendColumn(dst, values, s), at)
}

// shapeOf returns the widest unit that divides keepFrom and all timestamps, and whether these are equally far apart.
func shapeOf(keepFrom Timestamp, timestamps []Timestamp) (unitIndex int, regular bool) {
	unitIndex, regular = len(rawUnits)-1, true
	for unitIndex > 0 && keepFrom%rawUnits[unitIndex] != 0 {
		unitIndex--
	}
	for i, t := range timestamps {
		for unitIndex > 0 && t%rawUnits[unitIndex] != 0 {
			unitIndex--
		}
		if i == 0 {
			continue
		}
		if t <= timestamps[i-1] {
			panic(fmt.Sprintf("carbonara: timestamp %d after %d in a raw series", t, timestamps[i-1]))
		}
		regular = regular && t-timestamps[i-1] == timestamps[1]-timestamps[0]
	}
	return unitIndex, regular
}

// rawChunk is a chunk of which timestamps and values have not been decoded. It shares the memory of its source.
type rawChunk struct {
	n           int
	keepFrom    Timestamp
	present     Timestamp // MaxTimestamp if no measure is ahead
	first, last Timestamp
	origin      Timestamp // from which the steps of format 2 count
	unit        Timestamp
	replicas    bool
	regular     bool
	packed      bool
	steps       []byte
	values      columnBody
	vectors     bool   // format 2: steps are streams, and columns the values
	columns     []byte // one after the other, each with its length before it
}

// parseRaw splits the first chunk off src.
func parseRaw(src []byte) (c rawChunk, rest []byte, err error) {
	version, known := byte(rawVersion), byte(rawKnownFlags)
	if c.vectors = len(src) > 0 && src[0] == rawVectorVersion; c.vectors {
		version, known = rawVectorVersion, rawUnitMask|rawHasKeepFrom|rawHasPresent|rawReplicas
	}
	src, rest, err = openFrame(src, version)
	if err != nil {
		return c, nil, err
	}
	if len(src) == 0 || src[0]&^known != 0 {
		return c, nil, corrupt("flags")
	}
	flags := src[0]
	c.unit = rawUnits[flags&rawUnitMask]
	c.replicas = flags&rawReplicas != 0
	c.regular, c.packed = flags&rawRegular != 0, flags&rawStepsPacked != 0
	latest := uint64(MaxTimestamp / c.unit)
	n, src, ok := intcodec.ConsumeUvarint(src[1:])
	if !ok || n > maxRawChunk {
		return c, nil, corrupt("number of measures")
	}
	c.n = int(n)
	var keepFrom uint64
	if flags&rawHasKeepFrom != 0 {
		if keepFrom, src, ok = intcodec.ConsumeUvarint(src); !ok || keepFrom > latest {
			return c, nil, corrupt("keep from")
		}
		c.keepFrom = Timestamp(keepFrom) * c.unit
	}
	c.present = MaxTimestamp
	if flags&rawHasPresent != 0 {
		var present uint64
		if present, src, ok = intcodec.ConsumeUvarint(src); !ok || present >= uint64(MaxTimestamp) {
			return c, nil, corrupt("present")
		}
		c.present = Timestamp(present)
	}
	if n == 0 {
		if len(src) > 0 {
			return c, nil, corrupt("%d bytes after the end of a chunk", len(src))
		}
		return c, rest, nil
	}
	distance, src, ok := intcodec.ConsumeVarint(src)
	first := keepFrom + uint64(distance) // wraps around below zero, and is too late then
	if !ok || first > latest {
		return c, nil, corrupt("first timestamp")
	}
	c.first = Timestamp(first) * c.unit
	c.last, c.origin = c.first, c.first
	if c.vectors {
		return c, rest, c.parseRawVectors(src, latest)
	}
	if n > 1 {
		var span uint64
		if span, src, ok = intcodec.ConsumeUvarint(src); !ok || span > latest-first || span < n-1 ||
			(c.regular && span%(n-1) != 0) {
			return c, nil, corrupt("span of timestamps")
		}
		c.last += Timestamp(span) * c.unit
		if !c.regular {
			length, body, ok := intcodec.ConsumeUvarint(src)
			if !ok || length > uint64(len(body)) {
				return c, nil, corrupt("timestamps are cut short")
			}
			c.steps, src = body[:length], body[length:]
		}
	}
	if len(src) > 0 && src[0]&codecMask == codecSame {
		return c, nil, corrupt("codec of values")
	}
	if c.values, src, err = parseColumn(src); err != nil {
		return c, nil, err
	}
	if len(src) > 0 {
		return c, nil, corrupt("%d bytes after the end of a chunk", len(src))
	}
	return c, rest, nil
}

// appendSince appends the measures of a chunk whose last one is at since or later. It may leave out earlier ones.
func (c *rawChunk) appendSince(since Timestamp, timestamps []Timestamp, values []float64, s *scratch) (
	[]Timestamp, []float64, error) {
	if c.last == since {
		values, err := c.appendValues(values, c.n-1, s)
		return append(timestamps, c.last), values, err
	}
	if c.vectors {
		if err := c.skipBefore(since); err != nil {
			return timestamps, values, err
		}
	}
	timestamps, err := c.appendTimestamps(timestamps, s)
	if err != nil {
		return timestamps, values, err
	}
	values, err = c.appendValues(values, 0, s)
	return timestamps, values, err
}

// appendTimestamps appends the timestamps of the chunk.
func (c *rawChunk) appendTimestamps(dst []Timestamp, s *scratch) ([]Timestamp, error) {
	if c.n == 0 {
		return dst, nil
	}
	if c.vectors {
		return c.appendVectorTimestamps(dst, s)
	}
	base := len(dst)
	dst = slices.Grow(dst, c.n)
	dst = append(dst, c.first)
	if c.n == 1 {
		return dst, nil
	}
	average := (c.last - c.first) / c.unit / Timestamp(c.n-1)
	t := c.first
	if c.regular {
		for range c.n - 1 {
			t += average * c.unit
			dst = append(dst, t)
		}
		return dst, nil
	}
	body := c.steps
	if c.packed {
		var err error
		if body, err = s.uncompressed(body, binary.MaxVarintLen64*c.n); err != nil {
			return dst[:base], err
		}
	}
	step := int64(average)
	left := uint64((c.last - c.first) / c.unit)
	for range c.n - 1 {
		change, rest, ok := intcodec.ConsumeVarint(body)
		step += change
		if !ok || step <= 0 || uint64(step) > left {
			return dst[:base], corrupt("timestamps")
		}
		body = rest
		left -= uint64(step)
		t += Timestamp(step) * c.unit
		dst = append(dst, t)
	}
	if left != 0 || len(body) > 0 {
		return dst[:base], corrupt("timestamps end early")
	}
	return dst, nil
}

// appendValues appends the values of the chunk from measure number from on.
func (c *rawChunk) appendValues(dst []float64, from int, s *scratch) ([]float64, error) {
	if c.vectors {
		return c.appendVectorValues(dst, from, s)
	}
	return c.values.appendTo(dst, c.n, from, c.n, s)
}

// DecodeRaw appends the measures of a raw series, which is AppendRaw's operands side by side, oldest first: ascending;
// of equal timestamps that of the later operand; of those before the greatest keepFrom only the newest. An error wraps
// ErrCorrupt, and the slices come back as they were.
func DecodeRaw(src []byte, timestamps []Timestamp, values []float64) ([]Timestamp, []float64, error) {
	_, timestamps, values, err := DecodeRawAfterEnd(src, func(RawEnd) (Timestamp, bool) { return 0, true }, timestamps,
		values)
	return timestamps, values, err
}

// DecodeRawAfterEnd is EndOfRaw and then, if wants says so of the end, DecodeRaw without the measures before since. It
// decodes few of those.
func DecodeRawAfterEnd(src []byte, wants func(RawEnd) (since Timestamp, ok bool), timestamps []Timestamp,
	values []float64) (RawEnd, []Timestamp, []float64, error) {
	s := getScratch()
	defer s.release()
	end, err := s.parseRawSeries(src)
	if err != nil {
		return RawEnd{}, timestamps, values, err
	}
	since, ok := wants(end)
	if !ok {
		return end, timestamps, values, nil
	}
	series := rawSeries{timestamps: timestamps, values: values, base: len(timestamps), since: since}
	for i := range s.chunks {
		if err := series.add(&s.chunks[i], s); err != nil {
			return RawEnd{}, timestamps, values, fmt.Errorf("raw series: %w", err)
		}
	}
	series.trim()
	return end, series.timestamps, series.values, nil
}

// RawEnd is what the end of a raw series tells, without decoding it.
type RawEnd struct {
	Newest Timestamp // of the newest measure, if Any
	Any    bool      // there is a measure
	// KeptFrom is from where on the series is complete: of the measures before, perhaps only the last is left.
	KeptFrom Timestamp
	// Present is the newest measure that is not ahead, 0 for none. The youngest chunk says it.
	Present  Timestamp
	Replicas bool // times may have numbers of replicas
}

// EndOfRaw returns the end of a raw series. An error wraps ErrCorrupt.
func EndOfRaw(src []byte) (RawEnd, error) {
	s := getScratch()
	defer s.release()
	return s.parseRawSeries(src)
}

// parseRawSeries sets s.chunks to those of a raw series, and returns its end.
func (s *scratch) parseRawSeries(src []byte) (end RawEnd, err error) {
	for len(src) > 0 {
		var c rawChunk
		if c, src, err = parseRaw(src); err != nil {
			return RawEnd{}, fmt.Errorf("raw series: %w", err)
		}
		s.chunks = append(s.chunks, c)
		end.Present, end.Replicas = c.present, end.Replicas || c.replicas
		end.KeptFrom = max(end.KeptFrom, c.keepFrom)
		if c.n > 0 {
			end.Newest, end.Any = max(end.Newest, c.last), true
		}
	}
	end.Present = min(end.Present, end.Newest)
	return end, nil
}

// IsTrimmed reports whether a quarter or more of the time that the first operand of a raw series spans is before what
// later ones keep. Values and timestamps are not decoded; an operand that is damaged trims nothing.
func IsTrimmed(operands [][]byte) bool {
	var first, last, keepFrom Timestamp
	for i, src := range operands {
		for len(src) > 0 {
			c, rest, err := parseRaw(src)
			if err != nil {
				break
			}
			keepFrom = max(keepFrom, c.keepFrom)
			if i == 0 && c.n > 0 {
				if last == 0 || c.first < first {
					first = c.first
				}
				last = max(last, c.last)
			}
			src = rest
		}
	}
	return first < last && keepFrom > first+(last-first)/4
}

// MergeRaw appends the raw series that operands, oldest first, fold into. An error wraps ErrCorrupt; dst comes back as
// it was. Dst must not overlap operands.
func MergeRaw(dst []byte, operands [][]byte) ([]byte, error) {
	s := getScratch()
	defer s.release()
	series := rawSeries{timestamps: s.timestamps[:0], values: s.values[:0], present: MaxTimestamp}
	defer func() { s.timestamps, s.values = series.timestamps, series.values }()
	for _, src := range operands {
		if err := series.decode(src, s); err != nil {
			return dst, fmt.Errorf("merge raw series: %w", err)
		}
	}
	// Measures ahead may be in an operand before these.
	marks := rawMarks{series.keepFrom, series.present, series.replicas}
	return s.appendRaw(dst, marks, series.timestamps, series.values), nil
}
