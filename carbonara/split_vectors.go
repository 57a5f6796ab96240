package carbonara

import (
	"math"
	"slices"
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
	dst = appendUvarint(dst, uint64(len(g.Columns)))
	var distinct distinctColumns
	s.inVectors = s.inVectors[:0]
	for i, c := range g.Columns {
		dst = append(dst, byte(c))
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
	column := s.body
	for from := 0; from < g.Len(); from += vectorLen {
		to := min(from+vectorLen, g.Len())
		c.beginVector(g, from, to)
		block := c.block[:0]
		for _, i := range s.inVectors {
			column = c.appendVectorColumn(column[:0], g.Columns[i], g.Values[i][from:to])
			block = append(appendUvarint(block, uint64(len(column))), column...)
		}
		dst = append(appendUvarint(dst, uint64(len(block))), block...)
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

// parseVectors splits the bodies of the vectors off src, all of which they are, into s.bodies: those of one vector
// side by side.
func (s *scratch) parseVectors(src []byte, columns int) error {
	s.bodies = s.bodies[:0]
	if columns == 0 {
		if len(src) > 0 {
			return corrupt("%d bytes after the last column", len(src))
		}
		return nil
	}
	for v := range vectorsOf(len(s.positions)) {
		length, rest, ok := consumeUvarint(src)
		if !ok || length > uint64(len(rest)) {
			return corrupt("vector %d: length", v)
		}
		block := rest[:length]
		src = rest[length:]
		for range columns {
			length, rest, ok := consumeUvarint(block)
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

// vectorReader decodes columns of one vector of the parsed split.
type vectorReader struct {
	s      *scratch
	c      *vectorCodec
	vector int
	groups int // of this vector
}

// readVector begins a vector.
func (s *scratch) readVector(vector int) vectorReader {
	c := s.vectorCodec()
	for rate := range c.families {
		f := &c.families[rate]
		f.known, f.hasRange, f.busy, f.busyRange, f.has = false, false, false, false, [cachedColumns]bool{}
	}
	return vectorReader{s, c, vector, min(vectorLen, len(s.positions)-vector*vectorLen)}
}

// read returns the values of a column, which may be in out or elsewhere; len(out) is the number of groups. A column that
// is not stored is NaN.
func (r *vectorReader) read(out []float64, column Column) ([]float64, error) {
	cached := column.Base()
	if cached >= cachedColumns {
		return out, r.decode(out, column)
	}
	f := r.c.familyOf(column)
	out = f.buffers[cached][:r.groups]
	if f.has[cached] {
		return out, nil
	}
	err := r.decode(out, column)
	f.has[cached] = err == nil
	return out, err
}

func (r *vectorReader) decode(out []float64, column Column) error {
	stored, ok := r.s.stored(column)
	if !ok {
		fill(out, math.NaN())
		return nil
	}
	if stored.body.codec&codecMask != codecVectors {
		_, err := stored.body.appendTo(out[:0], r.groups, 0, r.groups, r.s)
		return err
	}
	body := r.s.bodies[r.vector*r.s.slots+stored.slot]
	f := &r.c.families[0].family
	if len(body) > 0 {
		kind := body[0] & vectorKindMask
		if kind == vectorAgainstMean || kind == vectorSecondMoment || kind == vectorAgainstRange {
			// Of the family that the body was written for: one that another column is the same as.
			state := r.c.familyOf(stored.owner)
			if err := r.needFamily(state, stored.owner&rateBit); err != nil {
				return err
			}
			if kind == vectorAgainstRange {
				if err := r.needRange(state, stored.owner&rateBit); err != nil {
					return err
				}
			}
			f = &state.family
		}
	}
	if !r.c.decodeVectorColumn(out, body, f) {
		return corrupt("vector %d", r.vector)
	}
	return nil
}

// needFamily makes the counts and sums of a family known.
func (r *vectorReader) needFamily(f *familyState, rate Column) error {
	if f.known {
		return nil
	}
	if f.busy {
		return corrupt("vector %d: columns that need each other", r.vector)
	}
	f.busy = true
	counts, err := r.read(nil, ColumnCount|rate)
	if err != nil {
		return err
	}
	sums, err := r.read(nil, ColumnSum|rate)
	if err != nil {
		return err
	}
	f.set(counts, sums)
	return nil
}

// needRange makes the minima and maxima of a family known.
func (r *vectorReader) needRange(f *familyState, rate Column) error {
	if f.hasRange {
		return nil
	}
	if f.busyRange {
		return corrupt("vector %d: columns that need each other", r.vector)
	}
	f.busyRange = true
	lows, err := r.read(nil, ColumnMin|rate)
	if err != nil {
		return err
	}
	highs, err := r.read(nil, ColumnMax|rate)
	if err != nil {
		return err
	}
	f.setRange(lows, highs)
	return nil
}

// decodeVectorRows appends rows lo to hi (exclusive) of the parsed split, lo < hi, to the columns of dst. On errors the
// columns are of different lengths.
func (s *scratch) decodeVectorRows(lo, hi int, dst *Groups) error {
	for i := range dst.Values {
		dst.Values[i] = slices.Grow(dst.Values[i], hi-lo)
	}
	for vector := lo / vectorLen; vector*vectorLen < hi; vector++ {
		r := s.readVector(vector)
		first := vector * vectorLen
		from, to := max(lo-first, 0), min(hi-first, r.groups)
		for i, column := range dst.Columns {
			values, err := r.read(s.vector[:r.groups], column)
			if err != nil {
				return err
			}
			dst.Values[i] = append(dst.Values[i], values[from:to]...)
		}
	}
	return nil
}
