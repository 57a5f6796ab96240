package devicetest

import (
	"errors"
	"os"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/tests/cutest"
)

// Shimmed returns the shim in front of the fake driver with the kernels of this package, or of a device's.
func Shimmed(t *testing.T) *cutest.Shim {
	t.Helper()
	library := os.Getenv("GNOCCO_TEST_SHIM")
	if os.Getenv("GNOCCO_TEST_DEVICE") != "" && library == "" {
		t.Skip("the shim is not in front of the device's driver: GNOCCO_TEST_SHIM is not set")
	}
	shim, driver := cutest.OpenShim(t, library)
	if driver != nil {
		HostKernels(t).Abandon() // what a driver that hangs has, it keeps
		driver.Abandon()
	} else {
		t.Log(OnDevice(t))
	}
	return shim
}

// wrong is a way in which a driver goes wrong.
type wrong struct {
	name   string
	mode   int
	status cu.Result
}

func (w *wrong) hangs() bool { return w.mode == cutest.ShimHang || w.mode == cutest.ShimStall }

// callsPerHang is of how many calls one hangs: each costs its time.
const callsPerHang = 3

// EveryCall makes the driver go wrong at each call that work makes, one after the other: work must still succeed, on a
// device of its own, and soon. Afterwards the driver goes on, and check compares the results with those from before.
func EveryCall(t *testing.T, work func(t *testing.T, dev *device.Device) (check func())) {
	shim := Shimmed(t)
	step := 1
	switch {
	case os.Getenv("GNOCCO_TEST_DEVICE") != "":
		step = 5
	case testing.Short():
		step = 17
	}
	first, err := Open(t, device.Options{}).Open(t.Context()) // the context stays: opening again takes a moment
	if err != nil {
		t.Fatal(err)
	}
	t.Log(first.Properties)
	for _, w := range []wrong{{"invalid", cutest.ShimFail, cu.InvalidValue},
		{"memory", cutest.ShimFail, cu.OutOfMemory}, {"lost", cutest.ShimLose, cu.IllegalAddress},
		{"hang", cutest.ShimHang, 0}, {"stall", cutest.ShimStall, 0}} {
		t.Run(w.name, func(t *testing.T) {
			n, step := 1, step
			if w.hangs() {
				step = max(step, callsPerHang)
			}
			for ; ; n += step {
				options := device.Options{MemoryBytes: 256 << 20}
				if w.hangs() {
					options.JobTimeout, options.OpenTimeout = 150*time.Millisecond, 600*time.Millisecond
				}
				dev, err := device.New(options)
				if err != nil {
					t.Fatal(err)
				}
				started := time.Now()
				shim.Arm(w.mode, n, w.status)
				check := work(t, dev)
				took, calls, hung := time.Since(started), shim.Calls(), shim.Waiting()
				if hung > 0 && !errors.Is(dev.Err(), device.ErrTimeout) {
					t.Errorf("call %d: %d calls hang, but the device's state is %v", n, hung, dev.Err())
				}
				if w.hangs() && took > 20*time.Second {
					t.Errorf("call %d: took %v", n, took)
				}
				shim.Release()
				if err := dev.Close(); err != nil {
					t.Error(err)
				}
				for deadline := time.Now().Add(10 * time.Second); shim.Waiting() > 0 && time.Now().Before(deadline); {
					time.Sleep(time.Millisecond)
				}
				check()
				if t.Failed() {
					t.Fatalf("call %d", n)
				}
				if calls < n {
					break
				}
			}
			t.Logf("%d calls", n-1)
			if n < 40 {
				t.Error("there were fewer calls than a batch makes")
			}
		})
	}
}
