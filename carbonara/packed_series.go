package carbonara

import (
	"fmt"
	"slices"
	"sort"

	"github.com/gnocco-db/gnocco/carbonara/intcodec"
)

// Packed is a raw series as it is stored: its measures have not been decoded. A [Series] may have one in place of
// columns of its batch, so that a device gets the bytes of the archive, and decodes timestamps and values itself. The
// zero value has no measures; it may be parsed into again.
type Packed struct {
	Vectors []PackedVector // ascending, side by side
	// Step is how far apart all measures are; 0 if that differs, or is not seen at a glance.
	Step Timestamp

	own []byte // vectors made from measures that were stored otherwise
}

// PackedVector is up to 1,024 measures that are encoded together: docs/format/split.md says how.
type PackedVector struct {
	// At is the position of its first measure in the series, below 0 where the first ones are no part of it; N is their
	// number.
	At, N  int
	Times  []byte // a stream of integers, ascending
	Values []byte // a vector column of kind decimal, float or float by prefix

	// First is the first integer, and none is above Last, which leaves room for as many as there are. The last one is
	// Last where Exact. Timestamps are Base and as many times Unit as the integers say.
	First, Last int64
	Exact       bool
	Base, Unit  Timestamp
}

// End is the position behind the vector's last measure.
func (v *PackedVector) End() int { return v.At + v.N }

// Len returns the number of measures.
func (p *Packed) Len() int {
	if len(p.Vectors) == 0 {
		return 0
	}
	return p.Vectors[len(p.Vectors)-1].End()
}

// Parse sets p to a raw series, which is AppendRaw's operands side by side, and keeps src. Of chunks of format 2, each
// later than those before, only the heads are read; others are decoded, and made vectors of that take 16 bytes a
// measure. An error wraps ErrCorrupt, and leaves p empty; but not all that is corrupt is found before it is decoded.
func (p *Packed) Parse(src []byte) error {
	s := getScratch()
	defer s.release()
	if err := p.parse(src, s); err != nil {
		p.reset()
		return fmt.Errorf("raw series: %w", err)
	}
	return nil
}

func (p *Packed) reset() {
	clear(p.Vectors)
	p.Vectors, p.Step, p.own = p.Vectors[:0], 0, p.own[:0]
}

func (p *Packed) parse(src []byte, s *scratch) error {
	p.reset()
	var keepFrom, last Timestamp
	for rest := src; len(rest) > 0; {
		c, after, err := parseRaw(rest)
		if err != nil {
			return err
		}
		rest = after
		keepFrom = max(keepFrom, c.keepFrom)
		if c.n == 0 {
			continue
		}
		if len(p.Vectors) > 0 && c.first <= last {
			return p.parseDecoded(src, s)
		}
		last = c.last
		if c.vectors {
			err = p.addVectors(&c)
		} else {
			err = p.addChunk(&c, s)
		}
		if err != nil {
			return err
		}
	}
	if err := p.trim(keepFrom); err != nil {
		return err
	}
	p.Step = p.step()
	return nil
}

// parseDecoded is parse for chunks that lie one over the other.
func (p *Packed) parseDecoded(src []byte, s *scratch) error {
	p.reset()
	series := rawSeries{timestamps: s.timestamps[:0], values: s.values[:0]}
	defer func() { s.timestamps, s.values = series.timestamps, series.values }()
	if err := series.decode(src, s); err != nil {
		return err
	}
	series.trim()
	if err := p.addDecoded(series.timestamps, series.values, s); err != nil {
		return err
	}
	p.Step = p.step()
	return nil
}

