package resample

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/internal/parallel"
)

// Resampler is the carbonara.Resampler on CUDA devices. It returns the same bits as the CPU's: it also accumulates a
// group's sums in order of time. It does work on the CPU that a device cannot do, or not as fast, and never fails for
// lack of a device.
type Resampler struct {
	options     Options
	cpu         *carbonara.CPUResampler
	devices     []*resamplerDevice
	next        atomic.Uint64 // device of the next chunk
	calls       sync.Pool     // of *call
	instruments *device.EngineInstruments
	model       atomic.Pointer[Model]
	making      atomic.Pointer[time.Time] // when the CPU would be done with the batch in the making; nil without one
	queued      atomic.Int64              // nanoseconds that the devices work on batches under way, by the model
	busy        atomic.Int64              // nanoseconds of jobs
	reported    sync.Once                 // that no device is left
	failed      sync.Once                 // the same of a chunk that a device could not do
	fuseFrom    int                       // see chunk
}

type resamplerDevice struct {
	*device.Device
	load    sync.Once
	program *program
	err     error
	chunks  atomic.Uint64 // see checked
}

// New returns a resampler on devices, which it opens when they are first needed and does not close.
func New(devices []*device.Device, options Options) *Resampler {
	options.EnsureDefaults()
	r := &Resampler{
		options: options, cpu: carbonara.NewCPUResampler(options.Workers),
		instruments: newInstruments(options.Registerer),
		fuseFrom:    fuseFrom,
	}
	for _, d := range devices {
		r.devices = append(r.devices, &resamplerDevice{Device: d})
	}
	r.calls.New = func() any { return &call{hands: make(chan struct{}, options.Workers)} }
	return r
}

// inUse returns how many devices share the work. The host packs less than one can do: others stand in for one that
// fails, unless they are always to be used.
func (r *Resampler) inUse() int {
	if r.options.Always {
		return len(r.devices)
	}
	return min(1, len(r.devices))
}

// open returns a device that works, with its kernels; nil if there is none (left).
func (r *Resampler) open(ctx context.Context) (*resamplerDevice, *device.Engine) {
	first := r.next.Add(1) % uint64(max(1, r.inUse()))
	for i := range r.devices {
		d := r.devices[(int(first)+i)%len(r.devices)]
		e, err := d.Open(ctx)
		if err != nil {
			continue
		}
		d.load.Do(func() {
			d.err = d.Do(context.WithoutCancel(ctx), func(e *device.Engine) (err error) {
				d.program, err = loadProgram(e)
				return err
			})
			if d.err != nil {
				r.options.Logger.Warn("the kernels do not load, working on the CPU", "device",
					d.Ordinal(), "error", d.err)
			}
		})
		if d.err == nil && d.Err() == nil {
			return d, e
		}
	}
	return nil, nil
}

// Resample implements carbonara.Resampler.
func (r *Resampler) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	started := time.Now()
	l := loadOf(batch)
	if !r.wantsDevice(&l, 1) {
		return r.onCPU(ctx, batch, result, started)
	}
	defer r.enqueue(&l)()
	d, e := r.open(ctx)
	if d == nil {
		if err := ctx.Err(); err != nil {
			return err
		}
		r.reported.Do(func() { r.options.Logger.Warn("no device works, resampling on the CPU") })
		return r.onCPU(ctx, batch, result, started)
	}
	c := r.calls.Get().(*call)
	defer r.calls.Put(c)
	return c.resample(ctx, r, e, batch, result, started)
}

func (r *Resampler) onCPU(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result,
	started time.Time) error {
	err := r.cpu.Resample(ctx, batch, result)
	r.instruments.Done(device.OnCPU, int64(batch.Measures()), time.Since(started))
	return err
}

// call is one batch on its way.
type call struct {
	hands   chan struct{} // a place for each worker that packs, unpacks or resamples; a chunk on a device needs none
	chunks  []chunkOf
	series  []int // of all chunks
	writers []carbonara.ResultWriter
	work    []*chunk
}

