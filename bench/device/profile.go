package device

import (
	"context"
	"errors"
	"math"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
)

// stopwatch tells the time between points of a stream's work, by the device's clock. A job marks them in Start or
// Finish, and asks in a later Finish. The zero value is ready.
type stopwatch struct{ marks []cu.Event }

// mark marks the end of the work queued on the stream so far.
func (s *stopwatch) mark(stream *device.Stream) error {
	event, err := cu.MakeEvent(cu.DefaultEvent)
	if err != nil {
		return err
	}
	s.marks = append(s.marks, event)
	return event.Record(stream.Handle)
}

// times returns the times from each mark to the next, all of which are passed, and forgets the marks.
func (s *stopwatch) times() ([]time.Duration, error) {
	var times []time.Duration
	var errs []error
	for i, event := range s.marks {
		if i+1 < len(s.marks) {
			ms, err := event.Elapsed(s.marks[i+1])
			times, errs = append(times, time.Duration(ms*float64(time.Millisecond))), append(errs, err)
		}
	}
	for _, event := range s.marks {
		errs = append(errs, cu.DestroyEvent(event))
	}
	s.marks = nil
	return times, errors.Join(errs...)
}

// profile is how long the parts of resampling one batch take on a device, one after the other, by the device's clock.
type profile struct {
	upload, kernels, download time.Duration // medians
	resident                  time.Duration // of the kernels of all rounds
	unpack                    time.Duration // of the kernels, those that make columns of packed series; median

	uploaded int64 // bytes over PCIe
	groups   int   // of all series at all granularities

	// touched is the least the kernels read and write of the device's memory, but for unpacking: uploads, starts and
	// columns. Unpacking reads uploads, and writes values, and timestamps of 4 bytes.
	touched, unpacked int64
}

// errProfile says that a batch went to the device in another way than asked for.
var errProfile = errors.New("bench: the batch does not fit the device")

// measureParts resamples a batch, all of whose series have one plan, as one chunk, so often. Ready, unless nil, is
// called before the first work of a round is queued: to start several devices together.
func measureParts(ctx context.Context, dev *device.Device, batch *carbonara.Batch, rounds int, ready func()) (
	p profile, err error) {
	var jobs []*PartsJob
	r := resample.New([]*device.Device{dev}, resample.Options{Workers: 1, Always: true, ChunkMeasures: math.MaxInt32,
		Job: func(job device.Job) device.Job {
			jobs = append(jobs, &PartsJob{Job: job, ready: ready})
			return jobs[len(jobs)-1]
		}})
	var result carbonara.Result
	defer result.Release()
	for range rounds {
		if err := r.Resample(ctx, batch, &result); err != nil {
			return p, err
		}
	}
	if len(jobs) != rounds || !jobs[rounds-1].done {
		return p, errProfile
	}
	times := make(map[string][]time.Duration)
	for _, j := range jobs {
		for _, part := range []string{"up", "down", "unpack", "kernels"} {
			times[part] = append(times[part], j.Times[part])
		}
		all := j.Times["unpack"] + j.Times["kernels"]
		times["all"] = append(times["all"], all)
		p.resident += all
	}
	p.upload, p.download = report.Quantile(times["up"], 0.5), report.Quantile(times["down"], 0.5)
	p.kernels, p.unpack = report.Quantile(times["all"], 0.5), report.Quantile(times["unpack"], 0.5)
	p.uploaded = jobs[0].bytes["up"]
	p.touched, p.unpacked = p.uploaded, p.uploaded+12*int64(batch.Measures())
	for i := range batch.Series {
		for j := range batch.Series[i].Plan.Granularities {
			g := result.Groups(i, j)
			p.groups += g.Len()
			p.touched += int64(8 * g.Len() * (1 + len(g.Columns)))
		}
	}
	return p, nil
}

// PartsJob does a chunk's job, and marks where one part of it ends and the next begins.
type PartsJob struct {
	device.Job
	Times map[string]time.Duration // of "up", "down", "kernels", "unpack", by the device's clock, once the job is done

	ready func()
	watch stopwatch
	parts []string // from each mark on
	bytes map[string]int64
	ended bool // the chunk's job has
	done  bool
	err   error
}

