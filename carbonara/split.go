package carbonara

import (
	"cmp"
	"fmt"
	"slices"
	"unsafe"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
)

// splitVersion is the first byte of a split of format 1; docs/format/split.md draws the rest.
const splitVersion = 1

// storedColumn is a column of a parsed split.
type storedColumn struct {
	column Column
	same   bool   // as an earlier column, whose body this is
	owner  Column // that column, or this one
	body   columnBody
	slot   int // format 2: which of the columns in the vectors
}

// stored returns how the parsed split stores a column.
func (s *scratch) stored(c Column) (storedColumn, bool) {
	i, ok := slices.BinarySearchFunc(s.columns, c, func(a storedColumn, c Column) int {
		return cmp.Compare(a.column, c)
	})
	if !ok {
		return storedColumn{}, false
	}
	return s.columns[i], true
}

// AppendSplit appends g, whose rows all lie within key, as a split or as an operand that MergeSplits folds into one. It
// panics if a row does not lie in the split, or not at the start of a group.
func AppendSplit(dst []byte, key SplitKey, g *Groups) []byte {
	s := getScratch()
	defer s.release()
	return s.appendSplit(dst, key, g.withMeans())
}

func (s *scratch) appendSplit(dst []byte, key SplitKey, g *Groups) []byte {
	s.positions = appendPositions(s.positions[:0], key, g.Starts)
	if g.Len() >= minVectorGroups {
		return s.appendVectorSplit(dst, g)
	}
	return s.appendColumnSplit(dst, g)
}

// appendColumnSplit appends g, whose positions are in s, as a split of format 1.
func (s *scratch) appendColumnSplit(dst []byte, g *Groups) []byte {
	at := len(dst)
	dst = beginFrame(dst, splitVersion)
	dst = appendPresence(dst, s.positions)
	if g.Len() == 0 {
		return endFrame(dst, at)
	}
	dst = intcodec.AppendUvarint(dst, uint64(len(g.Columns)))
	var distinct distinctColumns
	for i, c := range g.Columns {
		dst = c.Append(dst)
		if c == ColumnSketch {
			distinct.skip()
			s.body = appendSketches(s.body[:0], g, g.Values[i])
			dst = intcodec.AppendUvarint(append(dst, sketchCodecs[splitVersion]), uint64(len(s.body)))
			dst = append(dst, s.body...)
			continue
		}
		if same, ok := distinct.find(g.Values, i); ok {
			dst = append(dst, codecSame|byte(same)<<parameterShift)
			continue
		}
		dst = appendColumn(dst, g.Values[i], s)
	}
	return endFrame(dst, at)
}

// distinctColumns are the columns of a split that later ones may refer to instead of standing again.
type distinctColumns struct {
	columns [maxCodecSameRef + 1]int // -1 for one that none may refer to
	n       int
}

// find returns the number of the one that equals column i bit for bit; without one, i is added while there is room.
func (d *distinctColumns) find(values [][]float64, i int) (same int, ok bool) {
	same = slices.IndexFunc(d.columns[:d.n], func(c int) bool { return c >= 0 && sameBits(values[c], values[i]) })
	if same < 0 && d.n < len(d.columns) {
		d.columns[d.n] = i
		d.n++
	}
	return same, same >= 0
}

// skip adds a column that later ones cannot refer to.
func (d *distinctColumns) skip() {
	if d.n < len(d.columns) {
		d.columns[d.n] = -1
		d.n++
	}
}

// sameBits compares as memory, which takes a third of the time of a loop over values.
func sameBits(a, b []float64) bool {
	text := func(v []float64) string { return unsafe.String((*byte)(unsafe.Pointer(unsafe.SliceData(v))), 8*len(v)) }
	return text(a) == text(b)
}

