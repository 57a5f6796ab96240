package devices_test

import (
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/cmd/shared/devices"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/tests/devicetest"
)

// The CPU does what comes before the devices are there.
func TestResamplerBeforeItsDevices(t *testing.T) {
	driver := devicetest.HostKernels(t)
	if driver == nil {
		t.Skip("launches are the fake driver's to count")
	}
	r := devices.NewResampler()
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean})
	batch := &carbonara.Batch{Timestamps: []carbonara.Timestamp{1e9, 2e9}, Values: []float64{1, 2},
		Series: []carbonara.Series{{Plan: plan, To: 2}}}
	f := func(onDevice bool) {
		t.Helper()
		launches := len(driver.Launches())
		var result carbonara.Result
		defer result.Release()
		if err := r.Resample(t.Context(), batch, &result); err != nil {
			t.Fatal(err)
		}
		_, values := result.Groups(0, 0).Aggregate(carbonara.Mean, nil, nil)
		if !slices.Equal(values, []float64{1.5}) {
			t.Error(values)
		}
		if launched := len(driver.Launches()) > launches; launched != onDevice {
			t.Errorf("launched %v", launched)
		}
		columns := r.Allocate(10)
		if (columns.Memory != nil) != onDevice {
			t.Errorf("lends %v", columns.Memory)
		}
		if columns.Memory != nil {
			columns.Memory.Release()
		}
		if carbonara.Accelerates(r, plan, 2, 1, 1) != onDevice {
			t.Error("accelerates", !onDevice)
		}
	}
	f(false)
	dev := devicetest.Open(t, device.Options{})
	r.Use(resample.New([]*device.Device{dev}, resample.Options{Workers: 1, Always: true}))
	f(true)
}
