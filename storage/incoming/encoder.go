package incoming

import (
	"time"

	"gnocco/model"
)

// An Encoder turns requests into blocks, one for each sack that their metrics fall into. It keeps its memory from one
// request to the next; it serves one goroutine at a time.
type Encoder struct {
	counts []int // per sack; then, where its metrics start in pick
	pick   []int // indexes of metrics, by sack
	sacks  []int // of each metric
	data   []byte
	blocks []Block
}

// Blocks returns the blocks of m, ascending by sack. They are the encoder's own, valid until the next call.
func (e *Encoder) Blocks(m *model.Measures, sacks int, accepted time.Time) []Block {
	e.counts = resize(e.counts, sacks+1)
	clear(e.counts)
	e.sacks, e.pick = resize(e.sacks, len(m.Metrics)), resize(e.pick, len(m.Metrics))
	for i, id := range m.Metrics {
		sack := model.Sack(id, sacks)
		e.sacks[i] = sack
		e.counts[sack+1]++
	}
	for sack := range sacks {
		e.counts[sack+1] += e.counts[sack]
	}
	for i, sack := range e.sacks {
		e.pick[e.counts[sack]] = i
		e.counts[sack]++ // ends where those of the next sack start
	}
	e.data, e.blocks = e.data[:0], e.blocks[:0]
	from := 0
	for sack, to := range e.counts[:sacks] {
		if to == from {
			continue
		}
		// Data may move when it grows: the slices are cut at the end, by length.
		start := len(e.data)
		e.data = AppendBlock(e.data, m, e.pick[from:to], accepted)
		e.blocks = append(e.blocks, Block{Sack: sack, Data: e.data[start:]})
		from = to
	}
	start := 0
	for i := range e.blocks {
		end := start + len(e.blocks[i].Data)
		e.blocks[i].Data = e.data[start:end:end]
		start = end
	}
	return e.blocks
}

func resize(s []int, n int) []int {
	if cap(s) < n {
		return make([]int, n)
	}
	return s[:n]
}
