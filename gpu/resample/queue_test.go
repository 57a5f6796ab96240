package resample_test

import (
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
