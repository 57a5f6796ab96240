package device

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// ladderValue returns whole numbers, so that sums are the same in any order.
func ladderValue(i int) float64 { return float64(i * 7919 % 10007) }

// kernelRun is one kernel on values in pinned memory.
type kernelRun struct {
	name            string
	kernel          string
	blocks, threads int
	group           int // values a group; 0: one sum, of as many parts as the kernel leaves
	parts           int
	touched         int64
}

// measureKernel uploads the values, runs a kernel, and downloads what it wrote, and reports each. check gets the
// result.
func (b *gpuBench) measureKernel(ctx context.Context, name string, up *device.Pinned, n int, run kernelRun,
	check func([]float64) error) error {
	kernel, err := b.function(ctx, run.kernel)
	if err != nil {
		return err
	}
	e, err := b.device.Open(ctx)
	if err != nil {
		return err
	}
	outBytes, inBytes := int64(8*run.parts), int64(8*n)
	down, err := e.Downloads.Get(outBytes)
	if err != nil {
		return err
	}
	defer down.Release()
	var ups, kernels, downs, walls []time.Duration
	for range b.what.Rounds + 1 {
		job := &deviceJob{start: func(e *device.Engine, stream *device.Stream, watch *stopwatch) error {
			x, err := hold(e, stream, inBytes)
			if err != nil {
				return err
			}
			out, err := hold(e, stream, outBytes)
			if err != nil {
				return err
			}
			if err := errors.Join(stream.Fill(out, 0, 0, outBytes), watch.mark(stream),
				stream.Upload(x, 0, up, 0, inBytes), watch.mark(stream)); err != nil {
				return err
			}
			params := stream.Params().Ptr(x.At(0)).I64(int64(n))
			if run.group > 0 {
				params.I64(int64(run.group))
			}
			params.Ptr(out.At(0))
			return errors.Join(stream.Launch(kernel, run.blocks, run.threads, 0), watch.mark(stream),
				stream.Download(down, 0, out, 0, outBytes), watch.mark(stream))
		}}
		started := time.Now()
		if err := b.device.Run(ctx, job); err != nil {
			return err
		}
		walls = append(walls, time.Since(started))
		ups, kernels, downs = append(ups, job.times[0]), append(kernels, job.times[1]), append(downs, job.times[2])
	}
	if err := check(device.View[float64](down, 0, run.parts)); err != nil {
		return fmt.Errorf("%s: %w", run.kernel, err)
	}
	kernelTime := report.Quantile(kernels[1:], 0.5) // the first one warms up
	return b.Report.Add(name+"/kernel="+run.name, n, report.Of(report.Milliseconds(kernelTime), "ms-kernel"),
		report.Of(report.Milliseconds(report.Quantile(ups[1:], 0.5)), "ms-up"),
		report.Of(report.Milliseconds(report.Quantile(downs[1:], 0.5)), "ms-down"),
		report.Of(report.Milliseconds(report.Quantile(walls[1:], 0.5)), "ms-end-to-end"),
		b.ofCopy(run.touched, kernelTime))
}

// measureCPU reports the fastest of a few calls of f, which works on values from to to; all cores have a share each.
func (b *gpuBench) measureCPU(name string, n, multiple int, f func(from, to int)) error {
	for _, workers := range []int{1, b.workers} {
		best := time.Duration(math.MaxInt64)
		for range 3 {
			started := time.Now()
			var done sync.WaitGroup
			share := (n/workers + multiple) / multiple * multiple
			for from := 0; from < n; from += share {
				done.Go(func() { f(from, min(from+share, n)) })
			}
			done.Wait()
			best = min(best, time.Since(started))
		}
		if err := b.Report.Add(name+"/kernel=cpu/cores="+strconv.Itoa(workers), n,
			report.Of(report.Milliseconds(best), "ms-end-to-end")); err != nil {
			return err
		}
		if workers == b.workers {
			break // there is one core
		}
	}
	return nil
}

// pinnedValues returns n values in pinned memory, and the same in Go's.
func (b *gpuBench) pinnedValues(ctx context.Context, n int) (*device.Pinned, []float64, error) {
	e, err := b.device.Open(ctx)
	if err != nil {
		return nil, nil, err
	}
	up, err := e.Uploads.Get(int64(8 * n))
	if err != nil {
		return nil, nil, err
	}
	values := make([]float64, n)
	for i := range values {
		values[i] = ladderValue(i)
	}
	copy(device.View[float64](up, 0, n), values)
	return up, values, nil
}

