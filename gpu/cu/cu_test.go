package cu_test

import (
	"errors"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// ptx is as much of a module as the fake driver asks for.
var ptx = []byte(".version 6.0\n.target sm_70\n.address_size 64\n.visible .entry add(\n)\n{ ret; }\n")

// current makes a context current for the length of the test.
func current(t *testing.T) cu.CUContext {
	t.Helper()
	device, err := cu.GetDevice(0)
	fatal.If(t, err)
	ctx, err := device.RetainPrimaryCtx()
	fatal.If(t, err)
	fatal.If(t, lock(ctx))
	t.Cleanup(func() {
		if err := errors.Join(unlock(), device.ReleasePrimaryCtx()); err != nil && !lost(err) {
			t.Error(err)
		}
	})
	return ctx
}

// lock makes a context current for the calling goroutine, which stays on its thread.
func lock(ctx cu.CUContext) error {
	runtime.LockOSThread()
	return cu.SetCurrentContext(ctx)
}

func unlock() error {
	defer runtime.UnlockOSThread()
	return cu.SetCurrentContext(cu.CUContext{})
}

func lost(err error) bool {
	var status cu.Result
	return errors.As(err, &status) && status.Lost()
}

// must returns a call's result, and ends the test if it failed.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// pinned is n float64 of pinned memory, freed by free.
func pinned(n int) (values []float64, free func() error) {
	address := must(cu.MemHostAlloc(int64(n)*8, cu.HostAllocPortable))
	return unsafe.Slice((*float64)(address), n), func() error { return cu.MemFreeHost(address) }
}

func write(t *testing.T, file, text string) {
	t.Helper()
	fatal.If(t, os.WriteFile(file, []byte(text), 0o600))
}

func TestUnavailable(t *testing.T) {
	f := func(library string) {
		t.Helper()
		if err := cu.Open(cu.Options{Library: library}); !errors.Is(err, cu.ErrUnavailable) {
			t.Errorf("Open %q: %v", library, err)
		}
	}
	if _, err := cu.NumDevices(); err == nil {
		t.Skip("another test opened the driver; a process has one")
	}
	f("no-such-library.so")
	f("libc.so.6") // a library, without the symbols
}

func TestDevice(t *testing.T) {
	driver := cutest.Open(t)
	driver.SetDevices(2)
	if n := must(cu.NumDevices()); n != 2 {
		t.Errorf("%d devices", n)
	}
	if v := must(cu.Version()); v != 13000 {
		t.Errorf("version %d", v)
	}
	device := must(cu.GetDevice(1))
	if name := must(device.Name()); name != "Fake device 1" {
		t.Errorf("name %q", name)
	}
	if bytes := must(device.TotalMem()); bytes != 256<<20 {
		t.Errorf("%d bytes", bytes)
	}
	if major, minor, err := device.ComputeCapability(); err != nil || major != 9 || minor != 0 {
		t.Error(major, minor, err)
	}
	if _, err := cu.GetDevice(2); !errors.Is(err, cu.InvalidDevice) ||
		!strings.Contains(err.Error(), "CUDA_ERROR_INVALID_DEVICE (101): invalid device ordinal") {
		t.Error(err)
	}
}

func TestStatusesHaveText(t *testing.T) {
	cutest.Open(t)
	if got := cu.OutOfMemory.Error(); got != "CUDA_ERROR_OUT_OF_MEMORY (2): out of memory" {
		t.Error(got)
	}
	if got := cu.Result(12345).Error(); got != "CUDA status 12345" {
		t.Error(got)
	}
}

func TestContextIsPerThread(t *testing.T) {
	driver := cutest.Open(t)
	ctx := current(t)
	var without error
	done := make(chan struct{})
	go func() { // locked, it is on another thread than the test
		defer close(done)
		runtime.LockOSThread()
		_, without = cu.MemAlloc(8)
	}()
	<-done
	if !errors.Is(without, cu.InvalidContext) {
		t.Error(without)
	}
	driver.ExpectFaults("cuMemAlloc_v2: no context is current")

	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			if err := lock(ctx); err != nil {
				t.Error(err)
				return
			}
			address := must(cu.MemAlloc(64))
			if err := errors.Join(cu.MemFree(address), unlock()); err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
}

func TestCopies(t *testing.T) {
	cutest.Open(t)
	current(t)
	up, freeUp := pinned(1000)
	down, freeDown := pinned(1000)
	for i := range up {
		up[i] = float64(i) * 1.5
	}
	want := slices.Clone(up)
	a, b := must(cu.MemAlloc(8000)), must(cu.MemAlloc(8000))
	stream := must(cu.MakeStream(cu.NonBlocking))
	fatal.If(t, cu.MemcpyHtoDAsync(a, unsafe.Pointer(&up[0]), 8000, stream), cu.MemcpyDtoDAsync(b, a, 8000, stream),
		cu.MemsetD8Async(a, 0, 8000, stream), cu.MemcpyDtoHAsync(unsafe.Pointer(&down[0]), b, 8000, stream))
	if slices.Equal(down, want) {
		t.Error("the result is there before anybody waited: the fake driver is too kind")
	}
	fatal.If(t, stream.Synchronize())
	if !slices.Equal(down, want) {
		t.Error("copied there and back, values differ")
	}
	fatal.If(t, cu.MemsetD8Async(a, 0x3f, 8000, stream), cu.MemcpyDtoHAsync(unsafe.Pointer(&down[0]), a, 8000, stream),
		stream.Synchronize())
	if bits := math.Float64bits(down[999]); bits != 0x3f3f3f3f_3f3f3f3f {
		t.Errorf("filled with %#x", bits)
	}
	free, total, err := cu.MemInfo()
	if err != nil || total-free != 2*8000 {
		t.Error(free, total, err)
	}
	fatal.If(t, cu.MemFree(a), cu.MemFree(b), stream.Destroy(), freeUp(), freeDown())
}

func TestMisuseIsSeen(t *testing.T) {
	driver := cutest.Open(t)
	current(t)
	values, free := pinned(8)
	stream := must(cu.MakeStream(cu.NonBlocking))
	address := must(cu.MemAlloc(64))
	f := func(err error, want cu.Result, fault string) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("got %v, want %v", err, want)
		}
		driver.ExpectFaults(fault)
	}
	at := unsafe.Pointer(&values[0])
	f(cu.MemcpyHtoDAsync(address, at, 65, stream), cu.InvalidValue, "65 bytes")
	f(cu.MemcpyHtoDAsync(address+8, at, 64, stream), cu.InvalidValue, "of device memory")
	unpinned := make([]float64, 8)
	f(cu.MemcpyDtoHAsync(unsafe.Pointer(&unpinned[0]), address, 64, stream), cu.InvalidValue, "of pinned memory")
	f(cu.MemsetD8Async(address, 1, 65, stream), cu.InvalidValue, "cuMemsetD8Async")
	fatal.If(t, cu.MemFree(address))
	f(cu.MemFree(address), cu.InvalidValue, "freed before")
	fatal.If(t, free(), stream.Destroy())
	f(stream.Synchronize(), cu.InvalidHandle, "destroyed")
	if _, err := cu.MemAlloc(1 << 40); !errors.Is(err, cu.OutOfMemory) {
		t.Error(err)
	}
	if _, err := cu.LoadData([]byte("void main() {}")); !errors.Is(err, cu.InvalidPTX) ||
		!strings.Contains(err.Error(), "line 1: this is no PTX") {
		t.Error(err)
	}
}

