package carbonara

import (
	"slices"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
)

// splitVectorVersion is the first byte of a split of format 2, which encodes groups in vectors of 1,024. It is written
// from minVectorGroups on: the few groups of an operand are smaller, and written faster, in format 1.
const (
	splitVectorVersion = 2
	minVectorGroups    = 64
)

// codecVectors, in place of codecPlain, is the codec of a column of format 2 whose values are in the vectors.
const codecVectors = 3

// vectorsOf returns the number of vectors of n groups.
func vectorsOf(n int) int { return (n + vectorLen - 1) / vectorLen }

// appendVectorSplit appends g, whose positions are in s, as a split of format 2.
func (s *scratch) appendVectorSplit(dst []byte, g *Groups) []byte {
	at := len(dst)
	dst = beginFrame(dst, splitVectorVersion)
	dst = appendPresence(dst, s.positions)
	dst = intcodec.AppendUvarint(dst, uint64(len(g.Columns)))
	var distinct distinctColumns
	s.inVectors = s.inVectors[:0]
	for i, c := range g.Columns {
		dst = c.Append(dst)
		if c == ColumnSketch {
			distinct.skip()
			dst = append(dst, sketchCodecs[splitVectorVersion])
			s.inVectors = append(s.inVectors, i)
			continue
		}
		if same, ok := distinct.find(g.Values, i); ok {
			dst = append(dst, codecSame|byte(same)<<parameterShift)
			continue
		}
		if isConstant(g.Values[i]) {
			dst = appendConstant(dst, g.Values[i][0])
			continue
		}
		dst = append(dst, codecVectors)
		s.inVectors = append(s.inVectors, i)
	}
	if len(s.inVectors) == 0 {
		return endFrame(dst, at)
	}
	c := s.vectorCodec()
	c.begin()
	column := s.body
	for from := 0; from < g.Len(); from += vectorLen {
		to := min(from+vectorLen, g.Len())
		c.beginVector(g, from, to)
		block := c.block[:0]
		for _, i := range s.inVectors {
			if g.Columns[i] == ColumnSketch {
				column = appendSketches(column[:0], g, g.Values[i][from:to])
			} else {
				column = c.appendVectorColumn(column[:0], g.Columns[i], g.Values[i][from:to])
			}
			block = append(intcodec.AppendUvarint(block, uint64(len(column))), column...)
		}
		dst = append(intcodec.AppendUvarint(dst, uint64(len(block))), block...)
		c.block = block
	}
	s.body = column
	return endFrame(dst, at)
}

// vectorCodec returns the memory for vectors, which only splits of format 2 need.
func (s *scratch) vectorCodec() *vectorCodec {
	if s.vectors == nil {
		s.vectors = new(vectorCodec)
	}
	return s.vectors
}

// parseVectors splits the whole of src into the bodies of the vectors, s.bodies, with the bodies of one vector side by
// side.
func (s *scratch) parseVectors(src []byte, columns int) error {
	s.bodies = s.bodies[:0]
	if columns == 0 {
		if len(src) > 0 {
			return corrupt("%d bytes after the last column", len(src))
		}
		return nil
	}
	for v := range vectorsOf(len(s.positions)) {
		length, rest, ok := intcodec.ConsumeUvarint(src)
		if !ok || length > uint64(len(rest)) {
			return corrupt("vector %d: length", v)
		}
		block := rest[:length]
		src = rest[length:]
		for range columns {
			length, rest, ok := intcodec.ConsumeUvarint(block)
			if !ok || length > uint64(len(rest)) {
				return corrupt("vector %d: column length", v)
			}
			s.bodies = append(s.bodies, rest[:length])
			block = rest[length:]
		}
		if len(block) > 0 {
			return corrupt("vector %d: %d bytes after the last column", v, len(block))
		}
	}
	if len(src) > 0 {
		return corrupt("%d bytes after the last vector", len(src))
	}
	return nil
}

// vectorReader decodes columns of some groups of one vector of the parsed split.
type vectorReader struct {
	s        *scratch
	c        *vectorCodec
	vector   int
	groups   int // of this vector
	from, to int // of these, those asked for
}

// readVector begins to read groups from to to (exclusive) of a vector.
func (s *scratch) readVector(vector, from, to int) vectorReader {
	c := s.vectorCodec()
	for rate := range c.families {
		f := &c.families[rate]
		f.known, f.hasRange, f.busy, f.busyRange, f.values = false, false, false, false, [cachedColumns][]float64{}
	}
	return vectorReader{s, c, vector, min(vectorLen, len(s.positions)-vector*vectorLen), from, to}
}

// read returns the values of a column, which may be in out, whose length is the number of groups asked for, or
// elsewhere. A column that is not stored is NaN. Without out only columns that others are told with can be read.
func (r *vectorReader) read(out []float64, column Column) ([]float64, error) {
	stored, ok := r.s.stored(column)
	if ok {
		column = stored.owner // the same values, and perhaps decoded already
	}
	cached := column.Base()
	if cached >= cachedColumns {
		return out, r.decode(out, stored, ok)
	}
	f := r.c.familyOf(column)
	if f.values[cached] != nil {
		return f.values[cached], nil
	}
	if out == nil {
		out = f.buffers[cached][:r.to-r.from]
	}
	err := r.decode(out, stored, ok)
	if err == nil {
		f.values[cached] = out
	}
	return out, err
}

