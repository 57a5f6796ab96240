package correlate

import (
	"context"
	"errors"
	"iter"
	"math"
	"sync/atomic"

	"github.com/gnocco-db/gnocco/correlate/tile"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// Matrix gathers the co-moments of all pairs of columns, or of a band of them, while rows are added. It is for one
// goroutine, and uses several.
type Matrix struct {
	options   Options
	chunk     int // rows taken at once; it depends on nothing but the columns, so that results have the same bits
	buffer    [][]float64
	filled    int   // rows of buffer that are in use
	history   int   // of those, how many have been in a chunk already, for lags to look back at
	rows      int64 // taken in chunks
	products  []product
	early     side // rows before those of late by the lag
	late      side
	group     []side // whole chunks that are taken together, as long as there are no gaps
	workers   []multiplication
	pairBytes atomic.Int64 // memory of pair blocks
}

// product is the upper triangle at one lag.
type product struct {
	lag    int
	x, y   []column // y is x without a lag
	blocks []block
	first  []int // index of the first block of each wide panel of the band
}

// errGaps says that gaps made the sums of pairs outgrow the bound.
var errGaps = errors.New("correlate: gaps take more memory than allowed")

// band is a range of wide panels, three panels of columns each.
type band struct{ from, to int }

func wholeBand(columns int) band { return band{0, (panelsOf(columns) + 2) / 3} }

// blocksOf returns how many blocks of the upper triangle start at wide panel w.
func blocksOf(columns, w int) int { return panelsOf(columns) - 3*w }

// chunkRows keeps the chunk's columns in the caches of the cores, as far as that is possible.
func chunkRows(columns int) int {
	if columns > 4096 {
		return 256
	}
	return 1024
}

func newMatrix(options Options, b band) *Matrix {
	m := &Matrix{options: options, chunk: chunkRows(options.Columns), workers: make([]multiplication, options.Workers)}
	m.buffer = make([][]float64, options.Columns)
	for j := range m.buffer {
		m.buffer[j] = make([]float64, m.chunk+options.MaxLag)
	}
	for lag := -options.MaxLag; lag <= options.MaxLag; lag++ {
		p := product{lag: lag, x: make([]column, options.Columns), first: make([]int, b.to)}
		p.y = p.x
		if lag != 0 {
			p.y = make([]column, options.Columns)
		}
		blocks := 0
		for w := b.from; w < b.to; w++ {
			blocks += blocksOf(options.Columns, w)
		}
		p.blocks = make([]block, 0, blocks)
		for w := b.from; w < b.to; w++ {
			p.first[w] = len(p.blocks)
			for k := range blocksOf(options.Columns, w) {
				p.blocks = append(p.blocks, block{wide: 3 * w, narrow: 3*w + k})
			}
		}
		m.products = append(m.products, p)
	}
	m.group = make([]side, options.together(b))
	return m
}

// Add adds rows: columns[j] are those of column j. The slices stay the caller's. After an error, or once ctx has ended,
// the matrix is of no use.
func (m *Matrix) Add(ctx context.Context, columns [][]float64) error {
	rows := len(columns[0])
	for done := 0; done < rows; {
		if m.options.MaxLag == 0 && m.filled == 0 && rows-done >= m.chunk {
			// Whole chunks that nobody looks back at need not be copied.
			chunks := min((rows-done)/m.chunk, len(m.group))
			if err := m.addGroup(ctx, columns, done, chunks); err != nil {
				return err
			}
			done += chunks * m.chunk
			continue
		}
		n := min(rows-done, m.history+m.chunk-m.filled)
		for j, column := range columns {
			copy(m.buffer[j][m.filled:], column[done:done+n])
		}
		done, m.filled = done+n, m.filled+n
		if m.filled == m.history+m.chunk {
			if err := m.flush(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}

// Finish takes the rows that do not fill a chunk. It may be called again, and more rows may follow.
func (m *Matrix) Finish(ctx context.Context) error {
	if m.filled == m.history {
		return nil
	}
	return m.flush(ctx)
}

// flush makes a chunk of the rows gathered.
func (m *Matrix) flush(ctx context.Context) error {
	for i := range m.products {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		m.addProduct(&m.products[i])
	}
	m.rows += int64(m.filled - m.history)
	keep := min(m.options.MaxLag, m.filled)
	for _, column := range m.buffer {
		copy(column, column[m.filled-keep:m.filled])
	}
	m.filled, m.history = keep, keep
	return m.checkGaps()
}

// checkGaps returns errGaps once they take too much.
func (m *Matrix) checkGaps() error {
	if m.options.MemoryBytes-m.options.rowBytes() < m.pairBytes.Load() {
		return errGaps
	}
	return nil
}

// addProduct adds the chunk to the sums of one lag.
func (m *Matrix) addProduct(p *product) {
	shift := max(p.lag, -p.lag)
	from := max(m.history, shift) // the first rows have none before them
	if from >= m.filled {
		return
	}
	m.late.reset(m.columns(from, m.filled))
	x, y := &m.late, &m.late
	if shift != 0 {
		m.early.reset(m.columns(from-shift, m.filled-shift))
		if p.lag > 0 {
			x = &m.early
		} else {
			y = &m.early
		}
	}
	m.measure(x)
	if x != y {
		m.measure(y)
	}
	m.scale(p, x, p.x, true, x == y)
	if x != y {
		m.scale(p, y, p.y, false, true)
	}
	m.merge(p, []chunk{{x, y}})
}

// chunk is the two sides of rows that are taken at once: the same one without a lag.
type chunk struct{ x, y *side }

// merge packs chunks whose columns have their scales, and adds them to the sums, one after the other.
func (m *Matrix) merge(p *product, chunks []chunk) {
	panels := panelsOf(m.options.Columns)
	m.parallel(len(chunks)*panels, func(_ *multiplication, k int) {
		c, panel := chunks[k/panels], k%panels
		masked := c.x.gaps || c.y.gaps
		c.x.pack(panel, p.x, masked)
		if c.x != c.y {
			c.y.pack(panel, p.y, masked)
		}
	})
	for _, c := range chunks {
		m.split(p, c)
		mergeColumns(p.x, c.x)
		if c.x != c.y {
			mergeColumns(p.y, c.y)
		}
	}
	run := 1
	if len(chunks) > 1 {
		run = max(4, len(p.blocks)/(3*len(m.workers)))
	}
	m.parallel((len(p.blocks)+run-1)/run, func(w *multiplication, k int) {
		// Blocks side by side share panels: a chunk's are in the cache while the next block takes them.
		blocks := p.blocks[k*run : min((k+1)*run, len(p.blocks))]
		for _, c := range chunks {
			for i := range blocks {
				w.add(&blocks[i], c.x, c.y, p.x, p.y)
			}
		}
	})
}

// split gives pairs a state of their own where a chunk has gaps, as of the rows before it.
func (m *Matrix) split(p *product, c chunk) {
	if !c.x.gaps && !c.y.gaps {
		return
	}
	m.parallel(len(p.blocks), func(_ *multiplication, i int) {
		if b := &p.blocks[i]; b.pairs == nil && b.gaps(c.x, c.y) {
			b.split(p.x, p.y)
			m.pairBytes.Add(pairBlockBytes)
		}
	})
}

// columns returns these rows of the chunk and its history.
func (m *Matrix) columns(from, to int) [][]float64 { return rowsOf(m.buffer, from, to) }

func rowsOf(columns [][]float64, from, to int) [][]float64 {
	rows := make([][]float64, len(columns))
	for j, column := range columns {
		rows[j] = column[from:to]
	}
	return rows
}

// measure finds centres and gaps of sides.
func (m *Matrix) measure(sides ...*side) {
	panels := panelsOf(m.options.Columns)
	m.parallel(len(sides)*panels, func(_ *multiplication, k int) {
		for c := range tile.Panel {
			sides[k/panels].measure(k%panels*tile.Panel + c)
		}
	})
}

// scale finds the scales of a side that was measured.
func (m *Matrix) scale(p *product, s *side, columns []column, wide, narrow bool) {
	for j := range columns {
		if s.parts[j].gaps {
			s.gaps = true
		}
		rescale := columns[j].scaleFor(&s.parts[j])
		if rescale == 0 {
			continue
		}
		for i := range p.blocks {
			if wide {
				p.blocks[i].rescale(j, rescale, true)
			}
			if narrow {
				p.blocks[i].rescale(j, rescale, false)
			}
		}
	}
}

func mergeColumns(columns []column, s *side) {
	for j := range columns {
		columns[j].merge(&s.parts[j])
	}
}

// parallel calls f for 0 to n-1, from several goroutines where there is enough to do.
func (m *Matrix) parallel(n int, f func(*multiplication, int)) {
	_ = parallel.Run(context.Background(), min(n, len(m.workers)), n,
		func(_ context.Context, w int, jobs iter.Seq[int]) error {
			for i := range jobs {
				f(&m.workers[w], i)
			}
			return nil
		})
}

// Rows returns how many rows are in chunks: all, once finished.
func (m *Matrix) Rows() int64 { return m.rows }

// Pair returns what columns i < j have in common, at the lag where that is most; i must lie in the matrix's band.
func (m *Matrix) Pair(i, j int) Pair {
	best := Pair{I: i, J: j, R: math.NaN()}
	for k := range m.products {
		// No lag first, then shorter before longer: of equal coefficients the first counts.
		lag := (k + 1) / 2
		if k%2 == 0 {
			lag = -lag
		}
		p := m.products[lag+m.options.MaxLag].pair(i, j)
		if p.Overlap < int64(m.options.MinOverlap) {
			p.R = math.NaN()
		}
		if k == 0 || p.Strength() > best.Strength() {
			best = p
		}
	}
	return best
}

// pair returns the pair at this lag.
func (p *product) pair(i, j int) Pair {
	wide, narrow := i/tile.Wide, j/tile.Panel
	b := &p.blocks[p.first[wide]+narrow-3*wide]
	s := i%tile.Wide*tile.Panel + j%tile.Panel
	result := Pair{I: i, J: j, Lag: p.lag}
	if b.pairs == nil {
		result.Overlap = int64(p.x[i].n)
		result.R = coefficient(b.moments[s], p.x[i].moment, p.y[j].moment)
		return result
	}
	result.Overlap = int64(b.pairs.n[s])
	result.R = coefficient(b.moments[s], b.pairs.momentX[s], b.pairs.momentY[s])
	return result
}

// Constant tells the columns that hold one value only, or none: they have no coefficients.
func (m *Matrix) Constant() []int {
	var constant []int
	for j := range m.buffer {
		if m.products[m.options.MaxLag].x[j].moment == 0 {
			constant = append(constant, j)
		}
	}
	return constant
}
