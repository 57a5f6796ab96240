package api

import "sync"

// valueMemory lends memory for the aggregates of one request, which are many and all forgotten at its end: without it,
// collecting them costs as much as reading them. It is for several goroutines at once. The zero value is ready.
type valueMemory struct {
	mu     sync.Mutex
	chunk  []float64 // what is left of the last one
	chunks []*valueChunk
}

// valueChunk is 512 KiB.
type valueChunk [64 << 10]float64

var valueChunks = sync.Pool{New: func() any { return new(valueChunk) }}

// take returns memory for n values, whatever they are, which is valid until release.
func (m *valueMemory) take(n int) []float64 {
	if n > len(valueChunk{}) {
		return make([]float64, n)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n > len(m.chunk) {
		chunk := valueChunks.Get().(*valueChunk)
		m.chunks = append(m.chunks, chunk)
		m.chunk = chunk[:]
	}
	taken := m.chunk[:n:n]
	m.chunk = m.chunk[n:]
	return taken
}

// release takes all memory back: nobody may use it any more.
func (m *valueMemory) release() {
	for _, chunk := range m.chunks {
		valueChunks.Put(chunk)
	}
	m.chunk, m.chunks = nil, nil
}
