package gpu

import (
	"context"
	"errors"
	"runtime"
	"time"

	"gnocco/correlate"
	"gnocco/gpu/cu"
)

// CorrelationTimes is how long a device takes for all pairs of columns that have no gaps.
type CorrelationTimes struct {
	Pack     time.Duration // copying the columns into pinned memory, on all cores
	Pinned   time.Duration // from pinned memory to the pairs on the host
	Resident time.Duration // from columns on the device to coefficients, or a selection of them, there
	Product  time.Duration // of that, the products
}

// MeasureCorrelation correlates columns on a device so many times, the median of which counts; device memory holds all of them, and
// pinned memory, too. It returns the pairs that the selection wants.
func MeasureCorrelation(ctx context.Context, device *Device, values correlate.Values, selection correlate.Selection, rounds int) (
	CorrelationTimes, []correlate.Pair, error) {
	m := &correlMeasurement{selection: selection, all: selection == correlate.Selection{}, rounds: rounds}
	c := NewCorrelator([]*Device{device}, CorrelatorOptions{})
	devices, engines, err := c.opened(ctx)
	if err != nil {
		return m.times, nil, err
	}
	m.device, m.engine = devices[0], engines[0]
	m.shape = newCorrelShape(values.Columns(), 0, correlChunkBytes, values.Rows())
	if err := m.pack(ctx, values); err != nil {
		return m.times, nil, err
	}
	defer m.release()
	pairs, err := m.pinned(ctx)
	if err != nil {
		return m.times, nil, err
	}
	return m.times, pairs, m.resident(ctx, int(values.Rows()))
}

type correlMeasurement struct {
	device    *correlDevice
	engine    *Engine
	shape     correlShape
	selection correlate.Selection
	all       bool
	rounds    int
	chunks    []*correlChunk
	times     CorrelationTimes
}

func (m *correlMeasurement) release() {
	for _, c := range m.chunks {
		c.up.Release()
	}
}

// pack copies all rows into chunks.
func (m *correlMeasurement) pack(ctx context.Context, values correlate.Values) error {
	packer := newCorrelPacker(&m.shape, runtime.GOMAXPROCS(0))
	err := values.Read(ctx, func(columns [][]float64) error {
		for from := 0; from < len(columns[0]); {
			if packer.chunk == nil {
				up, err := m.engine.Uploads.Get(m.shape.chunkBytes())
				if err != nil {
					return err
				}
				packer.begin(up)
				m.chunks = append(m.chunks, packer.chunk)
			}
			started := time.Now() // without the pinning
			n, err := packer.add(columns, from)
			m.times.Pack += time.Since(started)
			if err != nil {
				return err
			}
			if from += n; packer.chunk.rows == m.shape.chunk {
				packer.take()
			}
		}
		return nil
	})
	if err == nil && packer.gaps {
		err = errors.New("gpu: the columns to measure have gaps")
	}
	if err != nil {
		m.release()
	}
	return err
}

func (m *correlMeasurement) band() *correlBand {
	return newCorrelBand(m.device, m.engine, &m.shape, correlRows{0, m.shape.panels})
}

// pinned measures everything from pinned memory on.
func (m *correlMeasurement) pinned(ctx context.Context) ([]correlate.Pair, error) {
	var pairs []correlate.Pair
	var all []time.Duration
	for range m.rounds + 1 {
		pairs = pairs[:0]
		b := m.band()
		started := time.Now()
		err := m.device.RunAll(ctx, func(yield func(Job) bool) {
			if !yield(correlBegin{b}) {
				return
			}
			for _, c := range m.chunks {
				if !yield(&correlChunkJob{b, c}) {
					return
				}
			}
		})
		if err == nil {
			o := &correlOutcome{correlBand: b, minOverlap: 2, selection: m.selection, all: m.all}
			err = m.device.Run(ctx, o)
			pairs = append(pairs, o.found...)
		}
		for row := 0; err == nil && m.all && row < m.shape.panels; row++ {
			f := &correlFetch{correlBand: b, row: row}
			if err = m.device.Run(ctx, f); err == nil {
				err = f.pairs(func(p correlate.Pair) error {
					pairs = append(pairs, p)
					return nil
				})
			}
		}
		all = append(all, time.Since(started))
		b.close()
		if err != nil {
			return nil, err
		}
	}
	m.times.Pinned = medianOf(all[1:]) // the first one takes the memory
	return pairs, nil
}

