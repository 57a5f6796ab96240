package correlate

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/gnocco-db/gnocco/correlate/tile"
)

// Source gives the rows of columns.
type Source interface {
	// Columns returns how many there are.
	Columns() int

	// Read hands all rows to add, in pieces of any size, columns[j] being those of column j, which are the source's own
	// again when add returns. It may be called again, to start over, unless it says ErrOnce.
	Read(ctx context.Context, add func(columns [][]float64) error) error
}

// ErrOnce is what a source returns that cannot be read a second time.
var ErrOnce = errors.New("correlate: the sums of all pairs are more than the memory allowed, " +
	"and the input cannot be read twice")

// Values is a source in memory, one slice a column.
type Values [][]float64

// Columns implements Source.
func (v Values) Columns() int { return len(v) }

// Rows implements Sized.
func (v Values) Rows() int64 {
	if len(v) == 0 {
		return 0
	}
	return int64(len(v[0]))
}

func (v Values) Read(ctx context.Context, add func([][]float64) error) error {
	const piece = 1 << 14
	columns := make([][]float64, len(v))
	for from := 0; from < len(v[0]); from += piece {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for j := range v {
			columns[j] = v[j][from:min(from+piece, len(v[j]))]
		}
		if err := add(columns); err != nil {
			return err
		}
	}
	return nil
}

// Result is what Run tells beside the pairs.
type Result struct {
	Rows     int64
	Constant []int  // columns that have no coefficients, because all their values are equal, or missing
	Passes   int    // how often the source was read
	Eligible int64  // pairs that have a coefficient and are as strong as the selection asks for; only of an Engine
	Engine   string // what computed it; only of an Engine that has a choice
}

// Run hands all pairs of the source's columns to each, ordered by I and J.
func Run(ctx context.Context, source Source, options Options, each func(Pair) error) (Result, error) {
	return runBands(ctx, source, options, func(m *Matrix, b band) error { return m.pairs(ctx, b, each) })
}

// runBands fills the matrix, or one after the other of its bands, and hands each to done.
func runBands(ctx context.Context, source Source, options Options, done func(*Matrix, band) error) (Result, error) {
	var result Result
	options.Columns = source.Columns()
	options.EnsureDefaults()
	if err := options.Validate(); err != nil {
		return result, err
	}
	whole := wholeBand(options.Columns)
	bytes := int64(blockBytes)
	for from := whole.from; from < whole.to; {
		b, err := options.bandFrom(from, bytes)
		if err != nil {
			return result, err
		}
		m := newMatrix(options, b)
		result.Passes++
		err = source.Read(ctx, func(columns [][]float64) error { return m.Add(ctx, columns) })
		if err == nil {
			err = m.Finish(ctx)
		}
		if errors.Is(err, errGaps) && bytes == blockBytes {
			bytes = pairBlockBytes // now that there are gaps, narrower bands
			continue
		}
		if err != nil {
			return result, err
		}
		result.Rows, result.Constant = m.Rows(), m.Constant()
		if err := done(m, b); err != nil {
			return result, err
		}
		from = b.to
	}
	return result, nil
}

// pairs hands out the pairs of a band.
func (m *Matrix) pairs(ctx context.Context, b band, each func(Pair) error) error {
	for i := b.from * tile.Wide; i < min(b.to*tile.Wide, m.options.Columns); i++ {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		for j := i + 1; j < m.options.Columns; j++ {
			if err := each(m.Pair(i, j)); err != nil {
				return err
			}
		}
	}
	return nil
}

// bandFrom returns the band from a wide panel on whose sums fit into memory, beside the rows under way.
func (o *Options) bandFrom(from int, bytes int64) (band, error) {
	whole := wholeBand(o.Columns)
	left := o.MemoryBytes - o.rowBytes()
	b := band{from, from}
	for ; b.to < whole.to; b.to++ {
		left -= int64(2*o.MaxLag+1) * int64(blocksOf(o.Columns, b.to)) * bytes
		if left < 0 {
			break
		}
	}
	if b.to == from {
		return b, fmt.Errorf("correlate: %d columns with lags up to %d need %d MiB of memory, not %d",
			o.Columns, o.MaxLag, (o.MemoryBytes-left+1<<20-1)>>20, o.MemoryBytes>>20)
	}
	return b, nil
}

// Memory returns three amounts for MemoryBytes: the least with which the pairs can be computed, the one with which they
// are computed all at once, as RunSpearman does, and the most that are of use.
func (o Options) Memory(gaps bool) (least, whole, most int64) {
	o.EnsureDefaults()
	rows, bytes := o.rowBytes(), int64(blockBytes)
	if gaps {
		bytes = pairBlockBytes
	}
	for w := range wholeBand(o.Columns).to {
		sums := int64(2*o.MaxLag+1) * int64(blocksOf(o.Columns, w)) * bytes
		least, whole = max(least, rows+sums), whole+sums
	}
	o.MemoryBytes = math.MaxInt64
	return least, rows + whole, rows + whole + 2*int64(o.together(band{}))*o.chunkBytes()
}

// rowBytes is the memory of the rows under way, packed and with masks.
func (o *Options) rowBytes() int64 {
	columns, chunk := int64(panelsOf(o.Columns)*tile.Panel), int64(chunkRows(o.Columns))
	sides := int64(1)
	if o.MaxLag > 0 {
		sides = 2
	}
	const columnBytes = 80 // what is known of a column, on each side at each lag
	return 8*columns*(chunk+int64(o.MaxLag)+3*chunk*sides) + int64(2*o.MaxLag+1)*sides*columns*columnBytes
}
