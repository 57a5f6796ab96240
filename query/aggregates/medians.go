package aggregates

import (
	"math"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/carbonara/ranked"
)

// medians takes the median of each row, leaving NaN out. It needs all values of a row together, so the columns are
// gathered a band of rows at a time.
type medians struct {
	in       *columns
	cells    []float64 // of a band, row by row, each as long as there are columns
	lengths  []int     // of each row
	ranked   ranked.Values
	onDevice bool
	plan     *carbonara.Plan // of a band as a batch, in which value i of row r stands at r*columns + i
	batch    carbonara.Batch
	result   carbonara.Result
}

// gatheredAtOnce is how many columns are gathered together: as many values of a row as share a line of the cache.
const gatheredAtOnce = 8

// medians writes the medians of all rows into dst.
func (e *evaluator) medians(in *columns, dst []float64) error {
	count := max(1, len(in.series))
	rows := min(len(dst), max(1, batchValues/count)) // of a band
	m := medians{in: in, cells: make([]float64, rows*count), lengths: make([]int, rows),
		plan: carbonara.PlanOf([]time.Duration{time.Duration(count)},
			[]carbonara.Column{carbonara.PercentileColumn(50)})}
	m.onDevice = carbonara.Accelerates(e.resampler, m.plan, rows*count, rows)
	defer m.batch.Release()
	defer m.result.Release()
	for from := 0; from < len(dst); from += rows {
		band := dst[from:min(from+rows, len(dst))]
		if err := m.gather(e, from, len(band)); err != nil {
			return err
		}
		if m.onDevice && m.halvesExactly(len(band)) {
			if err := m.resample(e, band); err != nil {
				return err
			}
			continue
		}
		for i := range band {
			band[i] = m.median(m.cells[i*count:][:m.lengths[i]])
		}
	}
	return nil
}

// gather fills the cells with so many rows.
func (m *medians) gather(e *evaluator, from, rows int) error {
	clear(m.lengths)
	count := len(m.in.series)
	var some [gatheredAtOnce][]float64
	for i := range some {
		some[i] = e.alloc(len(m.in.times))
		defer e.release(some[i])
	}
	for j := 0; j < count; j += gatheredAtOnce {
		together := some[:min(gatheredAtOnce, count-j)]
		for i, values := range together {
			if err := m.in.read(j+i, values); err != nil {
				return err
			}
		}
		for row := range rows {
			cells, length := m.cells[row*count:][:count], m.lengths[row]
			for _, values := range together {
				if v := values[from+row]; v == v {
					cells[length] = v
					length++
				}
			}
			m.lengths[row] = length
		}
	}
	return nil
}

// median returns the value in the middle, or half the sum of both that are.
func (m *medians) median(values []float64) float64 {
	n := len(values)
	if n == 0 {
		return nan
	}
	m.ranked.Set(values)
	if n%2 == 1 {
		return m.ranked.At(n / 2)
	}
	return (m.ranked.At(n/2-1) + m.ranked.At(n/2)) / 2
}

// halvesExactly reports whether half the sum of any two cells is the sum of their halves, which a resampler computes.
// It is, unless a sum overflows or a half is too small to be exact.
func (m *medians) halvesExactly(rows int) bool {
	const least, most = 23, 2023 // biased exponents: 1e-301, 1e301
	exact := true
	for row, n := range m.lengths[:rows] {
		for _, v := range m.cells[row*len(m.in.series):][:n] {
			exponent := math.Float64bits(v) >> 52 & 0x7ff
			exact = exact && (exponent-least < most-least || v == 0)
		}
	}
	return exact
}

// seriesValues is how many values make a series of a batch: it can be divided between series.
const seriesValues = 64 << 10

// resample takes the medians of the gathered rows by the resampler.
func (m *medians) resample(e *evaluator, dst []float64) error {
	b, count := &m.batch, len(m.in.series)
	b.Reset(e.resampler)
	b.Grow(len(m.cells))
	for row := range dst {
		if n := len(b.Series); n == 0 || len(b.Values)-b.Series[n-1].From >= seriesValues {
			b.Series = append(b.Series, carbonara.Series{Plan: m.plan, From: len(b.Values)})
		}
		b.Values = append(b.Values, m.cells[row*count:][:m.lengths[row]]...)
		for i := range m.lengths[row] {
			b.Timestamps = append(b.Timestamps, carbonara.Timestamp(row*count+i))
		}
		b.Series[len(b.Series)-1].To = len(b.Values)
		dst[row] = nan
	}
	if err := e.resampler.Resample(e.ctx, b, &m.result); err != nil {
		return err
	}
	for i := range b.Series {
		groups := m.result.Groups(i, 0)
		for k, start := range groups.Starts {
			dst[start/carbonara.Timestamp(count)] = groups.Values[0][k]
		}
	}
	return nil
}
