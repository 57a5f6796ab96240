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

// bumpAllocator hands out pieces of large chunks and takes them all back at once: result memory that is allocated only
// while it still grows.
type bumpAllocator[T any] struct {
	chunks  [][]T
	current int // chunk that pieces are taken from
	used    int // elements of it taken
}

const bumpChunk = 32 << 10 // elements

// alloc returns n elements of undefined content; they are valid until reset.
func (b *bumpAllocator[T]) alloc(n int) []T {
	for ; b.current < len(b.chunks); b.current, b.used = b.current+1, 0 {
		if chunk := b.chunks[b.current]; len(chunk)-b.used >= n {
			piece := chunk[b.used : b.used+n : b.used+n]
			b.used += n
			return piece
		}
	}
	chunk := make([]T, max(n, bumpChunk))
	b.chunks = append(b.chunks, chunk)
	b.used = n
	return chunk[:n:n]
}

func (b *bumpAllocator[T]) reset() { b.current, b.used = 0, 0 }
