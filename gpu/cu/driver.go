package cu

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"
)

// ErrUnavailable is what Open reports where there is no CUDA device to work with: no driver library, one that lacks a
// symbol, one that refuses to start, or no device.
var ErrUnavailable = errors.New("no CUDA device available")

// Options says where the driver is.
type Options struct {
	// Library is the path of the driver's library; empty for the system's libcuda.
	Library string
}

// symbols are the driver's functions. A header's macros do not apply to a library opened at run time, so names carry
// the suffixes of the interface that they were asked from; these stay as they are over driver versions.
var symbols = [...]string{
	"cuInit", "cuDriverGetVersion", "cuGetErrorName", "cuGetErrorString", "cuDeviceGet", "cuDeviceGetCount",
	"cuDeviceGetName", "cuDeviceGetAttribute", "cuDeviceTotalMem_v2", "cuDevicePrimaryCtxRetain",
	"cuDevicePrimaryCtxRelease_v2", "cuCtxSetCurrent", "cuModuleLoadDataEx", "cuModuleUnload", "cuModuleGetFunction",
	"cuFuncSetAttribute", "cuLaunchKernel", "cuMemAlloc_v2", "cuMemFree_v2", "cuMemGetInfo_v2", "cuMemHostAlloc",
	"cuMemFreeHost", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemcpyDtoDAsync_v2", "cuMemsetD8Async",
	"cuStreamCreate", "cuStreamDestroy_v2", "cuStreamSynchronize", "cuStreamWaitEvent", "cuEventCreate",
	"cuEventDestroy_v2", "cuEventRecord", "cuEventQuery", "cuEventSynchronize", "cuEventElapsedTime",
}

// driver is the addresses of the driver's functions.
type driver map[string]uintptr

var (
	opening sync.Mutex
	opened  atomic.Pointer[driver] // nil until Open succeeded; a process keeps its one driver
)

// loaded returns the driver, or one without functions before Open.
func loaded() driver {
	if d := opened.Load(); d != nil {
		return *d
	}
	return nil
}

// Open loads and starts the driver, which takes 0.1 to 0.3 s. Once it succeeded, further calls return at once, with any
// options. A failure is not remembered.
func Open(options Options) error {
	opening.Lock()
	defer opening.Unlock()
	if opened.Load() != nil {
		return nil
	}
	d, err := load(options.Library)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	if status := d.call("cuInit", 0); status != Success {
		return fmt.Errorf("%w: cuInit: %s", ErrUnavailable, d.text(status))
	}
	var count int32
	if status := d.callGo("cuDeviceGetCount", uintptr(unsafe.Pointer(&count))); status != Success {
		return fmt.Errorf("%w: cuDeviceGetCount: %s", ErrUnavailable, d.text(status))
	}
	if count == 0 {
		return fmt.Errorf("%w: the driver sees none", ErrUnavailable)
	}
	opened.Store(&d)
	return nil
}

// load finds all of the driver's functions in a library.
func load(library string) (driver, error) {
	names := []string{"libcuda.so.1", "libcuda.so"}
	if library != "" {
		names = []string{library}
	}
	handle, err := openLibrary(names)
	if err != nil {
		return nil, err
	}
	d := make(driver, len(symbols))
	for _, name := range symbols {
		if d[name], err = lookUp(handle, name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Version returns the driver's version of the API: 13000 for 13.0.
func Version() (int, error) {
	var version int32
	err := callGo("cuDriverGetVersion", uintptr(unsafe.Pointer(&version)))
	return int(version), err
}