// resident measures what the kernels take.
func (m *correlMeasurement) resident(ctx context.Context, rows int) error {
	chunks := m.shape
	m.shape = newCorrelShape(chunks.columns, 0, 8*chunks.columns*(rows+correlSegment), int64(rows))
	b := m.band()
	defer b.close()
	if err := m.device.Run(ctx, correlBegin{b}); err != nil {
		return err
	}
	r := &correlResident{measurement: m, chunkPitch: chunks.pitch,
		correlOutcome: correlOutcome{correlBand: b, minOverlap: 2, selection: m.selection, all: m.all}}
	if err := m.device.Run(ctx, r); err != nil {
		return err
	}
	m.times.Resident, m.times.Product = medianOf(r.total[1:]), medianOf(r.product[1:])
	return nil
}

// correlResident is the job that computes the same from rows on the device again and again.
type correlResident struct {
	correlOutcome
	measurement *correlMeasurement
	chunkPitch  int
	marks       [][3]cu.Event
	total       []time.Duration
	product     []time.Duration
}

// Start implements Job.
func (r *correlResident) Start(e *Engine, lane *Lane) (err error) {
	rows, err := e.Memory.Get(r.shape.chunkBytes())
	if err != nil {
		return err
	}
	lane.Hold(rows)
	n := 0
	for _, c := range r.measurement.chunks {
		n += c.rows
	}
	scratch := r.layout(n, e.Memory.Budget())
	if scratch.block, err = e.Memory.Get(scratch.bytes); err != nil {
		return err
	}
	lane.Hold(scratch.block)
	if err := r.memory(e, lane); err != nil {
		return err
	}
	at := 0
	for _, c := range r.measurement.chunks {
		for j := range r.shape.columns {
			if err := lane.Upload(rows, 8*int64(j*r.shape.pitch+at), c.up, 8*int64(j*r.chunkPitch), 8*int64(c.rows)); err != nil {
				return err
			}
		}
		at += c.rows
	}
	for range r.measurement.rounds + 1 {
		if err := r.round(lane, rows, scratch, n); err != nil {
			return err
		}
	}
	return nil
}

// round queues one computation between two marks, then the products alone up to a third.
func (r *correlResident) round(lane *Lane, rows *Block, scratch correlScratch, n int) error {
	var marks [3]cu.Event
	for i := range marks {
		var err error
		if marks[i], err = cu.MakeEvent(cu.DefaultEvent); err != nil {
			return lane.wrap(err)
		}
	}
	r.marks = append(r.marks, marks)
	r.before[0] = 0
	if err := errors.Join(lane.Fill(r.moments, 0, 0, r.shape.momentBytes(r.tiles, false)), lane.Fill(r.columns, 0, 0, 4*r.columnBytes()),
		marks[0].Record(lane.Stream), r.correlBand.launch(lane, rows, scratch, n, 0), r.queue(lane), marks[1].Record(lane.Stream)); err != nil {
		return err
	}
	p := correlProduct{correlBand: r.correlBand, lane: lane, rows: rows, scratch: scratch, n: n}
	segments := blocks(n, correlSegment)
	for segment := 0; segment < segments; segment += scratch.together {
		if err := p.multiply(true, segment, min(scratch.together, segments-segment)); err != nil {
			return err
		}
	}
	return marks[2].Record(lane.Stream)
}

// Finish implements Job.
func (r *correlResident) Finish(*Engine, *Lane) (bool, error) {
	for _, marks := range r.marks {
		for i, to := range []*[]time.Duration{&r.total, &r.product} {
			ms, err := marks[i].Elapsed(marks[i+1])
			if err != nil {
				return false, err
			}
			*to = append(*to, time.Duration(ms*float64(time.Millisecond)))
		}
		for _, mark := range marks {
			if err := cu.DestroyEvent(mark); err != nil {
				return false, err
			}
		}
	}
	return false, nil
}
