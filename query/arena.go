package query

import "sync"

// Arena lends memory for the aggregates of one request, which are many and all forgotten at its end: without it,
// collecting them costs as much as reading them. It is for several goroutines at once. The zero value is ready;
// nil lends memory of Go's own.
type Arena struct {
	mu     sync.Mutex
	chunk  []float64 // what is left of the last one
	chunks []*arenaChunk
}

// arenaChunk is 512 KiB.
type arenaChunk [64 << 10]float64

var arenaChunks = sync.Pool{New: func() any { return new(arenaChunk) }}

// alloc returns memory for n values of undefined content, which is valid until Release.
func (a *Arena) alloc(n int) []float64 {
	if a == nil || n > len(arenaChunk{}) {
		return make([]float64, n)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if n > len(a.chunk) {
		chunk := arenaChunks.Get().(*arenaChunk)
		a.chunks = append(a.chunks, chunk)
		a.chunk = chunk[:]
	}
	taken := a.chunk[:n:n]
	a.chunk = a.chunk[n:]
	return taken
}

// attempt returns an Arena for a read that may fail: adopt, or Release, ends it.
func (a *Arena) attempt() *Arena {
	if a == nil {
		return nil
	}
	return new(Arena)
}

// adopt takes over the memory of an attempt that succeeded.
func (a *Arena) adopt(attempt *Arena) {
	if a == nil {
		return
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.chunk, a.chunks = attempt.chunk, append(a.chunks, attempt.chunks...)
}

// Release takes all memory back, and ends its use. A nil Arena holds none.
func (a *Arena) Release() {
	if a == nil {
		return
	}
	for _, chunk := range a.chunks {
		arenaChunks.Put(chunk)
	}
	a.chunk, a.chunks = nil, nil
}
