package correlate

import (
	"context"
	"math"

	"github.com/gnocco-db/gnocco/correlate/tile"
)

// groupBytes of packed rows are taken together at most: so much that many cores have enough to do between two times at
// which they wait for each other, and that it stays in their caches. Each two cores bring a chunk: for two alone, one
// at a time takes a fifth less.
const groupBytes = 16 << 20

// together returns how many chunks may be taken together, beside the sums of a band.
func (o *Options) together(b band) int {
	each := o.chunkBytes()
	left := o.MemoryBytes - o.rowBytes()
	for w := b.from; w < b.to; w++ {
		left -= int64(2*o.MaxLag+1) * int64(blocksOf(o.Columns, w)) * blockBytes
	}
	return int(max(1, min(min(groupBytes, left/2)/each, int64(o.Workers/2))))
}

// chunkBytes is the memory of a chunk's packed rows.
func (o *Options) chunkBytes() int64 {
	return int64(8 * panelsOf(o.Columns) * tile.Panel * chunkRows(o.Columns))
}

// addGroup adds whole chunks in the caller's memory, as many as m has sides for. They are measured together, and merged
// together as far as they have no gaps and keep their columns' scales: so results do not depend on which are.
func (m *Matrix) addGroup(ctx context.Context, columns [][]float64, from, chunks int) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	group := make([]*side, chunks)
	for g := range group {
		group[g] = &m.group[g]
		group[g].reset(rowsOf(columns, from+g*m.chunk, from+(g+1)*m.chunk))
	}
	m.measure(group...)
	p := &m.products[0]
	for len(group) > 0 {
		m.scale(p, group[0], p.x, true, true)
		if group[0].gaps {
			m.late.adopt(group[0]) // which has room for masks
			m.merge(p, []chunk{{&m.late, &m.late}})
			group = group[1:]
			continue
		}
		alike := 1 + p.alike(group)
		all := make([]chunk, alike)
		for g, s := range group[:alike] {
			all[g] = chunk{s, s}
		}
		m.merge(p, all)
		group = group[alike:]
	}
	m.rows += int64(chunks * m.chunk)
	if m.pairBytes.Load() > 0 {
		m.group = make([]side, 1) // with gaps there is enough to do at a time, and memory is short
	}
	return m.checkGaps()
}

// alike returns how many chunks after the first of a group, which has no gaps, can be merged together with it.
func (p *product) alike(group []*side) int {
	largest := make([]float64, len(p.x))
	for g, s := range group {
		for j := range p.x {
			part := &s.parts[j]
			largest[j] = max(largest[j], math.Abs(part.lowest), math.Abs(part.highest))
			if g > 0 && (part.gaps || !p.x[j].keepsScale(part, largest[j])) {
				return g - 1
			}
		}
	}
	return len(group) - 1
}
