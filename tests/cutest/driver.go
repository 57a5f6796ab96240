//go:build linux && (amd64 || arm64) && !nogpu

package cutest

import (
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/ebitengine/purego"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Driver is the fake driver of this process. Tests that use it do not run in parallel.
type Driver struct {
	t    testing.TB
	lost bool // a device was made to fail permanently, and keeps its memory

	c *controls
}

// controls are the library's functions for tests.
type controls struct {
	reset    func()
	fail     func(name string, nth, status, lost int32)
	memory   func(total uintptr)
	devices  func(n int32)
	calls    func(name string) int
	kernels  func(path string) int32
	launches func() string
	faults   func() string
	forget   func()
	leaks    func() string
}

var loading struct {
	sync.Mutex
	controls *controls
	shim     *Shim
}

// Open makes the fake driver package cu's, in its first state: one device with 256 MiB. When the test ends, what was
// misused and not freed fails it.
func Open(t testing.TB) *Driver {
	t.Helper()
	d := &Driver{t: t, c: load(t)}
	d.c.reset()
	d.c.memory(256 << 20)
	d.c.devices(1)
	d.c.kernels("")
	if err := cu.Open(cu.Options{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if faults := d.Faults(); faults != "" {
			t.Errorf("misuse of the driver:\n%s", faults)
		}
		if leaks := d.Leaks(); leaks != "" && !d.lost {
			t.Errorf("not freed:\n%s", leaks)
		}
	})
	return d
}

// load builds and opens the library, once a process.
func load(t testing.TB) *controls {
	t.Helper()
	loading.Lock()
	defer loading.Unlock()
	if loading.controls != nil {
		return loading.controls
	}
	dir, err := os.MkdirTemp("", "cutest")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir) // what is loaded stays loaded
	library := Build(t, dir)
	shim := BuildShim(t, dir)
	t.Setenv("SHIM_DRIVER", library)
	if err := cu.Open(cu.Options{Library: shim}); err != nil {
		t.Fatal(err)
	}
	if device, err := cu.GetDevice(0); err == nil {
		if name, err := device.Name(); err == nil && !strings.HasPrefix(name, "Fake") {
			t.Skip("this process has the system's CUDA driver; the fake one cannot take its place")
		}
	}
	handle, err := purego.Dlopen(library, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := purego.Dlsym(handle, "fake_reset"); err != nil {
		t.Fatal(err)
	}
	c := new(controls)
	purego.RegisterLibFunc(&c.reset, handle, "fake_reset")
	purego.RegisterLibFunc(&c.fail, handle, "fake_fail")
	purego.RegisterLibFunc(&c.memory, handle, "fake_memory")
	purego.RegisterLibFunc(&c.devices, handle, "fake_devices")
	purego.RegisterLibFunc(&c.calls, handle, "fake_calls")
	purego.RegisterLibFunc(&c.kernels, handle, "fake_kernels")
	purego.RegisterLibFunc(&c.launches, handle, "fake_launches")
	purego.RegisterLibFunc(&c.faults, handle, "fake_faults")
	purego.RegisterLibFunc(&c.forget, handle, "fake_forget")
	purego.RegisterLibFunc(&c.leaks, handle, "fake_leaks")
	loading.controls = c
	loading.shim = openShim(t, shim)
	return c
}

// Fail makes the nth call from now on return status, of the function with that symbol ("cuMemAlloc_v2"), or of any if
// it is empty. If the status means that the device is lost, so do all calls after it.
func (d *Driver) Fail(symbol string, nth int, status cu.Result) {
	d.lost = d.lost || status.Lost()
	lost := int32(0)
	if status.Lost() {
		lost = 1
	}
	d.c.fail(symbol, int32(nth), int32(status), lost)
}

// Abandon says that a test leaves memory behind on purpose.
func (d *Driver) Abandon() { d.lost = true }

// SetMemory sets how many bytes each device has.
func (d *Driver) SetMemory(bytes int64) { d.c.memory(uintptr(bytes)) }

// SetDevices sets how many devices there are, 16 at most.
func (d *Driver) SetDevices(n int) { d.c.devices(int32(n)) }

// LoadKernels makes launches of a kernel NAME run the function NAME_host of a library.
func (d *Driver) LoadKernels(library string) {
	d.t.Helper()
	if d.c.kernels(library) != 0 {
		d.t.Fatalf("cannot load %s", library)
	}
}

// Calls returns how often the function with that symbol was called since Open; any function if it is empty.
func (d *Driver) Calls(symbol string) int { return d.c.calls(symbol) }

// Launches returns a line for each launch since Open: name, grid, block, bytes of shared memory and of parameters.
func (d *Driver) Launches() []string {
	text := strings.TrimSuffix(d.c.launches(), "\n")
	if text == "" {
		return nil
	}
	return strings.Split(text, "\n")
}

// Faults returns what was done to the driver that may not be, a line each.
func (d *Driver) Faults() string { return d.c.faults() }

// ExpectFaults takes the faults so far, so that they do not fail the test; they must say what is wanted.
func (d *Driver) ExpectFaults(want ...string) {
	d.t.Helper()
	faults := d.c.faults()
	for _, part := range want {
		if !strings.Contains(faults, part) {
			d.t.Errorf("faults do not tell %q:\n%s", part, faults)
		}
	}
	d.c.forget()
}

// Leaks returns what is not freed, a line each.
func (d *Driver) Leaks() string { return d.c.leaks() }
