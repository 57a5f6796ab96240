package gpu

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"unsafe"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/gpu/cu"
)

// PinnedPool keeps pinned memory: half a second a gigabyte is too much to pay per batch. There are three: memory for uploads is
// written past the caches, memory for downloads is read, and what is lent to batches and results may be gone for long. It may be
// used from any goroutine.
//
// What is out when the pool is closed stays as it is, and the device's context with it, until it is given back.
type PinnedPool struct {
	device  cu.Device
	context cu.CUContext // retained until the pool is closed and nothing is held
	flags   cu.HostAllocFlags
	budget  int64
	gauge   prometheus.Gauge

	mu     sync.Mutex
	held   int64     // bytes of all memory, used or not
	unused []*Pinned // the one given back last comes last
	ended  error     // why there is no more
}

func newPinnedPool(device cu.Device, flags cu.HostAllocFlags, budget int64, gauge prometheus.Gauge) (*PinnedPool, error) {
	context, err := device.RetainPrimaryCtx()
	if err != nil {
		return nil, fmt.Errorf("gpu: %w", err)
	}
	return &PinnedPool{device: device, context: context, flags: flags | cu.HostAllocPortable, budget: budget, gauge: gauge}, nil
}

// Get returns at least so many bytes, which the caller owns until Release. They hold rubbish. ErrMemory if the budget does not
// allow for it now.
func (p *PinnedPool) Get(bytes int64) (*Pinned, error) {
	class := sizeClass(bytes)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended != nil {
		return nil, p.ended
	}
	best := -1
	for i, b := range p.unused {
		if size := int64(len(b.Bytes)); serves(size, class) && (best < 0 || size <= int64(len(p.unused[best].Bytes))) {
			best = i
		}
	}
	if best >= 0 {
		b := p.unused[best]
		p.unused = slices.Delete(p.unused, best, best+1)
		return b, nil
	}
	var b *Pinned
	err := p.inContext(func() error {
		for p.held > p.budget-class {
			if len(p.unused) == 0 {
				return fmt.Errorf("%w: %d bytes pinned, %d of %d in use", ErrMemory, class, p.held, p.budget)
			}
			oldest := p.unused[0]
			p.unused = slices.Delete(p.unused, 0, 1)
			if err := p.free(oldest); err != nil {
				return err
			}
		}
		address, err := cu.MemHostAlloc(class, p.flags)
		if errors.Is(err, cu.OutOfMemory) {
			return fmt.Errorf("%w: %w", ErrMemory, err)
		} else if err != nil {
			return fmt.Errorf("gpu: %w", err)
		}
		b = newPinned(p, unsafe.Slice((*byte)(address), class))
		p.held += class
		p.gauge.Set(float64(p.held))
		return nil
	})
	if err != nil {
		if b != nil { // allocated, and then the thread could not be left as it was
			p.unused = append(p.unused, b)
		}
		return nil, err
	}
	return b, nil
}

// found takes back what somebody dropped.
func (p *PinnedPool) found(memory []byte) { newPinned(p, memory).Release() }

func (p *PinnedPool) put(b *Pinned) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.ended == nil:
		p.unused = append(p.unused, b)
	case errors.Is(p.ended, ErrClosed):
		_ = p.inContext(func() error { return p.free(b) }) // whoever gives memory back does not care
		_ = p.leave()
	default: // it went with the device
		b.dropped.Stop()
	}
}

// free is called with mu held and the context current.
func (p *PinnedPool) free(b *Pinned) error {
	b.dropped.Stop()
	p.held -= int64(len(b.Bytes))
	p.gauge.Set(float64(p.held))
	if err := cu.MemFreeHost(unsafe.Pointer(unsafe.SliceData(b.Bytes))); err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	return nil
}

// leave gives up the context of a closed pool, unless memory of it is out. It is called with mu held.
func (p *PinnedPool) leave() error {
	if p.held > 0 {
		return nil
	}
	if err := p.device.ReleasePrimaryCtx(); err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	return nil
}

// inContext calls f with the context current, and leaves the thread as it was: it may be the owner's.
func (p *PinnedPool) inContext(f func() error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before, err := cu.CurrentContext()
	if err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	if before == p.context {
		return f()
	}
	if err := cu.SetCurrentContext(p.context); err != nil {
		return fmt.Errorf("gpu: %w", err)
	}
	return errors.Join(f(), cu.SetCurrentContext(before))
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
	defer p.mu.Unlock()
	p.ended = ErrClosed
	var errs []error
	for _, b := range p.unused {
		errs = append(errs, p.free(b))
	}
	p.unused = nil
	return errors.Join(append(errs, p.leave())...)
}
