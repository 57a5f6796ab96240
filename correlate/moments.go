package correlate

import (
	"math"

	"github.com/gnocco-db/gnocco/correlate/tile"
)

// block is the sums of the pairs of three panels' columns with one panel's: [i*Panel+j] as tile.Gram gives them.
type block struct {
	wide, narrow int // numbers of the first of three panels, and of the one
	moments      [tile.Size]float64
	pairs        *pairBlock // once a column here has had gaps
}

// pairBlock is the state of pairs whose columns have gaps: then every pair has rows, means and moments of its own.
type pairBlock struct {
	n                [tile.Size]float64
	meanX, meanY     [tile.Size]mean
	momentX, momentY [tile.Size]float64
}

// Bytes of a block, without and with gaps, for the bound on memory.
const (
	blockBytes     = 8*tile.Size + 32
	pairBlockBytes = blockBytes + 7*8*tile.Size
)

// multiplication is the memory of one goroutine that adds to blocks.
type multiplication struct {
	products                          [tile.Size]float64
	n, sumX, sumY, squaresX, squaresY [tile.Size]float64
}

// x and y return the numbers of the two columns of sum s.
func (b *block) x(s int) int { return b.wide*tile.Panel + s/tile.Panel }
func (b *block) y(s int) int { return b.narrow*tile.Panel + s%tile.Panel }

// gaps reports whether a chunk has gaps in columns of b: x is the wide side, and y the narrow one.
func (b *block) gaps(x, y *side) bool { return x.blockGaps(b.wide, 3) || y.blockGaps(b.narrow, 1) }

// add adds a chunk to b, for whose gaps it has been split.
func (m *multiplication) add(b *block, x, y *side, xs, ys []column) {
	if b.gaps(x, y) {
		m.addMasked(b, x, y, xs, ys)
		return
	}
	tile.Gram(&m.products, x.three(x.values, b.wide), y.values[b.narrow])
	if b.pairs != nil {
		for s, products := range m.products {
			if i, j := b.x(s), b.y(s); i < len(xs) && j < len(ys) {
				b.mergePair(s, &x.parts[i], &y.parts[j], products, xs[i].scale(), ys[j].scale())
			}
		}
		return
	}
	n := float64(x.rows)
	for i := range tile.Wide {
		c := b.wide*tile.Panel + i
		if c >= len(xs) {
			break
		}
		p := &x.parts[c]
		weight := p.before * n / (p.before + n)
		for j := range tile.Panel {
			d := b.narrow*tile.Panel + j
			if d >= len(ys) {
				break
			}
			s := i*tile.Panel + j
			b.moments[s] = merge(b.moments[s], m.products[s], p.sum, y.parts[d].sum, n, p.delta,
				y.parts[d].delta, weight)
		}
	}
}

// three returns three panels; those past the end are the last one, whose sums nobody reads.
func (s *side) three(panels [][]float64, first int) (a [3][]float64) {
	for i := range a {
		a[i] = panels[min(first+i, len(panels)-1)]
	}
	return a
}

// blockGaps reports whether one of so many panels has a column with gaps.
func (s *side) blockGaps(first, panels int) bool {
	if !s.gaps {
		return false
	}
	for j := first * tile.Panel; j < min((first+panels)*tile.Panel, len(s.raw)); j++ {
		if s.parts[j].gaps {
			return true
		}
	}
	return false
}

// split gives every pair of b a state of its own: until now, all had the state of their columns.
func (b *block) split(xs, ys []column) {
	b.pairs = &pairBlock{}
	for s := range tile.Size {
		i, j := b.x(s), b.y(s)
		if i >= len(xs) || j >= len(ys) {
			continue
		}
		b.pairs.n[s] = xs[i].n
		b.pairs.meanX[s], b.pairs.meanY[s] = xs[i].mean, ys[j].mean
		b.pairs.momentX[s], b.pairs.momentY[s] = xs[i].moment, ys[j].moment
	}
}

// addMasked adds a chunk in which rows are missing: six products give every pair its own number of rows, sums and
// squares.
func (m *multiplication) addMasked(b *block, x, y *side, xs, ys []column) {
	values, present, squares := x.three(x.values, b.wide), x.three(x.present, b.wide), x.three(x.squares, b.wide)
	tile.Gram(&m.products, values, y.values[b.narrow])
	tile.Gram(&m.n, present, y.present[b.narrow])
	tile.Gram(&m.sumX, values, y.present[b.narrow])
	tile.Gram(&m.sumY, present, y.values[b.narrow])
	tile.Gram(&m.squaresX, squares, y.present[b.narrow])
	tile.Gram(&m.squaresY, present, y.squares[b.narrow])
	for s, n := range m.n {
		i, j := b.x(s), b.y(s)
		if i >= len(xs) || j >= len(ys) || n == 0 {
			continue
		}
		if !x.parts[i].gaps && !y.parts[j].gaps { // then what a neighbour lacks makes no difference
			b.mergePair(s, &x.parts[i], &y.parts[j], m.products[s], xs[i].scale(), ys[j].scale())
			continue
		}
		p := part{n: n, centre: x.parts[i].centre, sum: m.sumX[s], squares: m.squaresX[s]}
		q := part{n: n, centre: y.parts[j].centre, sum: m.sumY[s], squares: m.squaresY[s]}
		products := m.products[s]
		if p.cancels() || q.cancels() {
			products = sumPair(&p, &q, x.raw[i], y.raw[j], xs[i].scale(), ys[j].scale())
		}
		b.mergePair(s, &p, &q, products, xs[i].scale(), ys[j].scale())
	}
}

