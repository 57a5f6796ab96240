package device

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/bench/device/kernels"
	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
)

// Options say what Run measures.
type Options struct {
	Driver string   // path of the CUDA driver's library; "": the system's
	Only   []string // of Parts; nil: all

	Values      int   // of the ladder and the sums; 0: 64 Mi
	Group       int   // values a group of the ladder; 0: 6
	BigSumBytes int64 // of one more sum, of data that is made on the device; 0: none
	// Measures is the number of measures of resident batches, and of values in the table of dynamic aggregates, there
	// 10 million at most. 0: 10 million.
	Measures  int
	HostSizes []int // measures of batches, and values of tables, from host memory; nil: 1e4 to 1e7
	// Chunks are sizes in measures, tried in turn with batches from pinned memory. 0: as the resampler chooses. nil: 0.
	Chunks      []int
	Streams     int // jobs under way on a device; 0: as it chooses
	SoakBatches int // 0: 10,000
	Rounds      int // of each figure, whose median counts; 0: 7
}

// EnsureDefaults fills in what was left zero.
func (o *Options) EnsureDefaults() {
	for _, d := range []struct {
		what  *int
		value int
	}{{&o.Values, 64 << 20}, {&o.Group, 6}, {&o.Measures, 10_000_000}, {&o.SoakBatches, 10_000}, {&o.Rounds, 7}} {
		if *d.what == 0 {
			*d.what = d.value
		}
	}
	if o.HostSizes == nil {
		o.HostSizes = []int{10_000, 100_000, 1_000_000, 10_000_000}
	}
	if o.Chunks == nil {
		o.Chunks = []int{0}
	}
}

// parts are what Run measures, in this order.
var parts = []struct {
	name string
	run  func(*gpuBench, context.Context) error
}{
	{"sum", (*gpuBench).sums}, {"ladder", (*gpuBench).ladder}, {"resident", (*gpuBench).resident},
	{"blog", (*gpuBench).blog},
	{"host", (*gpuBench).host}, {"dynamic", (*gpuBench).dynamic}, {"packed", (*gpuBench).packed},
	{"stream", (*gpuBench).stream}, {"soak", (*gpuBench).soak}, {"cards", (*gpuBench).cards},
}

// Parts returns the names that Options.Only may have.
func Parts() []string {
	var names []string
	for _, part := range parts {
		names = append(names, part.name)
	}
	return names
}

// Run measures resampling on CUDA devices, beside the CPU and beside kernels that one may write first: how it should
// not be done. Without a device it returns gpu.ErrUnavailable. Results that are wrong end it.
func Run(ctx context.Context, o report.Run, what Options) (err error) {
	o.EnsureDefaults()
	what.EnsureDefaults()
	for _, name := range what.Only {
		if !slices.Contains(Parts(), name) {
			return fmt.Errorf("bench: gpu has no part %q: %v", name, Parts())
		}
	}
	if what.Values < 1 || what.Group < 1 || what.Measures < 1 || what.SoakBatches < 1 || what.Rounds < 1 ||
		slices.Min(what.Chunks) < 0 || what.Streams < 0 {
		return errors.New("bench: gpu needs positive numbers")
	}
	found, err := device.Find(what.Driver)
	if err != nil {
		return fmt.Errorf("bench: gpu: %w", err)
	}
	for _, properties := range found {
		if err := o.Report.Note("device %d: %v", properties.Ordinal, properties); err != nil {
			return err
		}
	}
	b := &gpuBench{Run: o, what: what, found: found, workers: runtime.GOMAXPROCS(0)}
	if b.device, err = b.newDevice(0, 0, nil); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.device.Close()) }()
	if err := b.ceilings(ctx); err != nil {
		return fmt.Errorf("bench: gpu: %w", err)
	}
	for range o.Count {
		for _, part := range parts {
			if what.Only != nil && !slices.Contains(what.Only, part.name) {
				continue
			}
			o.Logger.Info("measuring", "part", part.name)
			if err := part.run(b, ctx); err != nil {
				return fmt.Errorf("bench: gpu %s: %w", part.name, err)
			}
		}
	}
	return nil
}

