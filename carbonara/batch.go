package carbonara

import "slices"

// Measure is a value at a point in time.
type Measure struct {
	Timestamp Timestamp
	Value     float64
}

// Batch is the measures of many metrics, column by column. Its columns may be any slices; those that Grow made may lie
// in memory of the resampler: then the batch is not copied, only its slices are.
type Batch struct {
	Timestamps []Timestamp // len(Values); within a series strictly ascending
	Values     []float64
	Series     []Series

	allocator Allocator
	borrowed  Columns // held by the batch, if it has Memory
	asked     int     // measures that the allocator was last asked to have room for
}

// Measures returns how many measures all series of the batch have.
func (b *Batch) Measures() int {
	n := 0
	for i := range b.Series {
		n += b.Series[i].Len()
	}
	return n
}

// Series is one metric's part of a batch: measures From to To (exclusive) of its columns, or of Packed if that is not
// nil.
type Series struct {
	Plan     *Plan
	From, To int
	Packed   *Packed

	// Previous is the measure before the first one, if HasPrevious: the first difference of rate: columns starts there.
	Previous    Measure
	HasPrevious bool

	// Open continues the groups that Previous fell into: one row per granularity of the plan, as Groups.AppendOpen
	// appends it. Nil to start afresh; always nil for plans with percentiles, whose series start at the start of a
	// group of every granularity.
	Open []float64

	// Since says that groups which end before it or then are not asked for: a resampler may leave them out.
	Since Timestamp
}

// Len returns how many measures the series has.
func (s *Series) Len() int { return s.To - s.From }

// borrowFrom is the number of measures from which a batch borrows memory: smaller batches are quick to copy.
const borrowFrom = 8 << 10

// Reset empties the batch, keeping its memory. From now on Grow asks the resampler for memory, if that lends any.
func (b *Batch) Reset(resampler Resampler) {
	allocator, _ := resampler.(Allocator)
	if allocator != b.allocator {
		b.Release()
		b.allocator = allocator
	}
	if b.borrowed.Memory != nil {
		b.Timestamps, b.Values = b.borrowed.Timestamps, b.borrowed.Values
	}
	b.asked = cap(b.borrowed.Values)
	b.Timestamps, b.Values, b.Series = b.Timestamps[:0], b.Values[:0], b.Series[:0]
}

// Grow makes room for so many measures more, which then are appended to both columns without their being moved.
func (b *Batch) Grow(measures int) {
	need := len(b.Values) + measures
	if b.allocator != nil && need > max(b.asked, borrowFrom) {
		b.asked = max(need, 2*b.asked)
		if columns := b.allocator.Allocate(b.asked); columns.Memory != nil {
			b.Timestamps, b.Values = append(columns.Timestamps, b.Timestamps...), append(columns.Values, b.Values...)
			b.giveBack()
			b.borrowed = columns
		}
	}
	b.Timestamps, b.Values = slices.Grow(b.Timestamps, measures), slices.Grow(b.Values, measures)
}

// Borrowed returns the resampler's memory that the batch lies in, nil for none. Columns that were appended to without
// Grow may lie elsewhere.
func (b *Batch) Borrowed() Borrowed { return b.borrowed.Memory }

// Release empties the batch and gives back the memory that it borrowed. Otherwise the collector does that, once the
// batch is dropped.
func (b *Batch) Release() {
	if b.borrowed.Memory != nil {
		b.Timestamps, b.Values = nil, nil
		b.giveBack()
	}
	b.Timestamps, b.Values, b.Series, b.allocator, b.asked = b.Timestamps[:0], b.Values[:0], b.Series[:0], nil, 0
}

func (b *Batch) giveBack() {
	if b.borrowed.Memory != nil {
		b.borrowed.Memory.Release()
	}
	b.borrowed = Columns{}
}