func TestLeaksAreSeen(t *testing.T) {
	driver := cutest.Open(t)
	current(t)
	address := must(cu.MemAlloc(100))
	if got := driver.Leaks(); !strings.Contains(got, "device memory: 100 bytes") ||
		!strings.Contains(got, "context of device 0") {
		t.Errorf("leaks: %s", got)
	}
	fatal.If(t, cu.MemFree(address))
}

// A later test may free pinned memory that an earlier one left behind on purpose: that is no misuse.
func TestMemoryOfAnEarlierTestIsFreed(t *testing.T) {
	var address unsafe.Pointer
	t.Run("earlier", func(t *testing.T) {
		cutest.Open(t).Abandon()
		current(t)
		values, _ := pinned(8)
		address = unsafe.Pointer(&values[0])
	})
	driver := cutest.Open(t)
	current(t)
	fatal.If(t, cu.MemFreeHost(address))
	if err := cu.MemFreeHost(address); !errors.Is(err, cu.InvalidValue) {
		t.Errorf("freed twice: %v", err)
	}
	driver.ExpectFaults("freed before")
}

// kernels is what the compiler makes of gpu/kernels for the host, in small.
const kernels = `
#include <stdint.h>
struct params { const double *in; double *out; int64_t n; uint32_t times; uint32_t pad; double plus; };
void scale_host(const void *packed, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared) {
    const struct params *p = packed;
    (void)gy; (void)gz; (void)by; (void)bz; (void)shared;
    for (uint64_t i = 0; i < (uint64_t)gx * bx && i < (uint64_t)p->n; i++) p->out[i] = p->in[i] * p->times + p->plus;
}
void stray_host(const void *packed, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared) {
    (void)gx; (void)gy; (void)gz; (void)bx; (void)by; (void)bz; (void)shared;
    ((const struct params *)packed)->out[((const struct params *)packed)->n] = 1;
}
`

