package device

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Stream is a stream and what the job on it holds. One job is on a stream at a time; streams copy and compute beside
// each other. Its methods queue work and return. Only the owner uses it, in Start and Finish of a job.
type Stream struct {
	Handle cu.Stream

	// Watch, unless nil, is called before each copy, "up" or "down", and each kernel, by its name, until the job ends:
	// for measurements.
	Watch func(what string, bytes int64)

	done   cu.Event // the end of the job's work
	params cu.Params
	held   []releaser

	instruments *instruments
}

// releaser is memory of a pool.
type releaser interface{ Release() }

func newStream(m *instruments) (*Stream, error) {
	handle, err := cu.MakeStream(cu.NonBlocking)
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	done, err := cu.MakeEvent(cu.DisableTiming)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("gpu: %w", err), handle.Destroy())
	}
	return &Stream{Handle: handle, done: done, instruments: m}, nil
}

// Hold hands memory to the stream, which releases it when the job has finished: the caller's reference is the stream's
// now.
func (s *Stream) Hold(memory releaser) { s.held = append(s.held, memory) }

// Upload queues the copy of n bytes of pinned memory into a block.
func (s *Stream) Upload(to *Block, at int64, from *Pinned, offset, n int64) error {
	to.check(at, n)
	if n == 0 {
		return nil
	}
	source := from.Bytes[offset : offset+n]
	s.watch("up", n)
	s.instruments.uploaded.Add(float64(n))
	return s.wrap(cu.MemcpyHtoDAsync(to.At(at), unsafe.Pointer(unsafe.SliceData(source)), n, s.Handle))
}

// Download queues the copy of n bytes of a block into pinned memory, where Finish finds them.
func (s *Stream) Download(to *Pinned, offset int64, from *Block, at, n int64) error {
	from.check(at, n)
	if n == 0 {
		return nil
	}
	destination := to.Bytes[offset : offset+n]
	s.watch("down", n)
	s.instruments.downloaded.Add(float64(n))
	return s.wrap(cu.MemcpyDtoHAsync(unsafe.Pointer(unsafe.SliceData(destination)), from.At(at), n, s.Handle))
}

// Fill queues the setting of n bytes of a block.
func (s *Stream) Fill(to *Block, at int64, value byte, n int64) error {
	to.check(at, n)
	return s.wrap(cu.MemsetD8Async(to.At(at), value, n, s.Handle))
}

// Copy queues the copy of n bytes of one block into another.
func (s *Stream) Copy(to *Block, at int64, from *Block, offset, n int64) error {
	to.check(at, n)
	from.check(offset, n)
	return s.wrap(cu.MemcpyDtoDAsync(to.At(at), from.At(offset), n, s.Handle))
}

// Params returns the stream's parameters, empty, to be filled for the next Launch.
func (s *Stream) Params() *cu.Params { return s.params.Reset() }

// Launch queues a kernel with the parameters in Params. A grid of no blocks is nothing to do.
func (s *Stream) Launch(kernel cu.Function, blocks, threads, sharedBytes int) error {
	if blocks == 0 {
		return nil
	}
	s.watch(kernel.Name, 0)
	s.instruments.launches.Inc()
	return s.wrap(kernel.Launch(blocks, 1, 1, threads, 1, 1, sharedBytes, s.Handle, &s.params))
}

func (s *Stream) watch(what string, bytes int64) {
	if s.Watch != nil {
		s.Watch(what, bytes)
	}
}

// Publish marks a block as written by the work queued so far, for streams that Use it.
func (s *Stream) Publish(b *Block) error {
	if !b.has {
		event, err := cu.MakeEvent(cu.DisableTiming)
		if err != nil {
			return s.wrap(err)
		}
		b.event, b.has = event, true
	}
	err := b.event.Record(s.Handle)
	b.ready = b.ready || err == nil
	return s.wrap(err)
}

// Use makes work queued from now on wait, on the device, for the stream that published the block. It holds the block,
// with a reference of its own. To add to a published block, use it first, then publish it again.
func (s *Stream) Use(b *Block) error {
	b.Retain()
	s.Hold(b)
	if !b.ready {
		return nil
	}
	return s.wrap(s.Handle.Wait(b.event))
}

// seal marks the end of the job's work.
func (s *Stream) seal() error { return s.wrap(s.done.Record(s.Handle)) }

// finished reports whether the job's work is done.
func (s *Stream) finished() (bool, error) {
	err := s.done.Query()
	if err == cu.NotReady {
		return false, nil
	}
	return err == nil, s.wrap(err)
}

// drain waits for all queued work.
func (s *Stream) drain() error { return s.wrap(s.Handle.Synchronize()) }

// release gives back what the stream holds; its work is done.
func (s *Stream) release() {
	for i, memory := range s.held {
		memory.Release()
		s.held[i] = nil
	}
	s.held, s.Watch = s.held[:0], nil
}

func (s *Stream) close() error {
	return s.wrap(errors.Join(s.Handle.Destroy(), cu.DestroyEvent(s.done)))
}

func (s *Stream) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("gpu: %w", err)
}

// Blocks returns how many blocks of so many items each take n items.
func Blocks(n, each int) int { return (n + each - 1) / each }
