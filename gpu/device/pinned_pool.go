package device

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// PinnedPool keeps pinned memory: half a second a gigabyte is too much to pay per batch. There are three: memory for
// uploads is written past the caches, memory for downloads is read, and batches and results may borrow memory for long.
// Any goroutine may use it, and never waits for a driver that does not answer.
//
// Memory that is out when the pool is closed stays as it is, and the device's context with it, until it is given back.
// When the device fails, memory that is out, or unused, is never used again: the device may still write to it.
type PinnedPool struct {
	owner   *Device
	device  cu.Device
	context cu.CUContext // retained until the pool is closed and nothing is held
	flags   cu.HostAllocFlags
	budget  int64
	gauge   prometheus.Gauge

	mu     sync.Mutex // never held while the driver is called
	held   int64      // bytes of all memory: used, unused, and being allocated
	unused []*Pinned  // the one given back last comes last
	ended  error      // why there is no more
}

func newPinnedPool(owner *Device, device cu.Device, flags cu.HostAllocFlags, gauge prometheus.Gauge) (
	*PinnedPool, error) {
	context, err := device.RetainPrimaryCtx()
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	return &PinnedPool{owner: owner, device: device, context: context, flags: flags | cu.HostAllocPortable,
		budget: owner.options.PinnedBytes, gauge: gauge}, nil
}

// Get returns at least so many bytes, which the caller owns until Release. They hold rubbish. ErrMemory if the budget
// does not allow for it now.
func (p *PinnedPool) Get(bytes int64) (*Pinned, error) {
	class := sizeClass(bytes)
	b, old, err := p.reserve(class)
	if b != nil || err != nil {
		return b, err
	}
	var memory []byte
	err = p.inContext(class, func() error {
		if err := free(old...); err != nil {
			return err
		}
		address, err := cu.MemHostAlloc(class, p.flags)
		if errors.Is(err, cu.OutOfMemory) {
			return fmt.Errorf("%w: %w", ErrMemory, err)
		} else if err != nil {
			return fmt.Errorf("gpu: %w", err)
		}
		memory = unsafe.Slice((*byte)(address), class)
		return nil
	})
	if err != nil { // the driver may write to memory yet
		p.forget(class)
		return nil, err
	}
	b = newPinned(p, memory)
	p.mu.Lock()
	ended := p.ended
	p.mu.Unlock()
	if ended != nil {
		b.Release()
		return nil, ended
	}
	return b, nil
}

// reserve returns unused memory, or makes room in the budget for new memory: it then returns the memory to free first.
func (p *PinnedPool) reserve(class int64) (b *Pinned, old [][]byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		return nil, nil, p.ended
	}
	best, unused := -1, int64(0)
	for i, b := range p.unused {
		size := int64(len(b.Bytes))
		unused += size
		if serves(size, class) && (best < 0 || size <= int64(len(p.unused[best].Bytes))) {
			best = i
		}
	}
	if best >= 0 {
		b := p.unused[best]
		p.unused = slices.Delete(p.unused, best, best+1)
		return b, nil, nil
	}
	if p.held-unused > p.budget-class {
		return nil, nil, fmt.Errorf("%w: %d bytes pinned, %d of %d in use", ErrMemory, class, p.held-unused, p.budget)
	}
	for p.held > p.budget-class {
		old = append(old, p.drop(p.unused[0]))
		p.unused = slices.Delete(p.unused, 0, 1)
	}
	p.hold(class)
	return nil, old, nil
}

// hold counts bytes. It is called with mu held, as drop is.
func (p *PinnedPool) hold(bytes int64) {
	p.held += bytes
	p.gauge.Set(float64(p.held))
}

// drop takes memory out of the pool, to be freed.
func (p *PinnedPool) drop(b *Pinned) []byte {
	b.dropped.Stop()
	p.hold(-int64(len(b.Bytes)))
	return b.Bytes
}

// forget undoes a reservation.
func (p *PinnedPool) forget(class int64) {
	p.mu.Lock()
	p.hold(-class)
	last := p.last()
	p.mu.Unlock()
	if last {
		_ = p.inContext(0, p.leave) // nobody is left to tell
	}
}

// last reports whether the pool is closed and holds nothing: then its context has to be given up. It is called with mu
// held.
func (p *PinnedPool) last() bool { return errors.Is(p.ended, ErrClosed) && p.held == 0 }

// found takes back what somebody dropped.
func (p *PinnedPool) found(memory []byte) { newPinned(p, memory).Release() }

func (p *PinnedPool) put(b *Pinned) {
	p.mu.Lock()
	var old [][]byte
	switch {
	case p.ended == nil:
		p.unused = append(p.unused, b)
	case errors.Is(p.ended, ErrClosed):
		old = append(old, p.drop(b))
	default: // it went with the device
		b.dropped.Stop()
	}
	last := p.last()
	p.mu.Unlock()
	if old == nil {
		return
	}
	_ = p.inContext(0, func() error { // giving memory back ignores the error
		err := free(old...)
		if last {
			err = errors.Join(err, p.leave())
		}
		return err
	})
}

// free gives memory back to the driver; the context is current.
func free(memory ...[]byte) error {
	for _, bytes := range memory {
		if err := cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(bytes))); err != nil {
			return fmt.Errorf("gpu: %w", err)
		}
	}
	return nil
}

// leave gives up the context of a closed pool.
func (p *PinnedPool) leave() error {
	if err := p.device.ReleasePrimaryCtx(); err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	return nil
}

// inContext calls f with the context current, on a thread that ends with it. If the driver does not answer, the device
// is given up. bytes is the memory that f pins, at half a second a gigabyte.
func (p *PinnedPool) inContext(bytes int64, f func() error) error {
	limit := p.owner.options.JobTimeout + time.Duration(2*bytes)
	return p.owner.beside(limit, func() error {
		runtime.LockOSThread()
		if err := cu.SetCurrentContext(p.context); err != nil {
			return fmt.Errorf("gpu: %w", err)
		}
		return f()
	})
}

// fail makes Get return err from now on. Memory that somebody has stays readable.
func (p *PinnedPool) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = err
}

// close frees what is not used; the rest once it is given back. It is called by the owner.
func (p *PinnedPool) close() error {
	p.mu.Lock()
	p.ended = ErrClosed
	var old [][]byte
	for _, b := range p.unused {
		old = append(old, p.drop(b))
	}
	p.unused = nil
	last := p.last()
	p.mu.Unlock()
	var errs []error
	for _, memory := range old {
		errs = append(errs, free(memory))
	}
	if last {
		errs = append(errs, p.leave())
	}
	return errors.Join(errs...)
}
