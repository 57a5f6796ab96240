package incoming

import (
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/model"
)

// A Partition divides measures into blocks, one for each sack that gets any, and keeps the memory that this takes. The
// zero Partition is ready.
type Partition struct {
	bySack []int // metrics' indexes, those of a sack side by side
	ends   []int // of each sack's part of bySack
	data   []byte
	blocks []Block
}

// Blocks returns the blocks of m, as Append wants them. They are valid until the next call.
func (p *Partition) Blocks(m *model.Measures, sacks int, accepted time.Time) []Block {
	p.place(m, sacks)
	p.data, p.blocks = p.data[:0], p.blocks[:0]
	from := 0
	for sack, to := range p.ends {
		if from < to {
			at := len(p.data)
			p.data = AppendBlock(p.data, m, p.bySack[from:to], accepted)
			// Should data move as it grows, what is here already stays readable in the old memory.
			p.blocks = append(p.blocks, Block{Sack: sack, Data: p.data[at:len(p.data):len(p.data)]})
		}
		from = to
	}
	return p.blocks
}

// Bytes is the memory that p keeps, roughly.
func (p *Partition) Bytes() int { return cap(p.data) + 8*cap(p.bySack) }

// place sorts the indexes of the metrics by sack, in one pass to count and one to place. Metrics without measures are
// left out.
func (p *Partition) place(m *model.Measures, sacks int) {
	p.ends = slices.Grow(p.ends[:0], sacks)[:sacks]
	clear(p.ends)
	kept := 0
	for i, metric := range m.Metrics {
		if m.Offsets[i] < m.Offsets[i+1] {
			p.ends[model.Sack(metric, sacks)]++
			kept++
		}
	}
	start := 0
	for sack, n := range p.ends {
		p.ends[sack] = start // moved to the end as the sack fills
		start += n
	}
	p.bySack = slices.Grow(p.bySack[:0], kept)[:kept]
	for i, metric := range m.Metrics {
		if m.Offsets[i] < m.Offsets[i+1] {
			end := &p.ends[model.Sack(metric, sacks)]
			p.bySack[*end] = i
			*end++
		}
	}
}
