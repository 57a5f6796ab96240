package aggregates

import (
	"context"
	"iter"

	"github.com/gnocco-db/gnocco/carbonara/ranked"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

const (
	gatheredAtOnce = 8         // columns: as many values of a row as share a line of the cache
	cachedValues   = 256 << 10 // of rows that stay in a core's cache
)

// percentiles writes the median or a percentile of each row into dst. Rows are gathered from all columns, some on each
// core. Of columns that are read whole, as many rows as fit a batch are held at a time.
func (e *evaluator) percentiles(m acrossMethod, in *columns, dst []float64) error {
	count := max(1, len(in.series))
	height := func(values int) int { return min(len(dst), max(1, values/count)) }
	if in.whole {
		for from := 0; from < len(dst); from += height(batchValues) {
			part := dst[from:min(len(dst), from+height(batchValues))]
			held := make([]float64, count*len(part))
			if err := e.eachBatch(in, func(first int, batch [][]float64) error {
				for i, values := range batch {
					copy(held[(first+i)*len(part):][:len(part)], values[from:])
				}
				return nil
			}); err != nil {
				return err
			}
			rows := &columns{series: in.series, reader: func() reader {
				return func(j, from int, dst []float64) error {
					copy(dst, held[j*len(part)+from:])
					return e.ctx.Err()
				}
			}}
			if err := e.percentiles(m, rows, part); err != nil {
				return err
			}
		}
		return nil
	}
	rows := height(cachedValues)
	bands := (len(dst) + rows - 1) / max(1, rows)
	workers := parallel.Workers(bands)
	return parallel.Run(e.ctx, workers, bands, func(_ context.Context, _ int, jobs iter.Seq[int]) error {
		read, cells, lengths := in.reader(), make([]float64, rows*count), make([]int, rows) // without NaN
		var some [gatheredAtOnce][]float64
		for i := range some {
			some[i] = make([]float64, rows)
		}
		var ranks ranked.Values
		for band := range jobs {
			part := dst[band*rows : min(len(dst), (band+1)*rows)]
			clear(lengths)
			for j := 0; j < len(in.series); j += gatheredAtOnce {
				together := some[:min(gatheredAtOnce, len(in.series)-j)]
				for i, values := range together {
					if err := read(j+i, band*rows, values[:len(part)]); err != nil {
						return err
					}
				}
				for row := range part {
					cells, length := cells[row*count:][:count], lengths[row]
					for _, values := range together {
						if v := values[row]; v == v {
							cells[length] = v
							length++
						}
					}
					lengths[row] = length
				}
			}
			for row, n := range lengths[:len(part)] {
				rank := (n - 1) / 2
				if m.base == acrossPercentile {
					rank = (n - 1) * m.method.Percentile() / 100
				}
				if n > 0 {
					ranks.SetNear(cells[row*count:][:n], rank)
				}
				switch {
				case n == 0:
					part[row] = nan
				case m.base == acrossPercentile:
					part[row] = ranks.Percentile(n, m.method.Percentile())
				case n%2 == 1:
					part[row] = ranks.At(n / 2)
				default:
					part[row] = (ranks.At(n/2-1) + ranks.At(n/2)) / 2
				}
			}
		}
		return nil
	})
}
