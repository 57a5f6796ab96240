package correlate

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/correlate"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// Times is how long a device takes for all pairs of columns that have no gaps.
type Times struct {
	Pack     time.Duration // copying the columns into pinned memory, on all cores
	Pinned   time.Duration // from pinned memory to the pairs on the host
	Resident time.Duration // from columns on the device to coefficients, or a selection of them, there
	Product  time.Duration // of that, the products
}

// Measure correlates columns on a device so many times, and reports the median. Both device memory and pinned memory
// hold all of them. It returns the pairs that the selection wants.
func Measure(ctx context.Context, dev *device.Device, values correlate.Values,
	selection correlate.Selection, rounds int) (
	Times, []correlate.Pair, error) {
	m := &measurement{selection: selection, all: selection == correlate.Selection{}, rounds: rounds}
	c := New([]*device.Device{dev}, Options{})
	devices, engines, err := c.opened(ctx)
	if err != nil {
		return m.times, nil, err
	}
	m.device, m.engine = devices[0], engines[0]
	m.shape = newShape(values.Columns(), 0, defaultChunkBytes, values.Rows())
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

type measurement struct {
	device    *loadedDevice
	engine    *device.Engine
	shape     shape
	selection correlate.Selection
	all       bool
	rounds    int
	chunks    []*chunk
	times     Times
}

func (m *measurement) release() {
	for _, c := range m.chunks {
		c.up.Release()
	}
}

// pack copies all rows into chunks.
func (m *measurement) pack(ctx context.Context, values correlate.Values) error {
	packer := newPacker(&m.shape, runtime.GOMAXPROCS(0))
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
				packer.pop()
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

func (m *measurement) band() *band {
	return newBand(m.device, m.engine, &m.shape, tileRows{0, m.shape.panels})
}

// pinned measures everything from pinned memory on.
func (m *measurement) pinned(ctx context.Context) ([]correlate.Pair, error) {
	var pairs []correlate.Pair
	var all []time.Duration
	for range m.rounds + 1 {
		pairs = pairs[:0]
		b := m.band()
		started := time.Now()
		err := m.device.RunAll(ctx, func(yield func(device.Job) bool) {
			if !yield(beginJob{b}) {
				return
			}
			for _, c := range m.chunks {
				if !yield(&chunkJob{b, c}) {
					return
				}
			}
		})
		if err == nil {
			o := &outcomeJob{band: b, minOverlap: 2, selection: m.selection, all: m.all}
			err = m.device.Run(ctx, o)
			pairs = append(pairs, o.found...)
		}
		for row := 0; err == nil && m.all && row < m.shape.panels; row++ {
			f := &fetchJob{band: b, row: row}
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
func (m *measurement) resident(ctx context.Context, rows int) error {
	chunks := m.shape
	m.shape = newShape(chunks.columns, 0, 8*chunks.columns*(rows+segmentRows), int64(rows))
	b := m.band()
	defer b.close()
	if err := m.device.Run(ctx, beginJob{b}); err != nil {
		return err
	}
	r := &residentJob{measurement: m, chunkPitch: chunks.pitch,
		outcomeJob: outcomeJob{band: b, minOverlap: 2, selection: m.selection, all: m.all}}
	if err := m.device.Run(ctx, r); err != nil {
		return err
	}
	m.times.Resident, m.times.Product = medianOf(r.total[1:]), medianOf(r.product[1:])
	return nil
}

// residentJob is the job that computes the same from rows on the device again and again.
type residentJob struct {
	outcomeJob
	measurement *measurement
	chunkPitch  int
	marks       [][3]cu.Event
	total       []time.Duration
	product     []time.Duration
}

// Start implements Job.
func (r *residentJob) Start(e *device.Engine, stream *device.Stream) (err error) {
	rows, err := e.Memory.Get(r.shape.chunkBytes())
	if err != nil {
		return err
	}
	stream.Hold(rows)
	n := 0
	for _, c := range r.measurement.chunks {
		n += c.rows
	}
	scratch := r.layout(n, e.Memory.Budget())
	if scratch.block, err = e.Memory.Get(scratch.bytes); err != nil {
		return err
	}
	stream.Hold(scratch.block)
	if err := r.memory(e, stream); err != nil {
		return err
	}
	at := 0
	for _, c := range r.measurement.chunks {
		for j := range r.shape.columns {
			to, from := 8*int64(j*r.shape.pitch+at), 8*int64(j*r.chunkPitch)
			if err := stream.Upload(rows, to, c.up, from, 8*int64(c.rows)); err != nil {
				return err
			}
		}
		at += c.rows
	}
	for range r.measurement.rounds + 1 {
		if err := r.round(stream, rows, scratch, n); err != nil {
			return err
		}
	}
	return nil
}

// round queues one computation between two marks, then the products alone up to a third.
func (r *residentJob) round(stream *device.Stream, rows *device.Block, scratch scratchLayout, n int) error {
	var marks [3]cu.Event
	for i := range marks {
		var err error
		if marks[i], err = cu.MakeEvent(cu.DefaultEvent); err != nil {
			return fmt.Errorf("gpu: %w", err)
		}
	}
	r.marks = append(r.marks, marks)
	r.before[0] = 0
	err := errors.Join(
		stream.Fill(r.moments, 0, 0, r.shape.momentBytes(r.tiles, false)),
		stream.Fill(r.columns, 0, 0, 4*r.columnBytes()),
		marks[0].Record(stream.Handle),
		r.band.launch(stream, rows, scratch, n, 0),
		r.queue(stream),
		marks[1].Record(stream.Handle),
	)
	if err != nil {
		return err
	}
	p := product{band: r.band, stream: stream, rows: rows, scratch: scratch, n: n}
	segments := device.Blocks(n, segmentRows)
	for segment := 0; segment < segments; segment += scratch.together {
		if err := p.multiply(true, segment, min(scratch.together, segments-segment)); err != nil {
			return err
		}
	}
	return marks[2].Record(stream.Handle)
}

// Finish implements Job.
func (r *residentJob) Finish(*device.Engine, *device.Stream) (bool, error) {
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

// medianOf returns the median of some times, the greater of two.
func medianOf(times []time.Duration) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[len(times)/2]
}
