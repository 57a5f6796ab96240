package cu

import "unsafe"

// DevicePtr is an address in device memory, which Go code cannot read. Kernels want what they read of N bytes at once
// at multiples of N.
type DevicePtr uintptr

// MemAlloc allocates device memory, at a multiple of 256. It waits for the device and takes about 50 µs: keep what you
// get.
func MemAlloc(bytes int64) (DevicePtr, error) {
	var address DevicePtr
	err := callGo("cuMemAlloc_v2", uintptr(unsafe.Pointer(&address)), uintptr(bytes))
	return address, err
}

// MemFree frees what MemAlloc gave.
func MemFree(address DevicePtr) error { return call("cuMemFree_v2", uintptr(address)) }

// MemInfo returns how much memory the current context's device has left, and has.
func MemInfo() (free, total int64, err error) {
	err = callGo("cuMemGetInfo_v2", uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total)))
	return free, total, err
}

// MemcpyHtoDAsync puts a copy to the device on a stream. source is pinned, and is left alone until the copy is done.
func MemcpyHtoDAsync(destination DevicePtr, source unsafe.Pointer, bytes int64, stream Stream) error {
	return call("cuMemcpyHtoDAsync_v2", uintptr(destination), uintptr(source), uintptr(bytes), stream.handle)
}

// MemcpyDtoHAsync puts a copy from the device on a stream. destination is pinned, and holds nothing until the copy is
// done.
func MemcpyDtoHAsync(destination unsafe.Pointer, source DevicePtr, bytes int64, stream Stream) error {
	return call("cuMemcpyDtoHAsync_v2", uintptr(destination), uintptr(source), uintptr(bytes), stream.handle)
}

// MemcpyDtoDAsync puts a copy within the device on a stream.
func MemcpyDtoDAsync(destination, source DevicePtr, bytes int64, stream Stream) error {
	return call("cuMemcpyDtoDAsync_v2", uintptr(destination), uintptr(source), uintptr(bytes), stream.handle)
}

// MemsetD8Async puts the filling of n bytes on a stream.
func MemsetD8Async(destination DevicePtr, value byte, n int64, stream Stream) error {
	return call("cuMemsetD8Async", uintptr(destination), uintptr(value), uintptr(n), stream.handle)
}

// HostAllocFlags say what pinned memory is for.
type HostAllocFlags uint32

const (
	HostAllocPortable      HostAllocFlags = 1 // pinned for the contexts of all devices
	HostAllocWriteCombined HostAllocFlags = 4 // past the caches: the host writes in order; its reads are very slow
)

// MemHostAlloc allocates host memory that stays where it is, so that the device can copy it by itself. Go's collector
// knows nothing of it: no pointers go in, and MemFreeHost ends it. It takes about 0.5 s a GB.
func MemHostAlloc(bytes int64, flags HostAllocFlags) (unsafe.Pointer, error) {
	var address unsafe.Pointer
	err := callGo("cuMemHostAlloc", uintptr(unsafe.Pointer(&address)), uintptr(bytes), uintptr(flags))
	return address, err
}

// MemFreeHost frees what MemHostAlloc gave. No slice of it may be used any more.
func MemFreeHost(address unsafe.Pointer) error { return call("cuMemFreeHost", uintptr(address)) }