// Start implements device.Job.
func (j *PartsJob) Start(e *device.Engine, stream *device.Stream) error {
	j.parts, j.bytes, j.Times = nil, make(map[string]int64), make(map[string]time.Duration)
	begin := func(part string) {
		if n := len(j.parts); n == 0 || j.parts[n-1] != part {
			j.parts, j.err = append(j.parts, part), errors.Join(j.err, j.watch.mark(stream))
		}
	}
	stream.Watch = func(what string, bytes int64) {
		switch {
		case strings.HasPrefix(what, "unpack_"):
			what = "unpack"
		case what != "up" && what != "down":
			what = "kernels"
		}
		begin(what)
		j.bytes[what] += bytes
	}
	if j.ready != nil {
		j.ready()
	}
	err := j.Job.Start(e, stream)
	begin("wait") // for the host, which may ask for more
	return errors.Join(err, j.err)
}

// Finish implements device.Job.
func (j *PartsJob) Finish(e *device.Engine, stream *device.Stream) (bool, error) {
	if !j.ended {
		more, err := j.Job.Finish(e, stream)
		if j.ended = !more; more || err != nil {
			return more, err
		}
		return true, errors.Join(j.err, j.watch.mark(stream))
	}
	times, err := j.watch.times()
	for i, t := range times {
		j.Times[j.parts[i]] += t
	}
	j.done = err == nil
	return false, errors.Join(err, j.err)
}

// trip is how long a batch takes that lies packed in pinned memory, in chunks, until its groups lie in pinned memory:
// resampling without the host's part.
type trip struct {
	times                []time.Duration // of each round, by the host's clock
	uploaded, downloaded int64           // bytes a round
}

// measureTrip resamples the batch so often in chunks of so many measures, after two rounds more: one finds out how many
// chunks there are, which all are packed before the device gets the first of them, and one warms up.
func measureTrip(ctx context.Context, dev *device.Device, batch *carbonara.Batch, measures, rounds int) (trip, error) {
	t := trip{times: make([]time.Duration, 0, rounds)}
	var packed, finished, uploaded, downloaded atomic.Int64
	var started, ended time.Time
	chunks, gate := int64(0), make(chan struct{})
	close(gate)
	r := resample.New([]*device.Device{dev}, resample.Options{Workers: len(batch.Series), ChunkMeasures: measures,
		Always: true, Job: func(job device.Job) device.Job {
			if packed.Add(1) == chunks {
				started = time.Now()
				close(gate)
			}
			return &tripJob{Job: job, gate: gate, uploaded: &uploaded, downloaded: &downloaded, end: func() {
				if finished.Add(1) == chunks {
					ended = time.Now()
				}
			}}
		}})
	var result carbonara.Result
	defer result.Release()
	for round := range rounds + 2 {
		if err := r.Resample(ctx, batch, &result); err != nil {
			return t, err
		}
		if n := finished.Load(); n == 0 || round > 0 && n != chunks {
			return t, errProfile
		}
		if round > 1 {
			t.times = append(t.times, ended.Sub(started))
		}
		t.uploaded, t.downloaded = uploaded.Swap(0), downloaded.Swap(0)
		packed.Store(0)
		chunks, gate = finished.Swap(0), make(chan struct{})
	}
	return t, nil
}

// tripJob does a chunk's job once a gate opens.
type tripJob struct {
	device.Job
	gate                 <-chan struct{}
	uploaded, downloaded *atomic.Int64
	end                  func()
}

// Start implements device.Job.
func (j *tripJob) Start(e *device.Engine, stream *device.Stream) error {
	<-j.gate
	stream.Watch = func(what string, bytes int64) {
		switch what {
		case "up":
			j.uploaded.Add(bytes)
		case "down":
			j.downloaded.Add(bytes)
		}
	}
	return j.Job.Start(e, stream)
}

// Finish implements device.Job.
func (j *tripJob) Finish(e *device.Engine, stream *device.Stream) (bool, error) {
	more, err := j.Job.Finish(e, stream)
	if !more && err == nil {
		j.end()
	}
	return more, err
}