// cancels reports whether so much of the squares is due to the centre that taking it away would lose digits. The centre
// is the one of all the column's rows in the chunk, not only of the rows that the pair shares.
func (p *part) cancels() bool {
	const most = 64
	return p.squares > most*p.moment()
}

// sumPair computes the parts of two columns on the rows that both have in two passes, and returns the sum of products.
// It is for the rare pairs whose shared rows lie far from the rest.
func sumPair(p, q *part, x, y []float64, scaleX, scaleY float64) (products float64) {
	*p, *q = shared(x, y), shared(y, x)
	p.sum, p.squares, q.sum, q.squares = 0, 0, 0, 0
	for k, v := range x {
		if w := y[k]; v-v == 0 && w-w == 0 {
			dx, dy := p.difference(v, scaleX), q.difference(w, scaleY)
			p.sum, q.sum = p.sum+dx, q.sum+dy
			p.squares, q.squares = math.FMA(dx, dx, p.squares), math.FMA(dy, dy, q.squares)
			products = math.FMA(dx, dy, products)
		}
	}
	return products
}

// shared returns number and centre of the values of x in the rows that both have.
func shared(x, y []float64) part {
	var p part
	first, sum := 0., 0.
	for k, v := range x {
		if v-v != 0 || y[k]-y[k] != 0 {
			continue
		}
		if p.n == 0 {
			first = v
		}
		p.n++
		d := v - first
		if math.IsInf(d, 0) {
			d = math.Copysign(math.MaxFloat64, d)
		}
		sum += d / float64(len(x)) // so that it stays in range
	}
	if p.n > 0 {
		p.centre = first + float64(sum*(float64(len(x))/p.n)) // not fused
	}
	if p.centre-p.centre != 0 {
		p.centre = 0
	}
	return p
}

func (p *part) difference(v, scale float64) float64 {
	d := v - p.centre
	if math.IsInf(d, 0) {
		return float64((float64(v/4) - float64(p.centre/4)) * (4 * scale))
	}
	return float64(d * scale)
}

// mergePair adds to pair s what a chunk's rows come to that both columns have.
func (b *block) mergePair(s int, p, q *part, products, scaleX, scaleY float64) {
	if p.n == 0 {
		return
	}
	state := b.pairs
	meanX, meanY := p.mean(scaleX), q.mean(scaleY)
	if state.n[s] == 0 {
		state.n[s], state.meanX[s], state.meanY[s] = p.n, meanX, meanY
		state.momentX[s] = merge(0, p.squares, p.sum, p.sum, p.n, 0, 0, 0)
		state.momentY[s] = merge(0, q.squares, q.sum, q.sum, p.n, 0, 0, 0)
		b.moments[s] = merge(0, products, p.sum, q.sum, p.n, 0, 0, 0)
		return
	}
	n := state.n[s] + p.n
	weight := state.n[s] * p.n / n
	deltaX, deltaY := meanX.minus(state.meanX[s], scaleX), meanY.minus(state.meanY[s], scaleY)
	state.momentX[s] = merge(state.momentX[s], p.squares, p.sum, p.sum, p.n, deltaX, deltaX, weight)
	state.momentY[s] = merge(state.momentY[s], q.squares, q.sum, q.sum, p.n, deltaY, deltaY, weight)
	b.moments[s] = merge(b.moments[s], products, p.sum, q.sum, p.n, deltaX, deltaY, weight)
	state.meanX[s] = state.meanX[s].add(deltaX * (p.n / n) / scaleX)
	state.meanY[s] = state.meanY[s].add(deltaY * (p.n / n) / scaleY)
	state.n[s] = n
}

// rescale multiplies what depends on column c's scale by a power of two.
func (b *block) rescale(c, exponent int, wide bool) {
	for s := range tile.Size {
		if wide && b.x(s) != c || !wide && b.y(s) != c {
			continue
		}
		b.moments[s] = math.Ldexp(b.moments[s], exponent)
		if b.pairs != nil && wide {
			b.pairs.momentX[s] = math.Ldexp(b.pairs.momentX[s], 2*exponent)
		} else if b.pairs != nil {
			b.pairs.momentY[s] = math.Ldexp(b.pairs.momentY[s], 2*exponent)
		}
	}
}
