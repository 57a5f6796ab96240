package resample

import (
	"sync/atomic"

	"github.com/gnocco-db/gnocco/gpu/device"
)

// FillGarbage fills the memory of every chunk with garbage before its job: kernels write all that is read.
func (r *Resampler) FillGarbage() {
	r.options.Job = func(c device.Job) device.Job { return garbageFirst{c.(*chunk)} }
}

type garbageFirst struct{ *chunk }

// Start fills a block and gives it back: the pool hands the same block to the chunk.
func (g garbageFirst) Start(e *device.Engine, stream *device.Stream) error {
	block, err := e.Memory.Get(g.at.end)
	if err != nil {
		return err
	}
	err = stream.Fill(block, 0, 0xa5, g.at.end)
	filled := block.Ptr
	block.Release()
	if err != nil {
		return err
	}
	if err := g.chunk.Start(e, stream); err != nil {
		return err
	}
	if g.block.Ptr != filled {
		panic("the chunk has another block")
	}
	return nil
}

// FuseFrom also fuses granularities of shorter groups.
func (r *Resampler) FuseFrom(measures int) { r.fuseFrom = measures }

// HoldJobs makes every job tell started, and wait until held is closed.
func (r *Resampler) HoldJobs(started chan<- struct{}, held <-chan struct{}) {
	r.options.Job = func(c device.Job) device.Job { return heldJob{c, started, held} }
}

type heldJob struct {
	device.Job
	started chan<- struct{}
	held    <-chan struct{}
}

func (h heldJob) Start(e *device.Engine, stream *device.Stream) error {
	h.started <- struct{}{}
	<-h.held
	return h.Job.Start(e, stream)
}

// ComputeWrong makes jobs flip a bit of each value of the first column, once so many jobs are done.
func (r *Resampler) ComputeWrong(from int64) {
	done := new(atomic.Int64)
	r.options.Job = func(c device.Job) device.Job { return wrongJob{c.(*chunk), from, done} }
}

type wrongJob struct {
	*chunk
	from int64
	done *atomic.Int64
}

// Finish does the chunk's, and flips bits at its end.
func (j wrongJob) Finish(e *device.Engine, stream *device.Stream) (bool, error) {
	more, err := j.chunk.Finish(e, stream)
	if !more && j.done.Add(1) > j.from {
		rows := j.levels[0].rows
		for i := range rows {
			j.results.Bytes[8*(rows+i)] ^= 1
		}
	}
	return more, err
}
