package carbonara

import "sync"

// scratch is the memory that one call of the codecs works in.
type scratch struct {
	version   byte     // of the parsed split
	positions []uint16 // its
	rows      []uint16 // MergeSplits: where each row of groups lies
	newest    []int32  // MergeSplits: the last row at each position
	columns   []storedColumn
	union     []Column
	groups    Groups
	merged    Groups
	ints      []int64
	body      []byte // of one column, not compressed
	packed    []byte // the same, compressed
	planes    []byte

	inVectors []int    // format 2: columns, by index, whose values are in the vectors
	bodies    [][]byte // of the vectors' columns, slots for each vector
	slots     int
	vectors   *vectorCodec
	vector    [vectorLen]float64

	chunks     []rawChunk  // of a raw series that is being read
	timestamps []Timestamp // MergeRaw: the series
	values     []float64

	tailTimestamps []Timestamp // rawSeries.overlay: the measures that it replaces
	tailValues     []float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

// release returns s to the pool, without what it holds of a caller's memory.
func (s *scratch) release() {
	clear(s.columns[:cap(s.columns)])
	clear(s.bodies[:cap(s.bodies)])
	if s.vectors != nil {
		for i := range s.vectors.families {
			f := &s.vectors.families[i]
			f.counts, f.sums, f.lows, f.highs = nil, nil, nil, nil
			f.values = [cachedColumns][]float64{}
		}
	}
	clear(s.chunks)
	s.chunks = s.chunks[:0]
	s.groups.Columns, s.merged.Columns = nil, nil
	s.groups.sketches, s.merged.sketches = nil, nil
	scratches.Put(s)
}