// chunkOf is series[from:to] of a call, which share a plan, and are packed or not.
type chunkOf struct {
	kind     seriesKind
	from, to int
	measures int
}

func (c *call) resample(ctx context.Context, r *Resampler, e *device.Engine, batch *carbonara.Batch,
	result *carbonara.Result, started time.Time) error {
	c.split(batch, r.options.chunkMeasures(batch), e.Memory.Budget()/memoryShare)
	onDevices := r.devices[0].Streams() * r.inUse() // or waiting for one, besides what workers have in hand
	workers := max(1, min(r.options.Workers+onDevices, len(c.chunks)))
	c.writers = result.Writers(c.writers[:0], batch, workers)
	for i := range batch.Series {
		if batch.Series[i].From == batch.Series[i].To { // in no chunk
			if err := c.writers[0].Resample(i); err != nil {
				return err
			}
		}
	}
	for len(c.work) < workers {
		c.work = append(c.work, new(chunk))
	}
	err := parallel.Run(context.Background(), workers, len(c.chunks),
		func(_ context.Context, w int, chunks iter.Seq[int]) error {
			defer func() { c.work[w].release() }() // of the chunk that is there by then
			for k := range chunks {
				c.work[w].compact = r.options.Workers >= compactFrom && k >= onDevices
				if err := c.oneChunk(ctx, r, &c.work[w], &c.chunks[k], batch, result, &c.writers[w]); err != nil {
					return err
				}
			}
			return nil
		})
	clear(c.writers)
	r.instruments.Done(device.OnDevice, int64(batch.Measures()), time.Since(started))
	return err
}

// memoryShare is how many chunks the device's memory is for: one on each stream, and one to come.
const memoryShare = 4

// seriesKind is what the series of a chunk have in common.
type seriesKind struct {
	plan   *carbonara.Plan
	packed bool
}

func kindOf(s *carbonara.Series) seriesKind { return seriesKind{s.Plan, s.Packed != nil} }

// packedShare is how many measures more a chunk has if they are packed: they take that much less to copy to the device,
// and a block of threads unpacks a thousand.
const packedShare = 8

// split cuts the batch into chunks: series of one kind, up to so many measures, or device memory, each.
func (c *call) split(batch *carbonara.Batch, measures int, memory int64) {
	c.chunks, c.series = c.chunks[:0], c.series[:0]
	for i := range batch.Series {
		if batch.Series[i].From < batch.Series[i].To {
			c.series = append(c.series, i)
		}
	}
	carbonara.GatherBy(c.series, func(i int) seriesKind { return kindOf(&batch.Series[i]) })
	last, room := new(chunkOf), 0 // of the chunk that is being filled
	for k, i := range c.series {
		s := &batch.Series[i]
		n, kind := s.Len(), kindOf(s)
		if n > room || kind != last.kind {
			c.chunks = append(c.chunks, chunkOf{kind: kind, from: k})
			last = &c.chunks[len(c.chunks)-1]
			if room = measures; kind.packed {
				room *= packedShare
			}
			room = min(room, int(memory/bytesPerMeasure(kind)))
		}
		last.to = k + 1
		last.measures += n
		room -= n
	}
}

// bytesPerMeasure is what a measure takes of the device's memory at most: each its own group at every granularity, and
// what is packed not smaller for it.
func bytesPerMeasure(kind seriesKind) int64 {
	bytes := 32 + len(kind.plan.Granularities)*(32+8*len(kind.plan.Columns))
	if kind.packed {
		bytes += 20
	}
	return int64(bytes)
}