func TestLaunchRunsHostKernels(t *testing.T) {
	driver := cutest.Open(t)
	current(t)
	dir := t.TempDir()
	write(t, filepath.Join(dir, "kernels.c"), kernels)
	driver.LoadKernels(cutest.Compile(t, filepath.Join(dir, "libkernels.so"), filepath.Join(dir, "kernels.c")))
	module := must(cu.LoadData([]byte(".version 6.0\n.entry scale(\n.entry stray(\n")))
	scale, stray := must(module.Function("scale")), must(module.Function("stray"))
	if _, err := module.Function("scal"); !errors.Is(err, cu.NotFound) {
		t.Error(err)
	}
	in, freeIn := pinned(300)
	for i := range in {
		in[i] = float64(i)
	}
	out, freeOut := pinned(300)
	from, to := must(cu.MemAlloc(2400)), must(cu.MemAlloc(2400))
	stream := must(cu.MakeStream(cu.NonBlocking))
	params := new(cu.Params).Ptr(from).Ptr(to).I64(300).U32(3).F64(0.5)
	fatal.If(t, cu.MemcpyHtoDAsync(from, unsafe.Pointer(&in[0]), 2400, stream),
		scale.Launch(2, 1, 1, 256, 1, 1, 0, stream, params))
	params.Reset().Ptr(0).U32(1) // the launch keeps what it was given
	fatal.If(t, cu.MemcpyDtoHAsync(unsafe.Pointer(&out[0]), to, 2400, stream), stream.Synchronize())
	for i, v := range out {
		if v != float64(i)*3+0.5 {
			t.Fatalf("out[%d] = %v", i, v)
		}
	}
	if got := driver.Launches(); !slices.Equal(got, []string{"scale 2,1,1 256,1,1 0 40"}) {
		t.Errorf("launches %q", got)
	}

	fatal.If(t, stray.Launch(1, 1, 1, 1, 1, 1, 0, stream, params.Reset().Ptr(from).Ptr(to).I64(300).U32(3).F64(0)),
		stream.Synchronize())
	driver.ExpectFaults("written outside an allocation of 2400 bytes, at 2400")
	fatal.If(t, cu.MemFree(from))
	fatal.If(t, cu.MemFree(to))
	driver.ExpectFaults("written outside") // seen again when it is freed
	fatal.If(t, freeIn(), freeOut(), stream.Destroy(), module.Unload())
}

func TestLaunchChecks(t *testing.T) {
	driver := cutest.Open(t)
	current(t)
	module := must(cu.LoadData(ptx))
	add := must(module.Function("add"))
	params := new(cu.Params)
	launch := func(block, shared int) error { return add.Launch(1, 1, 1, block, 1, 1, shared, cu.Stream{}, params) }
	fatal.If(t, launch(1024, 48<<10))
	if err := launch(1025, 0); !errors.Is(err, cu.InvalidValue) {
		t.Error(err)
	}
	if err := launch(1, 64<<10); !errors.Is(err, cu.InvalidValue) {
		t.Error(err)
	}
	driver.ExpectFaults("not possible")
	fatal.If(t, add.SetAttribute(cu.FnMaxDynamicSharedBytes, 64<<10), launch(1, 64<<10))
	for range maxParams + 1 {
		params.I64(1)
	}
	if err := launch(1, 0); !errors.Is(err, cu.ErrParams) {
		t.Error(err)
	}
	params.Reset()
	fatal.If(t, launch(1, 0))
	fatal.If(t, module.Unload())
}

// maxParams is how many words fit.
const maxParams = 4096 / 8