// sums is one sum of all values: an atomic addition each, 64 in a row by a thread, the same side by side, and ours.
func (b *gpuBench) sums(ctx context.Context) error {
	n := b.what.Values
	up, values, err := b.pinnedValues(ctx, n)
	if err != nil {
		return err
	}
	defer up.Release()
	want := sumOf(values)
	check := func(parts []float64) error {
		if got := sumOf(parts); got != want {
			return fmt.Errorf("the sum is %v, not %v", got, want)
		}
		return nil
	}
	ours := 8 * max(b.found[0].Multiprocessors, 1)
	blocks := func(each int) int { return (n + each - 1) / each }
	for _, run := range []kernelRun{
		{"atomic", "sum_atomic", blocks(256), 256, 0, 1, int64(8 * n)},
		{"row", "sum_row", blocks(64 * 256), 256, 0, 1, int64(8 * n)},
		{"coalesced", "sum_coalesced", blocks(64 * 256), 256, 0, 1, int64(8 * n)},
		{"ours", "sum_ours", ours, 512, 0, ours, int64(8 * n)},
	} {
		if err := b.measureKernel(ctx, "GPUSum", up, n, run, check); err != nil {
			return err
		}
	}
	if err := b.measureCPU("GPUSum", n, 1, func(from, to int) { sink.add(sumOf(values[from:to])) }); err != nil {
		return err
	}
	if b.what.BigSumBytes == 0 {
		return nil
	}
	return b.bigSum(ctx, ours)
}

// bigSum is of data that never crosses PCIe: bytes of 0x3f.
func (b *gpuBench) bigSum(ctx context.Context, blocks int) error {
	kernel, err := b.function(ctx, "sum_ours")
	if err != nil {
		return err
	}
	n := b.what.BigSumBytes / 8
	var times []time.Duration
	job := &deviceJob{start: func(e *device.Engine, stream *device.Stream, watch *stopwatch) error {
		x, err := hold(e, stream, 8*n)
		if err != nil {
			return err
		}
		out, err := hold(e, stream, int64(8*blocks))
		if err != nil {
			return err
		}
		err = errors.Join(stream.Fill(x, 0, 0x3f, 8*n), watch.mark(stream))
		for range b.what.Rounds + 1 {
			stream.Params().Ptr(x.At(0)).I64(n).Ptr(out.At(0))
			err = errors.Join(err, stream.Launch(kernel, blocks, 512, 0), watch.mark(stream))
		}
		return err
	}}
	if err := b.device.Run(ctx, job); err != nil {
		return err
	}
	times = job.times[1:]
	t := report.Quantile(times, 0.5)
	return b.Report.Add("GPUSum/kernel=ours/resident", int(n), report.Of(report.Milliseconds(t), "ms-kernel"),
		report.Of(float64(8*n)/1e9/max(t.Seconds(), 1e-9), "GB/s"), b.ofCopy(8*n, t))
}

// ladder is a sum of every k values: a series that is resampled to k times its step.
func (b *gpuBench) ladder(ctx context.Context) error {
	n, k := b.what.Values, b.what.Group
	up, values, err := b.pinnedValues(ctx, n)
	if err != nil {
		return err
	}
	defer up.Release()
	groups := (n + k - 1) / k
	check := func(sums []float64) error {
		for g, got := range sums {
			if want := sumOf(values[g*k : min(n, g*k+k)]); got != want {
				return fmt.Errorf("group %d is %v, not %v", g, got, want)
			}
		}
		return nil
	}
	touched, blocks := int64(8*(n+groups)), (groups+255)/256
	for _, run := range []kernelRun{
		{"v1-atomics", "ladder_v1", blocks, 256, k, groups, touched},
		{"v2-blocks", "ladder_v2", 1024, 256, k, groups, touched},
		{"v3-shared", "ladder_v3", blocks, 256, k, groups, touched},
		{"uncoalesced", "ladder_uncoalesced", blocks, 256, k, groups, touched},
	} {
		if err := b.measureKernel(ctx, "GPULadder", up, n, run, check); err != nil {
			return err
		}
	}
	if err := b.streams(ctx, up, n, check); err != nil {
		return err
	}
	if err := b.oursOnLadder(ctx, values); err != nil {
		return err
	}
	sums := make([]float64, groups)
	return b.measureCPU("GPULadder", n, k, func(from, to int) {
		for at := from; at < to; at += k {
			sums[at/k] = sumOf(values[at:min(at+k, to)])
		}
	})
}

