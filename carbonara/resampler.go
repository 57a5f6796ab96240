package carbonara

import "context"

// A Resampler turns measures of many metrics into groups: every granularity and column of each metric's plan, in one
// call. There are two: CPUResampler here, and the one on a CUDA device in package gpu. Both give the same counts,
// minima, maxima, firsts, lasts and percentiles; sums and second moments are accumulated in time order within a group,
// so that they do not depend on how measures were batched.
type Resampler interface {
	// Resample computes the groups of batch into result, which it resets. The result stays valid until it is passed
	// to Resample again. It does not modify batch. Packed series that do not decode are an error, which wraps ErrCorrupt.
	Resample(ctx context.Context, batch *Batch, result *Result) error
}

// Measure is a value at a point in time.
type Measure struct {
	Timestamp Timestamp
	Value     float64
}

// Batch is the measures of many metrics, column by column.
type Batch struct {
	Timestamps []Timestamp // len(Values); within a series strictly ascending
	Values     []float64
	Series     []Series
}

// Measures returns how many measures all series of the batch have.
func (b *Batch) Measures() int {
	n := 0
	for i := range b.Series {
		n += b.Series[i].Len()
	}
	return n
}

// Series is one metric's part of a batch: measures From to To (exclusive) of its columns, or of Packed if that is not nil.
type Series struct {
	Plan     *Plan
	From, To int
	Packed   *Packed

	// Previous is the measure before the first one, if HasPrevious: the first difference of rate: columns starts there.
	Previous    Measure
	HasPrevious bool

	// Open continues the groups that Previous fell into: one row per granularity of the plan, each with the plan's
	// columns in order. Nil to start afresh; always nil for plans with percentiles, whose series start at the start
	// of a group of every granularity.
	Open []float64
}

// Len returns how many measures the series has.
func (s *Series) Len() int { return s.To - s.From }

// Result holds the groups of a batch: for every series one Groups for each granularity of its plan, ascending.
type Result struct {
	groups  []Groups
	offsets []int   // of each series' first Groups
	arenas  []arena // one per worker
}

// Groups returns the groups of series i at the j-th granularity of its plan. They belong to the result.
func (r *Result) Groups(i, j int) *Groups { return &r.groups[r.offsets[i]+j] }