// oneChunk computes a chunk, on the CPU if the device can't.
func (c *call) oneChunk(ctx context.Context, r *Resampler, p **chunk, what *chunkOf, batch *carbonara.Batch,
	result *carbonara.Result, w *carbonara.ResultWriter) error {
	c.hands <- struct{}{}
	defer func() { <-c.hands }()
	var d *resamplerDevice
	err := device.Guarded(func() (err error) {
		d, err = c.onDevice(ctx, r, *p, what, batch)
		return err
	})
	if err == nil {
		err = device.Guarded((*p).check)
	}
	if err == nil {
		if err := (*p).unpack(w); err != nil {
			return err
		}
		if err = d.checked(batch, result, w, c.series[what.from:what.to]); err == nil {
			return nil
		}
	}
	if errors.Is(err, device.ErrTimeout) {
		*p = new(chunk) // the owner may yet write to the other one, and the device to its memory
	}
	if ctxErr := ctx.Err(); ctxErr != nil {
		return ctxErr
	}
	r.instruments.FellBack()
	if !isExpected(err) {
		r.failed.Do(func() {
			r.options.Logger.Warn("a device did not resample, the CPU does; it is said once", "error", err)
		})
	}
	for _, i := range c.series[what.from:what.to] {
		if err := w.Resample(i); err != nil {
			return err
		}
	}
	return nil
}

// isExpected reports whether a device may fail so without a defect of ours. The device itself logs its faults.
func isExpected(err error) bool {
	return errors.As(err, new(*device.FaultError)) || errors.Is(err, device.ErrMemory) ||
		errors.Is(err, device.ErrUnavailable) || errors.Is(err, device.ErrClosed)
}

// onDevice computes a chunk on the next device, meanwhile leaving its place to another.
func (c *call) onDevice(ctx context.Context, r *Resampler, p *chunk, what *chunkOf, batch *carbonara.Batch) (
	*resamplerDevice, error) {
	if what.measures >= maxMeasures || len(what.kind.plan.Granularities) > maxLevels {
		return nil, device.ErrMemory
	}
	d, e := r.open(ctx)
	if d == nil {
		return nil, device.ErrUnavailable
	}
	started := time.Now()
	p.program, p.fuseFrom = d.program, r.fuseFrom
	if err := p.load(e, batch, what.kind.plan, c.series[what.from:what.to]); err != nil {
		return nil, err
	}
	var job device.Job = p
	if r.options.Job != nil {
		job = r.options.Job(p)
	}
	packed := time.Now()
	r.instruments.Phase("pack", packed.Sub(started))
	<-c.hands
	err := d.Run(ctx, job)
	c.hands <- struct{}{}
	took := time.Since(packed)
	r.instruments.Phase("device", took)
	r.busy.Add(int64(took))
	return d, err
}

// checked computes a series of some chunks once more, on the CPU, which replaces the device's result: of one in 64, and
// of more at first. A device that computes wrong is given up: its error is a *device.FaultError.
func (d *resamplerDevice) checked(batch *carbonara.Batch, result *carbonara.Result, w *carbonara.ResultWriter,
	series []int) error {
	n := d.chunks.Add(1)
	if err := d.Err(); n%64 != 0 && n&(n-1) != 0 || err != nil {
		return err
	}
	i := series[n%uint64(len(series))]
	var got []carbonara.Groups
	for j := range batch.Series[i].Plan.Granularities {
		got = append(got, *result.Groups(i, j))
	}
	if err := w.Resample(i); err != nil {
		return err
	}
	for j := range got {
		if !sameGroups(result.Groups(i, j), &got[j]) {
			return d.Fail(fmt.Errorf("%w: it computes other aggregates than the CPU", device.ErrInvariant))
		}
	}
	return nil
}

// sameGroups reports whether got ends with all groups of want, in the same bits; every NaN is alike.
func sameGroups(want, got *carbonara.Groups) bool {
	more := got.Len() - want.Len() // that were not asked for: see carbonara.Series.Since
	return more >= 0 && slices.Equal(want.Starts, got.Starts[more:]) &&
		slices.EqualFunc(want.Values, got.Values, func(want, got []float64) bool {
			return slices.EqualFunc(want, got[more:], func(a, b float64) bool {
				return math.Float64bits(a) == math.Float64bits(b) || a != a && b != b
			})
		})
}

// compactFrom is the number of workers from which timestamps that the device could copy as they are, 8 bytes each, are
// packed into 4: fewer cores take longer for that than PCIe for the other 4 bytes. The first chunks go as they are in
// any case, as PCIe is idle until something is packed.
const compactFrom = 4
