package carbonara

// An Allocator is a Resampler with memory of its own, such as pinned memory that a device reads without a copy. Batches
// and groups may lie there. Borrowed memory returns when the batch or result is used again, released or collected.
type Allocator interface {
	Resampler

	// Allocate returns empty columns with room for at least so many measures. Memory is nil if there is none left.
	Allocate(measures int) Columns
}

// Columns are memory for the measures of a batch.
type Columns struct {
	Timestamps []Timestamp
	Values     []float64
	Memory     Borrowed
}

// Borrowed is an allocator's memory in use by a batch or a result. If it is dropped without Release, the collector
// frees it.
type Borrowed interface {
	// Release returns the memory to its allocator, once.
	Release()
}