// appendPositions appends the position of each start within key, which must ascend.
func appendPositions(dst []uint16, key SplitKey, starts []Timestamp) []uint16 {
	granularity := Timestamp(key.Granularity)
	if dst, ok := appendConsecutive(dst, key, starts); ok {
		return dst
	}
	next, position := Timestamp(-1), Timestamp(-1)
	for _, start := range starts {
		if start == next {
			position++
		} else {
			p := (start - key.Start) / granularity
			if start < key.Start || p <= position || start != key.Start+p*granularity {
				panic(fmt.Sprintf("carbonara: group %d is not one that may follow in split %v", start, key))
			}
			position = p
		}
		if position >= GroupsPerSplit {
			panic(fmt.Sprintf("carbonara: group %d is outside split %v", start, key))
		}
		dst = append(dst, uint16(position))
		next = start + granularity
	}
	return dst
}

// appendConsecutive is appendPositions of the usual starts, each a granularity after the one before; ok is false for
// others.
func appendConsecutive(dst []uint16, key SplitKey, starts []Timestamp) (_ []uint16, ok bool) {
	if len(starts) == 0 || starts[0] < key.Start {
		return dst, false
	}
	granularity := Timestamp(key.Granularity)
	first, next := (starts[0]-key.Start)/granularity, starts[0]
	if first+Timestamp(len(starts)) > GroupsPerSplit || key.Start+first*granularity != next {
		return dst, false
	}
	for _, start := range starts {
		if start != next {
			return dst, false
		}
		next += granularity
	}
	return append(dst, consecutivePositions[first:][:len(starts)]...), true
}

// DecodeSplit appends to dst the groups of src that start at or after from and before to, with the columns wanted; a
// column that is not stored becomes NaN. An empty dst is reset to the key's granularity and these columns (kept, not
// copied); any other must have them. Only what is wanted is decoded. An error wraps ErrCorrupt, and leaves the rows of
// dst as they were.
func DecodeSplit(src []byte, key SplitKey, want []Column, from, to Timestamp, dst *Groups) error {
	s := getScratch()
	defer s.release()
	if err := s.decodeSplit(src, key, want, from, to, dst); err != nil {
		return fmt.Errorf("split %v: %w", key, err)
	}
	return nil
}

func (s *scratch) decodeSplit(src []byte, key SplitKey, want []Column, from, to Timestamp, dst *Groups) error {
	lo, hi, err := s.openSplit(src, key, want, from, to, dst)
	if err != nil {
		return err
	}
	if err := s.decodeRows(key, lo, hi, dst); err != nil {
		return err
	}
	return s.decodeMeans(key, lo, hi, dst)
}

// openSplit parses src, makes dst ready, and returns which rows, lo to hi (exclusive), lie in the range.
func (s *scratch) openSplit(src []byte, key SplitKey, want []Column, from, to Timestamp,
	dst *Groups) (lo, hi int, err error) {
	if dst.Len() == 0 {
		dst.Reset(key.Granularity, want)
	} else if len(dst.Columns) != len(want) {
		panic(fmt.Sprintf("carbonara: columns %v wanted into groups of %v", want, dst.Columns))
	}
	if _, err := s.parseSplit(src, key.lastPosition()); err != nil {
		return 0, 0, err
	}
	lo, _ = slices.BinarySearch(s.positions, uint16(key.positionFrom(from)))
	hi, _ = slices.BinarySearch(s.positions, uint16(key.positionFrom(to)))
	return lo, hi, nil
}

// decodeRows appends rows lo to hi (exclusive) of the parsed split to dst, with dst's columns.
func (s *scratch) decodeRows(key SplitKey, lo, hi int, dst *Groups) error {
	if lo >= hi {
		return nil
	}
	if err := s.decodeColumns(lo, hi, dst); err != nil {
		base := dst.Len()
		for i := range dst.Values {
			dst.Values[i] = dst.Values[i][:base]
		}
		return err
	}
	base := dst.Len()
	dst.Starts = slices.Grow(dst.Starts, hi-lo)[:base+hi-lo]
	starts, positions := dst.Starts[base:], s.positions[lo:hi]
	if granularity := Timestamp(key.Granularity); isConsecutive(positions) {
		start := key.at(positions[0])
		for i := range starts {
			starts[i] = start
			start += granularity
		}
		return nil
	}
	for i, p := range positions {
		starts[i] = key.at(p)
	}
	return nil
}

