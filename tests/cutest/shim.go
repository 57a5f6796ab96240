//go:build linux && (amd64 || arm64) && !nogpu

package cutest

import (
	"testing"

	"github.com/ebitengine/purego"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Shim stands in front of the process's driver: driver/shim.c says how it goes wrong.
type Shim struct {
	arm     func(mode int32, nth int, status int32)
	calls   func() int
	waiting func() int32
}

// Ways in which a driver goes wrong.
const (
	ShimFail  = 1 // one call fails
	ShimLose  = 2 // all do from then on
	ShimHang  = 3 // no call returns any more
	ShimStall = 4 // nothing that is queued comes to its end
)

// OpenShim returns the shim in front of the fake driver, and that; or, of a library that was built before, the shim in
// front of the system's: then no test before it has opened another driver.
func OpenShim(t testing.TB, library string) (*Shim, *Driver) {
	t.Helper()
	if library != "" {
		if err := cu.Open(cu.Options{Library: library}); err != nil {
			t.Fatal(err)
		}
		return openShim(t, library), nil
	}
	driver := Open(t)
	t.Cleanup(loading.shim.Release)
	return loading.shim, driver
}

func openShim(t testing.TB, library string) *Shim {
	t.Helper()
	handle, err := purego.Dlopen(library, purego.RTLD_NOW)
	if err != nil {
		t.Fatal(err)
	}
	s := new(Shim)
	purego.RegisterLibFunc(&s.arm, handle, "shim_arm")
	purego.RegisterLibFunc(&s.calls, handle, "shim_calls")
	purego.RegisterLibFunc(&s.waiting, handle, "shim_waiting")
	return s
}

// Arm makes the nth call from now on go wrong.
func (s *Shim) Arm(mode, nth int, status cu.Result) { s.arm(int32(mode), nth, int32(status)) }

// Release lets calls go on that hang, and the driver be well again.
func (s *Shim) Release() { s.arm(0, 0, 0) }

// Calls returns how many calls there were since the shim was armed.
func (s *Shim) Calls() int { return s.calls() }

// Waiting returns how many of them hang.
func (s *Shim) Waiting() int { return int(s.waiting()) }
