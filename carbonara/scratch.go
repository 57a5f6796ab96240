package carbonara

import "sync"

// scratch is the memory that one call of the codecs works in.
type scratch struct {
	positions []uint16
	rows      []uint16 // MergeSplits: where each row of groups lies
	columns   []storedColumn
	union     []Column
	groups    Groups
	merged    Groups
	ints      []int64
	body      []byte // of one column, not compressed
	packed    []byte // the same, compressed
	planes    []byte

	timestamps []Timestamp // MergeRaw: the series
	values     []float64

	tailTimestamps []Timestamp // rawSeries.overlay: what is being replaced
	tailValues     []float64
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

func getScratch() *scratch { return scratches.Get().(*scratch) }

// release returns s to the pool, without what it holds of a caller's memory.
func (s *scratch) release() {
	clear(s.columns[:cap(s.columns)])
	s.groups.Columns, s.merged.Columns = nil, nil
	scratches.Put(s)
}