// addVectors adds the vectors of a chunk of format 2.
func (p *Packed) addVectors(c *rawChunk) error {
	steps, columns, begin := c.steps, c.columns, len(p.Vectors)
	for from := 0; from < c.n; from += vectorLen {
		v := PackedVector{At: p.Len(), N: min(vectorLen, c.n-from), Base: c.first, Unit: c.unit}
		first, rest, ok := intcodec.Skip(steps, v.N)
		if !ok {
			return corrupt("timestamps")
		}
		v.First, v.Times, steps = first, steps[:len(steps)-len(rest)], rest
		length, rest, ok := intcodec.ConsumeUvarint(columns)
		if !ok || length > uint64(len(rest)) {
			return corrupt("values are cut short")
		}
		v.Values, columns = rest[:length], rest[length:]
		p.Vectors = append(p.Vectors, v)
	}
	if len(steps)+len(columns) > 0 {
		return corrupt("%d bytes after the end of a chunk", len(steps)+len(columns))
	}
	vectors, last := p.Vectors[begin:], int64((c.last-c.first)/c.unit)
	vectors[len(vectors)-1].Exact = true
	for i := len(vectors) - 1; i >= 0; i-- {
		v := &vectors[i]
		v.Last = last
		if v.First < 0 || v.First > last || last-v.First < int64(v.N-1) {
			return corrupt("timestamps")
		}
		last = v.First - 1
	}
	if vectors[0].First != 0 {
		return corrupt("timestamps")
	}
	return nil
}

// addChunk adds a chunk of format 1.
func (p *Packed) addChunk(c *rawChunk, s *scratch) (err error) {
	if s.timestamps, err = c.appendTimestamps(s.timestamps[:0], s); err != nil {
		return err
	}
	if s.values, err = c.appendValues(s.values[:0], 0, s); err != nil {
		return err
	}
	return p.addDecoded(s.timestamps, s.values, s)
}

// addDecoded adds vectors of measures that were decoded.
func (p *Packed) addDecoded(timestamps []Timestamp, values []float64, s *scratch) error {
	for len(values) > 0 {
		n, at := min(len(values), maxRawChunk), len(p.own)
		p.own = s.appendRawVectors(p.own, noMarks, timestamps[:n], values[:n])
		c, _, err := parseRaw(p.own[at:])
		if err != nil {
			return err
		}
		if err := p.addVectors(&c); err != nil {
			return err
		}
		timestamps, values = timestamps[n:], values[n:]
	}
	return nil
}

// trim drops what keepFrom says is needed no longer: all before it but the newest.
func (p *Packed) trim(keepFrom Timestamp) error {
	at, err := p.Search(keepFrom)
	if err != nil || at <= 1 {
		return err
	}
	p.Vectors = slices.Delete(p.Vectors, 0, p.vectorOf(at-1))
	for i := range p.Vectors {
		p.Vectors[i].At -= at - 1
	}
	return nil
}

// step returns how far apart all measures are, if the heads of the streams tell.
func (p *Packed) step() Timestamp {
	if len(p.Vectors) == 0 {
		return 0
	}
	first, last := &p.Vectors[0], &p.Vectors[len(p.Vectors)-1]
	begin, intervals := first.at(first.First), Timestamp(last.End()-first.At-1)
	if intervals == 0 || (last.at(last.Last)-begin)%intervals != 0 {
		return 0
	}
	step := (last.at(last.Last) - begin) / intervals
	for i := range p.Vectors {
		v := &p.Vectors[i]
		if v.at(v.First) != begin+Timestamp(v.At-first.At)*step || !v.regular(step) {
			return 0
		}
	}
	return step
}

// regular reports whether the vector's measures are known to be step apart without decoding them.
func (v *PackedVector) regular(step Timestamp) bool {
	if step%v.Unit != 0 {
		return false
	}
	units := int64(step / v.Unit)
	if v.Exact && v.First+int64(v.N-1)*units != v.Last {
		return false
	}
	if v.N < 4 { // too few to be told by their differences
		var memory [3]int64
		ints := memory[:v.N]
		rest, ok := intcodec.Decode(ints, v.Times, nil)
		for i, t := range ints {
			ok = ok && t == v.First+int64(i)*units
		}
		return ok && len(rest) == 0
	}
	difference, ok := intcodec.ConstantDifference(v.Times, v.N)
	return ok && difference == units
}

