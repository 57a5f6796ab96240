package cu

import (
	"errors"
	"unsafe"
)

// maxParamBytes is what every architecture takes.
const maxParamBytes = 4 << 10

// ErrParams is what Launch reports if the parameters do not fit.
var ErrParams = errors.New("kernel parameters take more than 4096 bytes")

// Params are a kernel's parameters, packed as a C struct of them would be. The zero value has none; Reset makes it so
// again. One value serves any number of launches, one after the other.
type Params struct {
	bytes [maxParamBytes]byte // first: as aligned as the struct
	size  uint64
	extra [5]uintptr // how cuLaunchKernel is told about the above
	err   error
}

// The driver's marks within extra.
const (
	paramBufferPointer = 1
	paramBufferSize    = 2
	paramEnd           = 0
)

// Reset takes all parameters out.
func (p *Params) Reset() *Params {
	p.size, p.err = 0, nil
	return p
}

// Ptr adds an address in device memory, or in pinned memory of a device with unified addressing.
func (p *Params) Ptr(v DevicePtr) *Params { return p.add(unsafe.Pointer(&v), 8, 8) }

// I64 adds a long long.
func (p *Params) I64(v int64) *Params { return p.add(unsafe.Pointer(&v), 8, 8) }

// U64 adds an unsigned long long.
func (p *Params) U64(v uint64) *Params { return p.add(unsafe.Pointer(&v), 8, 8) }

// F64 adds a double.
func (p *Params) F64(v float64) *Params { return p.add(unsafe.Pointer(&v), 8, 8) }

// U32 adds an unsigned int.
func (p *Params) U32(v uint32) *Params { return p.add(unsafe.Pointer(&v), 4, 4) }

func (p *Params) add(v unsafe.Pointer, size, align int) *Params {
	at := (int(p.size) + align - 1) &^ (align - 1)
	if at+size > len(p.bytes) {
		p.err = ErrParams
		return p
	}
	clear(p.bytes[p.size:at])
	copy(p.bytes[at:], unsafe.Slice((*byte)(v), size))
	p.size = uint64(at + size)
	return p
}

// seal returns what cuLaunchKernel takes as its last argument. It points into p, which is on the heap where this goes
// out to C.
func (p *Params) seal() *[5]uintptr {
	p.extra = [5]uintptr{
		paramBufferPointer, uintptr(unsafe.Pointer(&p.bytes)),
		paramBufferSize, uintptr(unsafe.Pointer(&p.size)),
		paramEnd,
	}
	return &p.extra
}
