package resample

import (
	"cmp"
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// Profile is how long the parts of resampling one batch take on a device, one after the other, by the device's clock.
type Profile struct {
	Upload, Kernels, Download time.Duration // medians
	Resident                  time.Duration // of all rounds of the kernels, back to back
	Unpack                    time.Duration // of the kernels, what makes columns of packed series; median

	Uploaded, Downloaded int64 // bytes over PCIe
	Groups               int   // of all series at all granularities

	// Touched is the least the kernels read and write of the device's memory: timestamps, as they were sent, and values
	// in, starts and columns out. Unpacking reads what is packed, and writes timestamps and values.
	Touched, Unpacked int64
}

// ProfileOptions say how a Profile is made.
type ProfileOptions struct {
	Rounds int // of the kernels; 0 for 9

	// Ready, unless nil, is called before the rounds of the kernels are queued: to start several devices together.
	Ready func()
}

// profileCopies is how often both copies are timed.
const profileCopies = 3

// errProfile is what Profile and Trip answer to batches that would not go to a device as asked for.
var errProfile = errors.New("gpu: profiles are of batches with measures, of one plan, that fit the device")

// MeasureParts resamples a batch, all of whose series have one plan, as one chunk, however many measures it has.
func MeasureParts(ctx context.Context, r *Resampler, batch *carbonara.Batch, options ProfileOptions) (Profile, error) {
	options.Rounds = cmp.Or(options.Rounds, 9)
	c := new(call)
	d, err := c.pack(ctx, r, batch, maxMeasures-1, 1)
	defer c.release()
	if err != nil {
		return Profile{}, err
	}
	if len(c.work) != 1 {
		return Profile{}, errProfile
	}
	job := &profiling{chunk: c.work[0], options: options}
	if err := d.Run(ctx, job); err != nil {
		return Profile{}, err
	}
	return job.profile, nil
}

// Trip is how long a batch takes that lies packed in pinned memory, in chunks, until its groups lie in pinned memory:
// Resample without the host's part.
type Trip struct {
	Times                []time.Duration // of each round, by the host's clock
	Uploaded, Downloaded int64           // bytes a round
}

// MeasureTrip resamples the batch so often, after one round more to warm up.
func MeasureTrip(ctx context.Context, r *Resampler, batch *carbonara.Batch, rounds int) (Trip, error) {
	c := new(call)
	d, err := c.pack(ctx, r, batch, r.options.chunkMeasures(batch), memoryShare)
	defer c.release()
	if err != nil {
		return Trip{}, err
	}
	var trip Trip
	for i := range rounds + 1 {
		started := time.Now()
		if err := d.RunAll(ctx, jobs(c.work)); err != nil {
			return trip, err
		}
		if i > 0 {
			trip.Times = append(trip.Times, time.Since(started))
		}
	}
	for _, p := range c.work {
		trip.Uploaded += p.uploaded()
		trip.Downloaded += p.downloaded()
	}
	return trip, nil
}

func jobs(chunks []*chunk) iter.Seq[device.Job] {
	return func(yield func(device.Job) bool) {
		for _, p := range chunks {
			if !yield(p) {
				return
			}
		}
	}
}

// pack makes the batch's chunks for the next device, all of them in pinned memory at once. A chunk has at most so many
// measures, and at most that share of the device's memory.
func (c *call) pack(ctx context.Context, r *Resampler, batch *carbonara.Batch, measures int, share int64) (
	*resamplerDevice, error) {
	d, e := r.open(ctx)
	if d == nil {
		return nil, errors.Join(device.ErrUnavailable, ctx.Err())
	}
	c.split(batch, measures, e.Memory.Budget()/share)
	if len(c.chunks) == 0 {
		return nil, errProfile
	}
	for _, what := range c.chunks {
		if what.measures >= maxMeasures || len(what.kind.plan.Granularities) > maxLevels {
			return nil, errProfile
		}
		p := &chunk{program: d.program, fuseFrom: r.fuseFrom, compact: true}
		c.work = append(c.work, p)
		if err := p.load(e, batch, what.kind.plan, c.series[what.from:what.to]); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (c *call) release() {
	for _, p := range c.work {
		p.release()
	}
}

// downloaded is how many bytes came back; the chunk is done.
func (p *chunk) downloaded() int64 {
	bytes := p.measured[1]
	for j := range p.levels {
		bytes += int64(8 * p.levels[j].rows * (1 + len(p.plan.Columns)))
	}
	return bytes
}

// profiling does a chunk once, as always, and then its parts again, between marks.
type profiling struct {
	*chunk
	options         ProfileOptions
	copies, kernels device.Stopwatch
	unpacks         device.Stopwatch
	queued          bool
	profile         Profile
}

// Finish implements Job.
func (j *profiling) Finish(e *device.Engine, stream *device.Stream) (bool, error) {
	if j.queued {
		return false, j.read()
	}
	if more, err := j.chunk.Finish(e, stream); more || err != nil {
		return more, err
	}
	j.queued = true
	zero := func() error { return stream.Fill(j.block, j.zeroed[0], 0, j.zeroed[1]) }
	launch := func() error { return j.launch(stream, e.Properties.Multiprocessors) }
	for range profileCopies {
		err := errors.Join(j.copies.Mark(stream), j.upload(stream), j.copies.Mark(stream), zero(), launch(),
			j.copies.Mark(stream), stream.Download(j.counts, 0, j.block, j.measured[0], j.measured[1]),
			j.fetch(e, stream))
		if err != nil {
			return false, err
		}
	}
	err := j.copies.Mark(stream)
	if j.options.Ready != nil {
		j.options.Ready()
	}
	for range j.options.Rounds {
		err = errors.Join(err, zero(), j.kernels.Mark(stream), launch(), j.kernels.Mark(stream))
	}
	for range j.options.Rounds {
		if j.packed {
			err = errors.Join(err, j.unpacks.Mark(stream), j.launchUnpack(stream), j.unpacks.Mark(stream))
		}
	}
	return true, err
}

// read turns the marks into the profile.
func (j *profiling) read() error {
	copies, err := j.copies.Times()
	kernels, err2 := j.kernels.Times()
	unpacks, err3 := j.unpacks.Times()
	if err := errors.Join(err, err2, err3); err != nil {
		return err
	}
	p := &j.profile
	p.Upload, p.Download = medianOf(every(copies, 0, 3)), medianOf(every(copies, 2, 3))
	p.Kernels = medianOf(every(kernels, 0, 2))
	for _, t := range kernels {
		p.Resident += t
	}
	p.Uploaded, p.Downloaded = j.uploaded(), j.chunk.downloaded()
	p.Touched = int64(j.n) * int64(8+timestampBytes[j.layout])
	if j.packed {
		p.Unpack, p.Unpacked = medianOf(every(unpacks, 0, 2)), j.unpacking.bytes+p.Touched
		p.Touched += p.Unpacked
	}
	for k := range j.levels {
		p.Groups += j.levels[k].rows
		p.Touched += int64(8 * j.levels[k].rows * (1 + len(j.plan.Columns)))
	}
	return nil
}

// every returns each step-th of times.
func every(times []time.Duration, from, step int) (some []time.Duration) {
	for i := from; i < len(times); i += step {
		some = append(some, times[i])
	}
	return some
}

// medianOf returns the median of some times, the greater of two.
func medianOf(times []time.Duration) time.Duration {
	times = slices.Sorted(slices.Values(times))
	return times[len(times)/2]
}
