package gpu

import (
	"errors"
	"fmt"
	"unsafe"

	"gnocco/gpu/cu"
)

// Lane is a stream and what the job on it holds. One job is on a lane at a time; lanes copy and compute beside each other.
// Its methods queue work and return. Only the owner uses it, in Start and Finish of a job.
type Lane struct {
	Stream cu.Stream

	done   cu.Event // the end of the job's work
	params cu.Params
	held   []releaser

	metrics *metrics
}

// releaser is memory of a pool.
type releaser interface{ Release() }

func newLane(m *metrics) (*Lane, error) {
	stream, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	done, err := cu.MakeEvent(cu.DisableTiming)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("gpu: %w", err), stream.Destroy())
	}
	return &Lane{Stream: stream, done: done, metrics: m}, nil
}

// Hold hands memory to the lane, which releases it when the job has finished: the caller's reference is the lane's now.
func (l *Lane) Hold(memory releaser) { l.held = append(l.held, memory) }

// Upload queues the copy of n bytes of pinned memory into a block.
func (l *Lane) Upload(to *Block, at int64, from *Pinned, offset, n int64) error {
	to.check(at, n)
	if n == 0 {
		return nil
	}
	source := from.Bytes[offset : offset+n]
	l.metrics.uploaded.Add(float64(n))
	return l.wrap(cu.MemcpyHtoDAsync(to.At(at), unsafe.Pointer(unsafe.SliceData(source)), n, l.Stream))
}

// Download queues the copy of n bytes of a block into pinned memory, where Finish finds them.
func (l *Lane) Download(to *Pinned, offset int64, from *Block, at, n int64) error {
	from.check(at, n)
	if n == 0 {
		return nil
	}
	destination := to.Bytes[offset : offset+n]
	l.metrics.downloaded.Add(float64(n))
	return l.wrap(cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(destination)), from.At(at), n, l.Stream))
}

// Fill queues the setting of n bytes of a block.
func (l *Lane) Fill(to *Block, at int64, value byte, n int64) error {
	to.check(at, n)
	return l.wrap(cu.MemsetD8Async(to.At(at), value, n, l.Stream))
}

// Params returns the lane's parameters, empty, to be filled for the next Launch.
func (l *Lane) Params() *cu.Params { return l.params.Reset() }

// Launch queues a kernel with what was put into Params. A grid of no blocks is nothing to do.
func (l *Lane) Launch(kernel cu.Function, blocks, threads, sharedBytes int) error {
	if blocks == 0 {
		return nil
	}
	l.metrics.launches.Inc()
	return l.wrap(kernel.Launch(blocks, 1, 1, threads, 1, 1, sharedBytes, l.Stream, &l.params))
}

// Publish marks a block as written by what is queued so far, for lanes that Use it.
func (l *Lane) Publish(b *Block) error {
	if !b.has {
		event, err := cu.MakeEvent(cu.DisableTiming)
		if err != nil {
			return l.wrap(err)
		}
		b.event, b.has = event, true
	}
	err := b.event.Record(l.Stream)
	b.ready = b.ready || err == nil
	return l.wrap(err)
}

// Use makes what is queued from now on wait, on the device, for the lane that published the block; and holds the block, with a
// reference of its own. Whoever adds to a published block uses it first, then publishes it again.
func (l *Lane) Use(b *Block) error {
	b.Retain()
	l.Hold(b)
	if !b.ready {
		return nil
	}
	return l.wrap(l.Stream.Wait(b.event))
}

// seal marks the end of the job's work.
func (l *Lane) seal() error { return l.wrap(l.done.Record(l.Stream)) }

// finished tells whether the job's work is done.
func (l *Lane) finished() (bool, error) {
	err := l.done.Query()
	if err == cu.NotReady {
		return false, nil
	}
	return err == nil, l.wrap(err)
}

// drain waits for whatever is queued.
func (l *Lane) drain() error { return l.wrap(l.Stream.Synchronize()) }

// release gives back what the lane holds; its work is done.
func (l *Lane) release() {
	for i, memory := range l.held {
		memory.Release()
		l.held[i] = nil
	}
	l.held = l.held[:0]
}

func (l *Lane) close() error {
	return l.wrap(errors.Join(l.Stream.Destroy(), cu.DestroyEvent(l.done)))
}

func (l *Lane) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("gpu: %w", err)
}
