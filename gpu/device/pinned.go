package device

import (
	"runtime"
	"unsafe"
)

// Pinned is host memory that the device copies by itself. It is no memory of Go's: no slice of it may be used after
// Release, nor once the Pinned itself is dropped, since the pool takes back what the collector finds.
type Pinned struct {
	Bytes   []byte // at least what was asked for; of an upload, write in order and do not read: it passes by the caches
	pool    *PinnedPool
	dropped runtime.Cleanup // puts the memory back
}

// newPinned is memory of the pool in somebody's hands.
func newPinned(pool *PinnedPool, memory []byte) *Pinned {
	p := &Pinned{Bytes: memory, pool: pool}
	p.dropped = runtime.AddCleanup(p, pool.found, memory)
	return p
}

// Release gives the memory back, once. Work queued with it must be done, or a stream hold it instead.
func (p *Pinned) Release() { p.pool.put(p) }

// Offset returns where in the memory that address lies, or false if the bytes from there on do not.
func (p *Pinned) Offset(address unsafe.Pointer, bytes int) (int64, bool) {
	at := uintptr(address) - uintptr(unsafe.Pointer(unsafe.SliceData(p.Bytes))) // huge if it lies before
	return int64(at), at <= uintptr(len(p.Bytes)) && uintptr(bytes) <= uintptr(len(p.Bytes))-at
}

// Number is what arrays of a kernel are made of.
type Number interface {
	byte | uint16 | uint32 | uint64 | int32 | ~int64 | float64
}

// View returns n numbers of pinned memory from a byte offset on, which is a multiple of the number's size.
func View[T Number](p *Pinned, offset, n int) []T {
	var number T
	size := int(unsafe.Sizeof(number))
	if offset < 0 || n < 0 || offset%size != 0 || offset > len(p.Bytes) || n > (len(p.Bytes)-offset)/size {
		panic("gpu: outside of the pinned memory, or not aligned")
	}
	return unsafe.Slice((*T)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(p.Bytes)), offset)), n)
}