// gpuBench is one run of Run.
type gpuBench struct {
	report.Run
	what    Options
	found   []device.Properties
	device  *device.Device // the first
	workers int

	copyRate, upRate, downRate float64 // bytes a second: on the device, read and written; to it; from it
	module                     cu.Module
	loaded                     bool
	chooses                    *resample.Resampler // by model; nil before anybody asked for it
	model                      resample.Model
}

// chooser returns a resampler of one goroutine that uses the first device where that is faster.
func (b *gpuBench) chooser(ctx context.Context) (*resample.Resampler, error) {
	if b.chooses != nil {
		return b.chooses, nil
	}
	r := resample.New([]*device.Device{b.device}, resample.Options{Workers: 1})
	var err error
	if b.model, err = r.Calibrate(ctx); err != nil {
		return nil, err
	}
	b.chooses = r
	return r, b.Report.Note("model, ns: %+v", b.model)
}

// newDevice returns another owner of a device, which the caller closes.
func (b *gpuBench) newDevice(ordinal int, memoryBytes int64, registerer prometheus.Registerer) (*device.Device, error) {
	return device.New(device.Options{Driver: b.what.Driver, Ordinal: ordinal, MemoryBytes: memoryBytes,
		PinnedBytes: 16 << 30, JobTimeout: time.Minute, Streams: b.what.Streams, Registerer: registerer})
}

// onDevice returns a resampler that uses the devices for everything, with so many workers.
func onDevice(workers int, devices ...*device.Device) *resample.Resampler {
	return resample.New(devices, resample.Options{Workers: workers, Always: true})
}

// function returns a kernel of the first device.
func (b *gpuBench) function(ctx context.Context, name string) (fn cu.Function, err error) {
	err = b.device.Do(ctx, func(e *device.Engine) (err error) {
		if !b.loaded {
			if b.module, err = e.Load(kernels.PTX); err != nil {
				return err
			}
			b.loaded = true
		}
		fn, err = b.module.Function(name)
		return err
	})
	return fn, err
}

// deviceJob queues something between marks; the time from each to the next is the result.
type deviceJob struct {
	start func(e *device.Engine, stream *device.Stream, watch *stopwatch) error
	watch stopwatch
	times []time.Duration
}

func (j *deviceJob) Start(e *device.Engine, stream *device.Stream) error {
	return j.start(e, stream, &j.watch)
}

func (j *deviceJob) Finish(*device.Engine, *device.Stream) (_ bool, err error) {
	j.times, err = j.watch.times()
	return false, err
}

// hold takes device memory for a stream.
func hold(e *device.Engine, stream *device.Stream, bytes int64) (*device.Block, error) {
	block, err := e.Memory.Get(bytes)
	if err == nil {
		stream.Hold(block)
	}
	return block, err
}

// ceilings measures the rates of copies, the bounds of all work that reads and writes memory.
func (b *gpuBench) ceilings(ctx context.Context) error {
	bytes := min(int64(b.what.Values)*8, 4<<30)
	e, err := b.device.Open(ctx)
	if err != nil {
		return err
	}
	up, err := e.Uploads.Get(bytes)
	if err != nil {
		return err
	}
	defer up.Release()
	down, err := e.Downloads.Get(bytes)
	if err != nil {
		return err
	}
	defer down.Release()
	var copies, ups, downs []time.Duration
	for range b.what.Rounds {
		job := &deviceJob{start: func(e *device.Engine, stream *device.Stream, watch *stopwatch) error {
			x, err := hold(e, stream, bytes)
			if err != nil {
				return err
			}
			y, err := hold(e, stream, bytes)
			if err != nil {
				return err
			}
			return errors.Join(watch.mark(stream), stream.Upload(x, 0, up, 0, bytes), watch.mark(stream),
				cu.MemcpyDtoDAsync(y.At(0), x.At(0), bytes, stream.Handle), watch.mark(stream),
				stream.Download(down, 0, y, 0, bytes), watch.mark(stream))
		}}
		if err := b.device.Run(ctx, job); err != nil {
			return err
		}
		ups, copies, downs = append(ups, job.times[0]), append(copies, job.times[1]), append(downs, job.times[2])
	}
	for _, c := range []struct {
		name  string
		times []time.Duration
		bytes int64
		rate  *float64
	}{{"device", copies, 2 * bytes, &b.copyRate}, {"up", ups, bytes, &b.upRate}, {"down", downs, bytes, &b.downRate}} {
		t := report.Quantile(c.times, 0.5)
		*c.rate = float64(c.bytes) / max(t.Seconds(), 1e-9) // the fake driver of tests has no clock
		if err := b.Report.Add("GPUCopy/to="+c.name, 1, report.Of(report.Milliseconds(t), "ms"),
			report.Of(*c.rate/1e9, "GB/s")); err != nil {
			return err
		}
	}
	return nil
}

