package budget

import "sync"

// mostKept is how much memory a Pool keeps in one piece.
const mostKept = 4 << 20

// A Pool keeps memory between requests, beside the budget: larger pieces go to the garbage collector, so that a large
// request, whether it succeeded or not, occupies nothing after its end. The zero value is ready, for many goroutines at
// once.
type Pool[T any] struct{ pool sync.Pool }

// Get returns a piece that was Put, or a new one.
func (p *Pool[T]) Get() *T {
	if piece, ok := p.pool.Get().(*T); ok {
		return piece
	}
	return new(T)
}

// Put takes a piece back, which has grown to that many bytes: its capacity, not what is used of it.
func (p *Pool[T]) Put(piece *T, bytes int) {
	if bytes <= mostKept {
		p.pool.Put(piece)
	}
}
