package api

import "sync"

// scratchPool keeps memory between requests. Memory beyond put's limit goes to the garbage collector, so that one large
// request does not occupy it for ever.
type scratchPool[T any] struct{ pool sync.Pool }

func (p *scratchPool[T]) get() *T {
	if scratch, ok := p.pool.Get().(*T); ok {
		return scratch
	}
	return new(T)
}

func (p *scratchPool[T]) put(scratch *T, bytes int) {
	const maxKept = 4 << 20
	if bytes <= maxKept {
		p.pool.Put(scratch)
	}
}