// decodeColumns is decodeRows without starts. On errors the columns of dst are of different lengths.
func (s *scratch) decodeColumns(lo, hi int, dst *Groups) error {
	if s.version == splitVectorVersion {
		return s.decodeVectorRows(lo, hi, dst)
	}
	for i, c := range dst.Columns {
		stored, ok := s.stored(c)
		if !ok {
			base := len(dst.Values[i])
			dst.Values[i] = slices.Grow(dst.Values[i], hi-lo)[:base+hi-lo]
			fill(dst.Values[i][base:], absent)
			continue
		}
		if c == ColumnSketch {
			base := len(dst.Values[i])
			dst.Values[i] = slices.Grow(dst.Values[i], hi-lo)[:base+hi-lo]
			if err := dst.decodeSketches(dst.Values[i][base:], stored.body.bytes, len(s.positions), lo); err != nil {
				return err
			}
			continue
		}
		values, err := stored.body.appendTo(dst.Values[i], len(s.positions), lo, hi, s)
		if err != nil {
			return fmt.Errorf("%v: %w", c, err)
		}
		dst.Values[i] = values
	}
	return nil
}

// parseSplit checks src and reads all but the values: s.positions, none above last, and s.columns, which share src.
func (s *scratch) parseSplit(src []byte, last int) (presence int, err error) {
	s.columns, s.positions = s.columns[:0], s.positions[:0]
	if len(src) == 0 {
		return 0, corrupt("no bytes")
	}
	s.version = splitVersion
	if src[0] == splitVectorVersion {
		s.version = splitVectorVersion
	}
	src, rest, err := openFrame(src, s.version)
	if err != nil {
		return 0, err
	}
	if len(rest) > 0 {
		return 0, corrupt("%d bytes after the end", len(rest))
	}
	if s.positions, presence, src, err = decodePresence(src, last, s.positions); err != nil {
		return presence, err
	}
	if len(s.positions) == 0 {
		if len(src) > 0 {
			return presence, corrupt("columns without groups")
		}
		return presence, nil
	}
	columns, src, ok := intcodec.ConsumeUvarint(src)
	if !ok || columns > uint64(len(src)) {
		return presence, corrupt("number of columns")
	}
	var distinct [maxCodecSameRef + 1]storedColumn
	numDistinct := 0
	s.slots = 0
	for i := range int(columns) {
		var c storedColumn
		if src, ok = c.column.Consume(src); !ok || len(src) == 0 {
			return presence, corrupt("column %d is cut short", i)
		}
		if i > 0 && s.columns[i-1].column >= c.column {
			return presence, corrupt("column %v does not ascend", c.column)
		}
		if c.same = src[0]&codecMask == codecSame; c.same {
			reference := int(src[0] >> parameterShift)
			if reference >= numDistinct || src[0]&compressedBit != 0 {
				return presence, corrupt("column %v is the same as none", c.column)
			}
			d := distinct[reference]
			if c.column == ColumnSketch || d.column == ColumnSketch {
				return presence, corrupt("column %v is the same as another", c.column)
			}
			c.owner, c.body, c.slot, src = d.owner, d.body, d.slot, src[1:]
		} else {
			c.owner = c.column
			if s.version == splitVectorVersion && src[0]&codecMask >= codecVectors {
				if src[0] != codecVectors {
					return presence, corrupt("column %v: codec", c.column)
				}
				c.body.codec, c.slot, src = codecVectors, s.slots, src[1:]
				s.slots++
			} else if c.body, src, err = parseColumn(src); err != nil {
				return presence, err
			}
			if c.column == ColumnSketch && c.body.codec != sketchCodecs[s.version] {
				return presence, corrupt("column %v: codec", c.column)
			}
			if numDistinct < len(distinct) {
				distinct[numDistinct] = c
				numDistinct++
			}
		}
		s.columns = append(s.columns, c)
	}
	if s.version == splitVectorVersion {
		return presence, s.parseVectors(src, s.slots)
	}
	if len(src) > 0 {
		return presence, corrupt("%d bytes after the last column", len(src))
	}
	return presence, nil
}
