package cu

import "unsafe"

// DevicePtr is an address in device memory, which Go code cannot read. Kernels want what they read of N bytes at once
// at multiples of N.
type DevicePtr uintptr

// MemAlloc allocates device memory, at a multiple of 256. It waits for the device and takes about 50 µs: keep what you
// get.
func MemAlloc(bytes int64) (DevicePtr, error) {
	var address DevicePtr
	err := check("cuMemAlloc", call2(loaded().memAlloc, uintptr(unsafe.Pointer(&address)), uintptr(bytes)))
	return address, err
}

// MemFree frees what MemAlloc gave.
func MemFree(address DevicePtr) error {
	return check("cuMemFree", call(loaded().memFree, uintptr(address)))
}

// MemInfo returns how much memory the current context's device has left, and has.
func MemInfo() (free, total int64, err error) {
	err = check("cuMemGetInfo",
		call2(loaded().memGetInfo, uintptr(unsafe.Pointer(&free)), uintptr(unsafe.Pointer(&total))))
	return free, total, err
}

// MemcpyHtoDAsync puts a copy to the device on a stream. source is pinned, and is left alone until the copy is done.
func MemcpyHtoDAsync(destination DevicePtr, source unsafe.Pointer, bytes int64, stream Stream) error {
	return check("cuMemcpyHtoDAsync",
		call4(loaded().memcpyHtoDAsync, uintptr(destination), uintptr(source), uintptr(bytes), stream.handle))
}

// MemcpyDtoHAsync puts a copy from the device on a stream. destination is pinned, and holds nothing until the copy is
// done.
func MemcpyDtoHAsync(destination unsafe.Pointer, source DevicePtr, bytes int64, stream Stream) error {
	return check("cuMemcpyDtoHAsync",
		call4(loaded().memcpyDtoHAsync, uintptr(destination), uintptr(source), uintptr(bytes), stream.handle))
}

// MemcpyDtoDAsync puts a copy within the device on a stream.
func MemcpyDtoDAsync(destination, source DevicePtr, bytes int64, stream Stream) error {
	return check("cuMemcpyDtoDAsync",
		call4(loaded().memcpyDtoDAsync, uintptr(destination), uintptr(source), uintptr(bytes), stream.handle))
}

// MemsetD8Async puts the filling of n bytes on a stream.
func MemsetD8Async(destination DevicePtr, value byte, n int64, stream Stream) error {
	return check("cuMemsetD8Async",
		call4(loaded().memsetD8Async, uintptr(destination), uintptr(value), uintptr(n), stream.handle))
}