// readInto is read for a column of dst, to which it adds sketches.
func (r *vectorReader) readInto(dst *Groups, out []float64, column Column) ([]float64, error) {
	stored, ok := r.s.stored(column)
	if column != ColumnSketch || !ok {
		return r.read(out, column)
	}
	return out, dst.decodeSketches(out, r.s.bodies[r.vector*r.s.slots+stored.slot], r.groups, r.from)
}

// decode fills out with a column that is stored in this way, if at all.
func (r *vectorReader) decode(out []float64, stored storedColumn, ok bool) error {
	if !ok {
		fill(out, absent)
		return nil
	}
	if stored.body.codec&codecMask != codecVectors {
		_, err := stored.body.appendTo(out[:0], r.groups, r.from, r.to, r.s)
		return err
	}
	body := r.s.bodies[r.vector*r.s.slots+stored.slot]
	f := &r.c.families[0].family
	if len(body) > 0 {
		kind := body[0] & vectorKindMask
		if kind == vectorRelativeToMean || kind == vectorSecondMoment || kind == vectorRelativeToRange {
			// Of the family that the body was written for: one that another column is the same as.
			state := r.c.familyOf(stored.owner)
			if err := r.needFamily(state, stored.owner&rateBit); err != nil {
				return err
			}
			if kind == vectorRelativeToRange {
				if err := r.needRange(state, stored.owner&rateBit); err != nil {
					return err
				}
			}
			f = &state.family
		}
	}
	if !r.c.decodeVectorColumn(out, body, f, r.groups, r.from) {
		return corrupt("vector %d", r.vector)
	}
	return nil
}

// needFamily makes the counts and sums of a family known.
func (r *vectorReader) needFamily(f *familyState, rate Column) error {
	if f.known {
		return nil
	}
	counts, sums, err := r.both(&f.busy, ColumnCount|rate, ColumnSum|rate)
	if err == nil {
		f.set(counts, sums)
	}
	return err
}

// needRange makes the minima and maxima of a family known.
func (r *vectorReader) needRange(f *familyState, rate Column) error {
	if f.hasRange {
		return nil
	}
	lows, highs, err := r.both(&f.busyRange, ColumnMin|rate, ColumnMax|rate)
	if err == nil {
		f.setRange(lows, highs)
	}
	return err
}

// both reads two columns. It sets busy, so that columns of a damaged vector that need each other end in an error.
func (r *vectorReader) both(busy *bool, a, b Column) (first, second []float64, err error) {
	if *busy {
		return nil, nil, corrupt("vector %d: columns that need each other", r.vector)
	}
	*busy = true
	if first, err = r.read(nil, a); err == nil {
		second, err = r.read(nil, b)
	}
	return first, second, err
}

// decodeVectorRows appends rows lo to hi (exclusive) of the parsed split, lo < hi, to the columns of dst. On errors the
// columns are of different lengths.
func (s *scratch) decodeVectorRows(lo, hi int, dst *Groups) error {
	for i := range dst.Values {
		dst.Values[i] = slices.Grow(dst.Values[i], hi-lo)
	}
	for vector := lo / vectorLen; vector*vectorLen < hi; vector++ {
		first := vector * vectorLen
		groups := min(vectorLen, len(s.positions)-first)
		from, to := max(lo-first, 0), min(hi-first, groups)
		whole := to-from < groups && s.needsAllGroups(vector, dst.Columns)
		r := s.readVector(vector, from, to)
		if whole {
			r.from, r.to = 0, groups
		}
		for i, column := range dst.Columns {
			base := len(dst.Values[i])
			out := dst.Values[i][base : base+to-from]
			memory := out
			if cached := column.Base(); whole && cached < cachedColumns {
				memory = r.c.familyOf(column).buffers[cached][:groups]
			} else if whole {
				memory = s.vector[:groups]
			}
			values, err := r.readInto(dst, memory, column)
			if err != nil {
				return err
			}
			if whole {
				values = values[from:to]
			}
			if &values[0] != &out[0] {
				copy(out, values)
			}
			dst.Values[i] = dst.Values[i][:base+to-from]
		}
	}
	return nil
}

// needsAllGroups reports whether one of columns can only be decoded together with all groups of a vector: the sizes of
// second moments follow from the other columns.
func (s *scratch) needsAllGroups(vector int, columns []Column) bool {
	for _, column := range columns {
		stored, ok := s.stored(column)
		if !ok || stored.body.codec&codecMask != codecVectors || column == ColumnSketch {
			continue
		}
		if body := s.bodies[vector*s.slots+stored.slot]; len(body) > 0 &&
			body[0]&vectorKindMask == vectorRelativeToRange {
			return true
		}
	}
	return false
}