func TestMisalignedParameterLosesTheDevice(t *testing.T) {
	driver := cutest.Open(t)
	current(t)
	module := must(cu.LoadData(ptx))
	add := must(module.Function("add"))
	address := must(cu.MemAlloc(64))
	driver.Fail("no call", 0, cu.MisalignedAddress) // says that the device will be lost
	err := add.Launch(1, 1, 1, 1, 1, 1, 0, cu.Stream{}, new(cu.Params).Ptr(address+4))
	if !errors.Is(err, cu.MisalignedAddress) || !lost(err) {
		t.Error(err)
	}
	driver.ExpectFaults("no multiple of 8")
	if _, err := cu.MemAlloc(8); !lost(err) {
		t.Error("the device lives on:", err)
	}
}

func TestEvents(t *testing.T) {
	cutest.Open(t)
	current(t)
	up, down := must(cu.MakeStream(cu.NonBlocking)), must(cu.MakeStream(cu.NonBlocking))
	start, end, unrecorded := must(cu.MakeEvent(cu.DefaultEvent)), must(cu.MakeEvent(cu.DefaultEvent)), must(
		cu.MakeEvent(cu.DisableTiming))
	host, free := pinned(2)
	address := must(cu.MemAlloc(8))
	host[0], host[1] = 42, 0
	fatal.If(t, unrecorded.Query(), down.Wait(unrecorded))
	fatal.If(t, start.Record(up), cu.MemcpyHtoDAsync(address, unsafe.Pointer(&host[0]), 8, up), end.Record(up),
		down.Wait(end), cu.MemcpyDtoHAsync(unsafe.Pointer(&host[1]), address, 8, down))
	if err := end.Query(); !errors.Is(err, cu.NotReady) {
		t.Error(err)
	}
	if _, err := start.Elapsed(end); !errors.Is(err, cu.NotReady) {
		t.Error(err)
	}
	fatal.If(t, down.Synchronize()) // which needs the other stream up to the event
	if host[1] != 42 {
		t.Errorf("copied %v: the wait was not heeded", host[1])
	}
	fatal.If(t, end.Query(), end.Synchronize())
	if ms, err := start.Elapsed(end); err != nil || ms <= 0 {
		t.Error(ms, err)
	}
	fatal.If(t, cu.DestroyEvent(start), cu.DestroyEvent(end), cu.DestroyEvent(unrecorded), up.Destroy(), down.Destroy(),
		free(), cu.MemFree(address))
}

func TestInjectedFailure(t *testing.T) {
	driver := cutest.Open(t)
	current(t)
	driver.Fail("cuMemAlloc_v2", 2, cu.OutOfMemory)
	address := must(cu.MemAlloc(8))
	if _, err := cu.MemAlloc(8); !errors.Is(err, cu.OutOfMemory) {
		t.Error(err)
	}
	fatal.If(t, cu.MemFree(address))
	driver.Fail("", 1, cu.IllegalAddress)
	if _, _, err := cu.MemInfo(); !errors.Is(err, cu.IllegalAddress) {
		t.Error(err)
	}
	if _, _, err := cu.MemInfo(); !lost(err) {
		t.Error("the device lives on:", err)
	}
}

// The calls of a batch must not make garbage.
func TestBatchCallsAllocateNothing(t *testing.T) {
	cutest.Open(t)
	current(t)
	module := must(cu.LoadData(ptx))
	add := must(module.Function("add"))
	host, free := pinned(8)
	address := must(cu.MemAlloc(64))
	stream, event := must(cu.MakeStream(cu.NonBlocking)), must(cu.MakeEvent(cu.DisableTiming))
	params := new(cu.Params)
	at := unsafe.Pointer(&host[0])
	allocs := testing.AllocsPerRun(50, func() {
		fatal.If(t, cu.MemcpyHtoDAsync(address, at, 64, stream),
			add.Launch(1, 1, 1, 32, 1, 1, 0, stream, params.Reset().Ptr(address).I64(8)),
			cu.MemcpyDtoHAsync(at, address, 64, stream), event.Record(stream), stream.Wait(event), stream.Synchronize())
	})
	if allocs > 0 && !cutest.Race {
		t.Errorf("%v allocations", allocs)
	}
	fatal.If(t, module.Unload(), cu.DestroyEvent(event), stream.Destroy(), cu.MemFree(address), free())
}
