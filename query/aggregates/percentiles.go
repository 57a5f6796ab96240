package aggregates

import (
	"context"
	"iter"
	"math"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/carbonara/ranked"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// band gathers some rows of all columns, for methods that need all values of a row. It is one goroutine's.
type band struct {
	in      *columns
	rows    rowReader // nil: columns are read whole
	cells   []float64 // row by row, each as long as there are columns
	lengths []int     // of each row, without NaN
	some    [gatheredAtOnce][]float64

	plan   *carbonara.Plan // of the cells as a batch, in which value i of row r stands at r*columns + i
	batch  carbonara.Batch
	result carbonara.Result
}

const (
	gatheredAtOnce = 8         // columns: as many values of a row as share a line of the cache
	cachedValues   = 256 << 10 // of a band that stays in a core's cache
)

// percentiles writes the median or a percentile of each row into dst. With rows, bands are read on all cores.
func (e *evaluator) percentiles(m acrossMethod, in *columns, rows rowReader, dst []float64) error {
	count, percentile := max(1, len(in.series)), 50
	if m.base == acrossPercentile {
		percentile = m.percentile.Percentile()
	}
	height := func(values int) int { return min(len(dst), max(1, values/count)) }
	plan := carbonara.PlanOf([]time.Duration{time.Duration(count)},
		[]carbonara.Column{carbonara.PercentileColumn(percentile)})
	most := height(batchValues)
	onDevice := carbonara.Accelerates(e.resampler, plan, most*count, most)
	if rows != nil && !onDevice {
		most = height(cachedValues)
	}
	bands, workers := 0, 1
	if most > 0 {
		bands = (len(dst) + most - 1) / most
	}
	if rows != nil && !onDevice {
		workers = parallel.Workers(bands)
	}
	return parallel.Run(e.ctx, workers, bands, func(_ context.Context, _ int, jobs iter.Seq[int]) error {
		b := &band{in: in, rows: rows, cells: make([]float64, most*count), lengths: make([]int, most), plan: plan}
		defer b.batch.Release()
		defer b.result.Release()
		length := most
		if rows == nil {
			length = len(in.times)
		}
		for i := range b.some {
			b.some[i] = make([]float64, length)
		}
		var ranks ranked.Values
		for i := range jobs {
			part := dst[i*most : min(len(dst), (i+1)*most)]
			if err := b.gather(i*most, len(part)); err != nil {
				return err
			}
			if onDevice && (m.base == acrossPercentile || b.halvesExactly(len(part))) {
				if err := b.resample(e, part); err != nil {
					return err
				}
				continue
			}
			for row, n := range b.lengths[:len(part)] {
				switch ranks.Set(b.cells[row*count:][:n]); {
				case n == 0:
					part[row] = nan
				case m.base == acrossPercentile:
					part[row] = ranks.Percentile(n, percentile)
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

// gather fills the cells with so many rows.
func (b *band) gather(from, rows int) error {
	clear(b.lengths)
	count := len(b.in.series)
	for j := 0; j < count; j += gatheredAtOnce {
		together := b.some[:min(gatheredAtOnce, count-j)]
		for i, values := range together {
			var err error
			if b.rows != nil {
				err = b.rows(j+i, from, values[:rows])
			} else {
				err = b.in.read(j+i, values)
			}
			if err != nil {
				return err
			}
		}
		first := from
		if b.rows != nil {
			first = 0
		}
		for row := range rows {
			cells, length := b.cells[row*count:][:count], b.lengths[row]
			for _, values := range together {
				if v := values[first+row]; v == v {
					cells[length] = v
					length++
				}
			}
			b.lengths[row] = length
		}
	}
	return nil
}

// halvesExactly reports whether half the sum of any two cells is the sum of their halves, which a resampler computes.
// It is, unless a sum overflows or a half is too small to be exact.
func (b *band) halvesExactly(rows int) bool {
	const least, most = 23, 2023 // biased exponents: 1e-301, 1e301
	exact := true
	for row, n := range b.lengths[:rows] {
		for _, v := range b.cells[row*len(b.in.series):][:n] {
			exponent := math.Float64bits(v) >> 52 & 0x7ff
			exact = exact && (exponent-least < most-least || v == 0)
		}
	}
	return exact
}

// seriesValues is how many values make a series of a batch: it can be divided between series.
const seriesValues = 64 << 10

// resample takes the medians or percentiles of the gathered rows by the resampler.
func (b *band) resample(e *evaluator, dst []float64) error {
	batch, count := &b.batch, len(b.in.series)
	batch.Reset(e.resampler)
	batch.Grow(len(b.cells))
	for row := range dst {
		if n := len(batch.Series); n == 0 || len(batch.Values)-batch.Series[n-1].From >= seriesValues {
			batch.Series = append(batch.Series, carbonara.Series{Plan: b.plan, From: len(batch.Values)})
		}
		batch.Values = append(batch.Values, b.cells[row*count:][:b.lengths[row]]...)
		for i := range b.lengths[row] {
			batch.Timestamps = append(batch.Timestamps, carbonara.Timestamp(row*count+i))
		}
		batch.Series[len(batch.Series)-1].To = len(batch.Values)
		dst[row] = nan
	}
	if err := e.resampler.Resample(e.ctx, batch, &b.result); err != nil {
		return err
	}
	for i := range batch.Series {
		groups := b.result.Groups(i, 0)
		for k, start := range groups.Starts {
			dst[start/carbonara.Timestamp(count)] = groups.Values[0][k]
		}
	}
	return nil
}