// at returns the timestamp that an integer of the vector stands for.
func (v *PackedVector) at(integer int64) Timestamp { return v.Base + Timestamp(integer)*v.Unit }

// vectorOf returns which vector the measure at a position is in.
func (p *Packed) vectorOf(position int) int {
	return sort.Search(len(p.Vectors), func(i int) bool { return p.Vectors[i].End() > position })
}

// Search returns the position of the first measure at t or later. An error wraps ErrCorrupt.
func (p *Packed) Search(t Timestamp) (int, error) {
	i := sort.Search(len(p.Vectors), func(i int) bool { return p.Vectors[i].at(p.Vectors[i].First) >= t }) - 1
	if i < 0 {
		return 0, nil
	}
	s := getScratch()
	defer s.release()
	v := &p.Vectors[i]
	var err error
	if s.tailTimestamps, err = v.appendTimestamps(s.tailTimestamps[:0], 0, v.N, s); err != nil {
		return 0, err
	}
	at, _ := slices.BinarySearch(s.tailTimestamps, t)
	return max(0, v.At+at), nil
}

// Timestamp returns when the measure at a position was. An error wraps ErrCorrupt.
func (p *Packed) Timestamp(position int) (Timestamp, error) {
	v := &p.Vectors[p.vectorOf(position)]
	switch {
	case p.Step > 0:
		return v.at(v.First) + Timestamp(position-v.At)*p.Step, nil
	case position == v.At:
		return v.at(v.First), nil
	case position == v.End()-1 && v.Exact:
		return v.at(v.Last), nil
	}
	s := getScratch()
	defer s.release()
	var err error
	if s.tailTimestamps, err = v.appendTimestamps(s.tailTimestamps[:0], position-v.At, position-v.At+1, s); err != nil {
		return 0, err
	}
	return s.tailTimestamps[0], nil
}

// Measure returns the measure at a position. An error wraps ErrCorrupt.
func (p *Packed) Measure(position int) (m Measure, err error) {
	timestamps, values, err := p.Append(nil, nil, position, position+1)
	if err != nil {
		return m, err
	}
	return Measure{Timestamp: timestamps[0], Value: values[0]}, nil
}

// Append appends the measures from one position to another. An error wraps ErrCorrupt, and the slices come back as they
// were.
func (p *Packed) Append(timestamps []Timestamp, values []float64, from, to int) ([]Timestamp, []float64, error) {
	s := getScratch()
	defer s.release()
	times, floats := timestamps, values
	for i := p.vectorOf(from); from < to; i++ {
		v := &p.Vectors[i]
		end := min(to, v.End())
		var err error
		if times, err = v.appendTimestamps(times, from-v.At, end-v.At, s); err != nil {
			return timestamps, values, err
		}
		if floats, err = v.appendValues(floats, from-v.At, end-v.At, s); err != nil {
			return timestamps, values, err
		}
		from = end
	}
	return times, floats, nil
}

// appendTimestamps appends those of the vector's measures from one number to another.
func (v *PackedVector) appendTimestamps(dst []Timestamp, from, to int, s *scratch) ([]Timestamp, error) {
	ints, base := s.vectorCodec().ints[:v.N], len(dst)
	rest, ok := intcodec.Decode(ints, v.Times, nil)
	if !ok || len(rest) > 0 || ints[0] != v.First || v.Exact && ints[v.N-1] != v.Last {
		return dst, corrupt("timestamps")
	}
	if dst, ok = appendTimes(dst, ints, v.First-1, v.Last, v.Base, v.Unit); !ok {
		return dst[:base], corrupt("timestamps")
	}
	copy(dst[base:], dst[base+from:base+to])
	return dst[:base+to-from], nil
}

// appendValues appends those of the vector's measures from one number to another.
func (v *PackedVector) appendValues(dst []float64, from, to int, s *scratch) ([]float64, error) {
	if !s.decodeRawValues(v.N, v.Values) {
		return dst, corrupt("values")
	}
	return append(dst, s.vector[from:to]...), nil
}
