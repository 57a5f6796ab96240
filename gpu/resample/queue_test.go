package resample_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// A batch that waits longer for a device than the CPU takes goes to the CPU. The device works for a part of its cost
// only: while the host packs, others have it.
func TestQueuedBatches(t *testing.T) {
	driver := devicetest.HostKernels(t)
	if driver == nil {
		t.Skip("launches are the fake driver's to count")
	}
	r := resample.New([]*device.Device{devicetest.Open(t, device.Options{})}, resample.Options{Workers: 1})
	timestamps, values := shape{n: 1000, step: 10 * time.Second, unit: 1}.series(rand.New(rand.NewPCG(5, 6)))
	batch := &carbonara.Batch{}
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, orderMethods)
	add(batch, plan, timestamps, values)
	jobs, held := make(chan struct{}), make(chan struct{})
	r.HoldJobs(jobs, held)
	first := make(chan error)
	for _, f := range []struct {
		busy           float64
		slower, faster int // measures for which a device that is twice as fast is waited for, or not
	}{{1, 1700, 1900}, {0.5, 1450, 1550}} {
		r.SetModel(resample.Model{CPU: resample.Cost{Measure: 1}, Device: resample.Cost{Batch: 600}, Busy: f.busy})
		go func() {
			var result carbonara.Result
			defer result.Release()
			first <- r.Resample(t.Context(), batch, &result)
		}()
		<-jobs
		if carbonara.Accelerates(r, plan, f.slower, 1, 1) || !carbonara.Accelerates(r, plan, f.faster, 1, 1) {
			t.Errorf("of %.1f of 600 ns, another part is waited for", f.busy)
		}
		if f.busy == 1 {
			launches := len(driver.Launches())
			compare(t, r, batch) // would wait for ever on the device
			if n := len(driver.Launches()); n != launches {
				t.Errorf("%d launches beside a busy device", n-launches)
			}
		}
		held <- struct{}{}
		if err := <-first; err != nil {
			t.Fatal(err)
		}
		if carbonara.Accelerates(r, plan, 1100, 1, 1) || !carbonara.Accelerates(r, plan, 1300, 1, 1) {
			t.Error("an idle device is waited for")
		}
	}
	r.SetModel(resample.Model{CPU: resample.Cost{Measure: 1e9}})
	if !carbonara.Accelerates(r, plan, 1000, 1, 1) || carbonara.Accelerates(r, plan, 1000, 1, 1) {
		t.Error("two batches are made beside each other")
	}
	go func() { <-jobs; held <- struct{}{} }()
	var result carbonara.Result
	defer result.Release()
	fatal.If(t, r.Resample(t.Context(), batch, &result))
	if !carbonara.Accelerates(r, plan, 1000, 1, 1) {
		t.Error("no batch is made after another one")
	}
}

// A device whose values are off by a bit is given up: at calibration, at its first chunk, or at one that is checked
// later. The chunk that is checked is computed once more, and so is all that follows.
func TestWrongDeviceIsGivenUp(t *testing.T) {
	driver := devicetest.HostKernels(t)
	if driver == nil {
		t.Skip("devices that are given up are the fake driver's")
	}
	driver.Abandon()
	rng := rand.New(rand.NewPCG(9, 10))
	batch := &carbonara.Batch{}
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean, carbonara.Max})
	for range 3 {
		timestamps, values := shape{n: 60, step: 10 * time.Second, unit: 1}.series(rng)
		add(batch, plan, timestamps, values)
	}
	wrong := func(from int64, always bool) (*device.Device, *resample.Resampler) {
		dev, err := device.New(device.Options{})
		fatal.If(t, err)
		t.Cleanup(func() { fatal.If(t, dev.Close()) })
		r := resample.New([]*device.Device{dev}, resample.Options{Workers: 1, Always: always})
		r.ComputeWrong(from)
		return dev, r
	}
	givenUp := func(dev *device.Device) bool {
		var fault *device.FaultError
		return errors.As(dev.Err(), &fault) && errors.Is(fault, device.ErrInvariant)
	}
	dev, r := wrong(0, false)
	if _, err := r.Calibrate(t.Context()); !givenUp(dev) || !errors.Is(err, device.ErrInvariant) {
		t.Errorf("calibrated: %v, device %v", err, dev.Err())
	}
	compare(t, r, batch)

	dev, r = wrong(0, true)
	compare(t, r, batch)
	if !givenUp(dev) {
		t.Error("a device that computes wrong from the first is in use")
	}
	compare(t, r, batch)

	dev, r = wrong(127, true)
	for range 63 {
		compare(t, r, batch) // twice
	}
	var want, got carbonara.Result
	onCPU(t, batch, &want)
	fatal.If(t, r.Resample(t.Context(), batch, &got))
	sameGroups(t, batch, &want, &got)
	got.Release()
	if dev.Err() != nil {
		t.Errorf("a device that computes right is given up: %v", dev.Err())
	}
	compare(t, r, batch) // the 128th chunk is checked
	if !givenUp(dev) {
		t.Error("a device that computes wrong later is in use")
	}
	compare(t, r, batch)
}

// A second device stays closed until the first one fails.
func TestSecondDevice(t *testing.T) {
	driver := devicetest.HostKernels(t)
	if driver == nil {
		t.Skip("devices are the fake driver's")
	}
	driver.SetDevices(2)
	first, second := devicetest.Open(t, device.Options{}), devicetest.Open(t, device.Options{Ordinal: 1})
	r := resample.New([]*device.Device{first, second}, resample.Options{Workers: 1})
	batch := mixed(2, 500, 1, minutePlan)
	for range 3 {
		r.SetModel(resample.Model{CPU: resample.Cost{Batch: 1e9}, Device: resample.Cost{Batch: 1e6}, Busy: 1})
		compare(t, r, batch)
	}
	if first.Ready() == nil || second.Ready() != nil {
		t.Fatal("of work for one device, two are open")
	}
	driver.Abandon()
	first.Fail(device.ErrTimeout)
	compare(t, r, batch)
	if second.Ready() == nil {
		t.Fatal("no device stands in for one that failed")
	}
}
