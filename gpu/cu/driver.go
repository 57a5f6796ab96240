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

// driver is the addresses of the driver's functions. A header's macros do not apply to a library opened at run time, so
// names carry the suffixes of the interface that they were asked from; these stay as they are over driver versions.
type driver struct {
	init, driverGetVersion, getErrorName, getErrorString uintptr

	deviceGet, deviceGetCount, deviceGetName, deviceGetAttribute, deviceTotalMem uintptr

	primaryRetain, primaryRelease                     uintptr
	ctxSetCurrent                                     uintptr
	moduleLoadDataEx, moduleUnload, moduleGetFunction uintptr
	funcSetAttribute                                  uintptr
	launchKernel                                      uintptr

	memAlloc, memFree, memGetInfo                     uintptr
	memHostAlloc, memFreeHost                         uintptr
	memcpyHtoDAsync, memcpyDtoHAsync, memcpyDtoDAsync uintptr
	memsetD8Async                                     uintptr

	streamCreate, streamDestroy, streamSynchronize, streamWaitEvent uintptr

	eventCreate, eventDestroy, eventRecord, eventQuery, eventSynchronize, eventElapsed uintptr
}

// symbol is a name and where its address goes.
type symbol struct {
	name string
	at   *uintptr
}

func (d *driver) symbols() []symbol {
	return []symbol{
		{"cuInit", &d.init},
		{"cuDriverGetVersion", &d.driverGetVersion},
		{"cuGetErrorName", &d.getErrorName},
		{"cuGetErrorString", &d.getErrorString},
		{"cuDeviceGet", &d.deviceGet},
		{"cuDeviceGetCount", &d.deviceGetCount},
		{"cuDeviceGetName", &d.deviceGetName},
		{"cuDeviceGetAttribute", &d.deviceGetAttribute},
		{"cuDeviceTotalMem_v2", &d.deviceTotalMem},
		{"cuDevicePrimaryCtxRetain", &d.primaryRetain},
		{"cuDevicePrimaryCtxRelease_v2", &d.primaryRelease},
		{"cuCtxSetCurrent", &d.ctxSetCurrent},
		{"cuModuleLoadDataEx", &d.moduleLoadDataEx},
		{"cuModuleUnload", &d.moduleUnload},
		{"cuModuleGetFunction", &d.moduleGetFunction},
		{"cuFuncSetAttribute", &d.funcSetAttribute},
		{"cuLaunchKernel", &d.launchKernel},
		{"cuMemAlloc_v2", &d.memAlloc},
		{"cuMemFree_v2", &d.memFree},
		{"cuMemGetInfo_v2", &d.memGetInfo},
		{"cuMemHostAlloc", &d.memHostAlloc},
		{"cuMemFreeHost", &d.memFreeHost},
		{"cuMemcpyHtoDAsync_v2", &d.memcpyHtoDAsync},
		{"cuMemcpyDtoHAsync_v2", &d.memcpyDtoHAsync},
		{"cuMemcpyDtoDAsync_v2", &d.memcpyDtoDAsync},
		{"cuMemsetD8Async", &d.memsetD8Async},
		{"cuStreamCreate", &d.streamCreate},
		{"cuStreamDestroy_v2", &d.streamDestroy},
		{"cuStreamSynchronize", &d.streamSynchronize},
		{"cuStreamWaitEvent", &d.streamWaitEvent},
		{"cuEventCreate", &d.eventCreate},
		{"cuEventDestroy_v2", &d.eventDestroy},
		{"cuEventRecord", &d.eventRecord},
		{"cuEventQuery", &d.eventQuery},
		{"cuEventSynchronize", &d.eventSynchronize},
		{"cuEventElapsedTime", &d.eventElapsed},
	}
}

var (
	opening sync.Mutex
	opened  atomic.Pointer[driver] // nil until Open succeeded; a process keeps its one driver
	absent  driver                 // its addresses are 0: calls report NotInitialized
)

// loaded returns the driver, or one without functions before Open.
func loaded() *driver {
	if d := opened.Load(); d != nil {
		return d
	}
	return &absent
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
	if status := call(d.init, 0); status != Success {
		return fmt.Errorf("%w: cuInit: %s", ErrUnavailable, d.text(status))
	}
	var count int32
	if status := call(d.deviceGetCount, uintptr(unsafe.Pointer(&count))); status != Success {
		return fmt.Errorf("%w: cuDeviceGetCount: %s", ErrUnavailable, d.text(status))
	}
	if count == 0 {
		return fmt.Errorf("%w: the driver sees none", ErrUnavailable)
	}
	opened.Store(d)
	return nil
}

// load finds all of the driver's functions in a library.
func load(library string) (*driver, error) {
	names := []string{"libcuda.so.1", "libcuda.so"}
	if library != "" {
		names = []string{library}
	}
	handle, err := openLibrary(names)
	if err != nil {
		return nil, err
	}
	d := new(driver)
	for _, symbol := range d.symbols() {
		if *symbol.at, err = lookUp(handle, symbol.name); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// Version returns the driver's version of the API: 13000 for 13.0.
func Version() (int, error) {
	var version int32
	err := check("cuDriverGetVersion", call(loaded().driverGetVersion, uintptr(unsafe.Pointer(&version))))
	return int(version), err
}
