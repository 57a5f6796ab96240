package correlate

import (
	"errors"
	"math"

	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// chunk is rows of all columns in pinned memory: column j's own rows from j*pitch+history on, those before them for
// lags in front of that.
type chunk struct {
	up      *device.Pinned
	rows    int  // own
	history int  // rows before them; no more than shape.history
	gaps    bool // some value of its own rows, or before them, is missing
	pending int  // devices that still read it
}

// errRange says that values are so large or small that their squares leave the range of float64. The CPU scales them.
var errRange = errors.New("gpu: values are out of the range that correlations on a device take")

// Squares of values up to 2^480, and sums of them, are in range; so are squares of differences of values, the largest
// of which is 2^-450 at least.
var largestBits, leastBits = math.Float64bits(0x1p480), math.Float64bits(0x1p-450)

// packer fills chunks with rows as they come.
type packer struct {
	shape   *shape
	workers int
	chunk   *chunk      // nil until the next begins
	before  [][]float64 // the last rows of every column, for lags
	kept    int         // how many rows of before there are
	gaps    bool        // one was seen
}

func newPacker(shape *shape, workers int) *packer {
	p := &packer{shape: shape, workers: workers}
	if shape.maxLag > 0 {
		p.before = make([][]float64, shape.columns)
		for j := range p.before {
			p.before[j] = make([]float64, shape.maxLag)
		}
	}
	return p
}

// chunkBytes is the size of a chunk.
func (s *shape) chunkBytes() int64 { return 8 * int64(s.columns) * int64(s.pitch) }

// begin starts a chunk in pinned memory that becomes its own.
func (p *packer) begin(up *device.Pinned) {
	p.chunk = &chunk{up: up, history: p.kept, gaps: p.gaps}
	values := device.View[float64](up, 0, p.shape.columns*p.shape.pitch)
	for j := range p.before {
		copy(values[j*p.shape.pitch+p.shape.history-p.kept:], p.before[j][p.shape.maxLag-p.kept:])
	}
}

// add takes rows from `from` on, as many as the chunk has room for, and returns how many. errRange if one is out of
// range.
func (p *packer) add(columns [][]float64, from int) (int, error) {
	c, s := p.chunk, p.shape
	n := min(len(columns[0])-from, s.chunk-c.rows)
	values := device.View[float64](c.up, 0, s.columns*s.pitch)
	workers := 1
	const worthwhile = 1 << 16 // values
	if n*s.columns >= worthwhile {
		workers = min(p.workers, s.columns)
	}
	found := make([]packed, workers)
	_ = parallel.Each(workers, workers, func(w int) error {
		for j := w * s.columns / workers; j < (w+1)*s.columns/workers; j++ {
			at := j*s.pitch + s.history + c.rows
			found[w].add(pack(values[at:at+n], columns[j][from:from+n]))
			if s.maxLag > 0 {
				p.remember(j, columns[j][from:from+n])
			}
		}
		return nil
	})
	for _, f := range found {
		p.gaps = p.gaps || f.gaps
		if f.wide {
			return 0, errRange
		}
	}
	c.rows += n
	c.gaps = p.gaps
	p.kept = min(s.maxLag, p.kept+n)
	return n, nil
}

// remember keeps the last rows of a column.
func (p *packer) remember(j int, values []float64) {
	before := p.before[j]
	if len(values) >= len(before) {
		copy(before, values[len(values)-len(before):])
		return
	}
	copy(before, before[len(values):])
	copy(before[len(before)-len(values):], values)
}

// pop returns the chunk if it has rows of its own; the next one has to begin.
func (p *packer) pop() *chunk {
	c := p.chunk
	p.chunk = nil
	return c
}

// packed is what pack found in values.
type packed struct{ gaps, wide bool }

func (p *packed) add(other packed) {
	p.gaps = p.gaps || other.gaps
	p.wide = p.wide || other.wide
}

// pack copies values. The largest of their bits without the sign shows whether one is missing (NaN, infinite) or out of
// range.
func pack(to, from []float64) packed {
	const magnitude, infinite = 1<<63 - 1, 0x7FF << 52
	largest := uint64(0)
	to = to[:len(from)]
	for i, v := range from {
		to[i] = v
		largest = max(largest, math.Float64bits(v)&magnitude)
	}
	p := packed{gaps: largest >= infinite}
	if p.gaps {
		largest = 0
		for _, v := range from {
			if bits := math.Float64bits(v) & magnitude; bits < infinite {
				largest = max(largest, bits)
			}
		}
	}
	p.wide = largest > largestBits || largest < leastBits && largest > 0
	return p
}