// streams is v4: v3 on parts of the values, several under way at a time, so that copies of one overlap with others'
// kernels.
func (b *gpuBench) streams(ctx context.Context, up *device.Pinned, n int, check func([]float64) error) error {
	kernel, err := b.function(ctx, "ladder_v3")
	if err != nil {
		return err
	}
	e, err := b.device.Open(ctx)
	if err != nil {
		return err
	}
	k := b.what.Group
	groups := (n + k - 1) / k
	down, err := e.Downloads.Get(int64(8 * groups))
	if err != nil {
		return err
	}
	defer down.Release()
	const part = 1 << 20 // groups about
	var walls []time.Duration
	for range b.what.Rounds + 1 {
		started := time.Now()
		var waits []func() error
		for g := 0; g < groups && err == nil; g += max(part/k, 1) {
			from, count := g*k, min(max(part/k, 1), groups-g)
			job := &deviceJob{start: func(e *device.Engine, stream *device.Stream, _ *stopwatch) error {
				in, out := int64(8*min(count*k, n-from)), int64(8*count)
				x, err := hold(e, stream, in)
				if err != nil {
					return err
				}
				y, err := hold(e, stream, out)
				if err != nil {
					return err
				}
				if err := stream.Upload(x, 0, up, int64(8*from), in); err != nil {
					return err
				}
				stream.Params().Ptr(x.At(0)).I64(in / 8).I64(int64(k)).Ptr(y.At(0))
				return errors.Join(stream.Launch(kernel, (count+255)/256, 256, 0),
					stream.Download(down, int64(8*g), y, 0, out))
			}}
			wait, failed := b.device.Submit(ctx, job)
			if err = failed; err != nil {
				break
			}
			if waits = append(waits, wait); len(waits) > b.device.Streams() {
				err, waits = waits[0](), waits[1:]
			}
		}
		for _, wait := range waits {
			err = errors.Join(err, wait())
		}
		if err != nil {
			return err
		}
		walls = append(walls, time.Since(started))
	}
	if err := check(device.View[float64](down, 0, groups)); err != nil {
		return fmt.Errorf("v4: %w", err)
	}
	t := report.Quantile(walls[1:], 0.5)
	return b.Report.Add("GPULadder/kernel=v4-streams", n, report.Of(report.Milliseconds(t), "ms-end-to-end"),
		report.Of(float64(8*n)/max(t.Seconds(), 1e-9)/b.upRate*100, "%-of-PCIe"))
}

// oursOnLadder resamples the values as measures of regular series, with gaps, timestamps and any method in mind.
func (b *gpuBench) oursOnLadder(ctx context.Context, values []float64) error {
	step := 5 * time.Second
	k := b.what.Group
	plan := carbonara.NewPlan([]time.Duration{time.Duration(k) * step}, []carbonara.Method{carbonara.Sum})
	batch := &carbonara.Batch{Timestamps: make([]carbonara.Timestamp, len(values)), Values: values}
	each := 1 << 14 / k * k
	origin := carbonara.Timestamp(1_700_000_000e9).Floor(plan.Granularities[0])
	for i := range values {
		if i%each == 0 {
			batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: i, To: min(i+each, len(values))})
		}
		batch.Timestamps[i] = origin + carbonara.Timestamp(i%each)*carbonara.Timestamp(step)
	}
	return b.profile(ctx, "GPULadder/kernel=ours", batch)
}

// profile reports a batch's kernels, copies and, of the batch in chunks, the way from pinned memory to pinned memory.
func (b *gpuBench) profile(ctx context.Context, name string, batch *carbonara.Batch) error {
	p, err := measureParts(ctx, b.device, batch, b.what.Rounds, nil)
	if err != nil {
		return err
	}
	trip, err := measureTrip(ctx, b.device, batch, 0, b.what.Rounds)
	if err != nil {
		return err
	}
	return b.Report.Add(name, len(batch.Values), report.Of(report.Milliseconds(p.kernels), "ms-kernel"),
		report.Of(report.Milliseconds(p.upload), "ms-up"), report.Of(report.Milliseconds(p.download), "ms-down"),
		report.Of(report.Milliseconds(report.Quantile(trip.times, 0.5)), "ms-end-to-end"),
		b.ofCopy(p.touched, p.kernels),
		report.Of(float64(p.groups), "groups"))
}

func sumOf(values []float64) float64 {
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum
}

// sink keeps sums from being left out by the compiler.
var sink total

type total struct {
	mu  sync.Mutex
	sum float64
}

func (t *total) add(v float64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.sum += v
}