// ofCopy is the share that touching bytes of device memory in that time has of a copy's rate.
func (b *gpuBench) ofCopy(bytes int64, t time.Duration) report.Figure {
	return report.Of(float64(bytes)/max(t.Seconds(), 1e-9)/b.copyRate*100, "%-of-copy")
}

// regularBatch is series of measures step apart, with jitter below a second in units of a millisecond or a nanosecond
// if unit is not 0.
func regularBatch(plan *carbonara.Plan, measures, each int, step, unit time.Duration) *carbonara.Batch {
	batch := &carbonara.Batch{Timestamps: make([]carbonara.Timestamp, measures), Values: make([]float64, measures)}
	state := uint64(88172645463325252)
	for i := range measures {
		if i%each == 0 {
			batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: i, To: min(i+each, measures)})
		}
		state ^= state << 13 // xorshift: a billion of them
		state ^= state >> 7
		state ^= state << 17
		t := carbonara.Timestamp(1_700_000_000e9) + carbonara.Timestamp(i%each)*carbonara.Timestamp(step)
		if unit > 0 {
			t += carbonara.Timestamp(state%900_000_000) / carbonara.Timestamp(unit) * carbonara.Timestamp(unit)
		}
		batch.Timestamps[i], batch.Values[i] = t, float64(state>>40)/128
	}
	return batch
}

// lentBatch is a copy of the batch in pinned memory that the resampler lends; its device is open.
func lentBatch(r *resample.Resampler, batch *carbonara.Batch) (*carbonara.Batch, error) {
	lent := new(carbonara.Batch)
	lent.Reset(r)
	lent.Grow(max(len(batch.Values), 16<<10)) // of fewer measures nothing is lent
	if lent.Borrowed() == nil {
		return nil, fmt.Errorf("%d measures do not fit the pinned memory", len(batch.Values))
	}
	lent.Timestamps, lent.Values = append(lent.Timestamps, batch.Timestamps...), append(lent.Values, batch.Values...)
	lent.Series = append(lent.Series, batch.Series...)
	return lent, nil
}

// setPlan makes all series of the batch resampled by the plan.
func setPlan(batch *carbonara.Batch, plan *carbonara.Plan) {
	for i := range batch.Series {
		batch.Series[i].Plan = plan
	}
}

// sameGroups returns an error unless both resamplers give the same bits for the batch.
func sameGroups(ctx context.Context, batch *carbonara.Batch, want, got carbonara.Resampler) error {
	var a, b carbonara.Result
	defer a.Release()
	defer b.Release()
	if err := errors.Join(want.Resample(ctx, batch, &a), got.Resample(ctx, batch, &b)); err != nil {
		return err
	}
	for i := range batch.Series {
		for j, g := range batch.Series[i].Plan.Granularities {
			x, y := a.Groups(i, j), b.Groups(i, j)
			if !slices.Equal(x.Starts, y.Starts) {
				return fmt.Errorf("series %d at %v has other groups on the device", i, g)
			}
			for c, column := range x.Columns {
				// there is no NaN in these values; a group of one has a second moment of 0
				if !slices.Equal(x.Values[c], y.Values[c]) {
					return fmt.Errorf("series %d at %v has another %v on the device", i, g, column)
				}
			}
		}
	}
	return nil
}
