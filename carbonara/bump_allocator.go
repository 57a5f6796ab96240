package carbonara

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
