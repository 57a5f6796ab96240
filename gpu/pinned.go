package gpu

import "unsafe"

// Pinned is host memory that the device copies by itself. It is no memory of Go's: after Release no slice of it may be used.
type Pinned struct {
	Bytes []byte // at least what was asked for; of an upload, write in order and do not read: it passes by the caches
	pool  *PinnedPool
}

// Release gives the memory back, once. What was queued with it is done, or a lane holds it instead.
func (p *Pinned) Release() { p.pool.put(p) }

// Number is what arrays of a kernel are made of.
type Number interface {
	byte | uint16 | uint32 | uint64 | int32 | int64 | float64
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
