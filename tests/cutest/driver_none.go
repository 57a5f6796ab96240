//go:build !linux || !(amd64 || arm64) || nogpu

package cutest

import (
	"testing"

	"github.com/gnocco-db/gnocco/gpu/cu"
)

// Driver is the fake driver of this process, which package cu cannot load here.
type Driver struct{}

// Open skips the test.
func Open(t testing.TB) *Driver {
	t.Skip("package cu is built without the loader")
	return nil
}

func (d *Driver) Fail(string, int, cu.Result) {}
func (d *Driver) SetMemory(int64)             {}
func (d *Driver) SetDevices(int)              {}
func (d *Driver) LoadKernels(string)          {}
func (d *Driver) Calls(string) int            { return 0 }
func (d *Driver) Launches() []string          { return nil }
func (d *Driver) Faults() string              { return "" }
func (d *Driver) ExpectFaults(...string)      {}
func (d *Driver) Leaks() string               { return "" }

// Shim stands in front of a driver.
type Shim struct{}

// Ways in which a driver goes wrong.
const (
	ShimFail = 1 + iota
	ShimLose
	ShimHang
	ShimStall
)

// OpenShim skips the test.
func OpenShim(t testing.TB, _ string) (*Shim, *Driver) { return nil, Open(t) }

func (d *Driver) Abandon()              {}
func (s *Shim) Arm(int, int, cu.Result) {}
func (s *Shim) Release()                {}
func (s *Shim) Calls() int              { return 0 }
func (s *Shim) Waiting() int            { return 0 }
