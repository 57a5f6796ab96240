package budget

import "sync"

// leastKept is how much memory a Pool keeps in one piece, if it is not told to keep more.
const leastKept = 4 << 20

// A Pool keeps memory between requests, beside the budget: larger pieces go to the garbage collector, so that a large
// request, whether it succeeded or not, occupies nothing after its end. The zero value is ready, for many goroutines at
// once.
type Pool[T any] struct {
	pool sync.Pool
	Most int // bytes of a piece that is kept; leastKept at least
}

// MostKept returns the bytes of a piece that a Pool of request bodies keeps: a request of 10,000 series takes 6 MB to
// parse, which would otherwise grow from nothing each time.
func (b *Budget) MostKept() int {
	if b == nil {
		return 0
	}
	return int(min(64<<20, b.limit/32))
}

// Get returns a piece that was Put, or a new one.
func (p *Pool[T]) Get() *T {
	if piece, ok := p.pool.Get().(*T); ok {
		return piece
	}
	return new(T)
}

// Put takes a piece back, which has grown to that many bytes: its capacity, not what is used of it.
func (p *Pool[T]) Put(piece *T, bytes int) {
	if bytes <= max(p.Most, leastKept) {
		p.pool.Put(piece)
	}
}
