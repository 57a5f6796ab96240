package cu

import "unsafe"

// HostAllocFlags say what pinned memory is for.
type HostAllocFlags uint32

const (
	HostAllocPortable      HostAllocFlags = 1 // pinned for the contexts of all devices
	HostAllocDeviceMap     HostAllocFlags = 2
	HostAllocWriteCombined HostAllocFlags = 4 // past the caches: the host writes in order; its reads are very slow
)

// MemHostAlloc allocates host memory that stays where it is, so that the device can copy it by itself. Go's collector
// knows nothing of it: no pointers go in, and MemFreeHost ends it. It takes about 0.5 s a GB.
func MemHostAlloc(bytes int64, flags HostAllocFlags) (unsafe.Pointer, error) {
	var address unsafe.Pointer
	err := check("cuMemHostAlloc",
		call3(loaded().memHostAlloc, uintptr(unsafe.Pointer(&address)), uintptr(bytes), uintptr(flags)))
	return address, err
}

// MemFreeHost frees what MemHostAlloc gave. No slice of it may be used any more.
func MemFreeHost(address unsafe.Pointer) error {
	return check("cuMemFreeHost", call(loaded().memFreeHost, uintptr(address)))
}
