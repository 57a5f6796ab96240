package carbonara

// A Lender is a Resampler with memory of its own, such as a device copies by itself: batches that lie there need not be copied first,
// and groups stay where the device put them. What is lent comes back when the batch or result is used again, released or collected.
type Lender interface {
	Resampler

	// Lend returns columns of no length, with room for that many measures at least. Without Memory, there is none to lend now.
	Lend(measures int) Columns
}

// Columns are lent memory for a batch.
type Columns struct {
	Timestamps []Timestamp
	Values     []float64
	Memory     Lent
}

// Lent is memory of a resampler's in the hands of a batch or a result. Whoever drops it without Release leaves that to the collector.
type Lent interface {
	// Release gives it back, once.
	Release()
}
