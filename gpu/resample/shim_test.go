package resample_test

import (
	"errors"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/devicetest"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/tests/cutest"
)

// If any call of the driver fails or hangs, a batch's groups are the CPU's, and stay so.
func TestShimResampler(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour}, withRates(orderMethods))
	batch := &carbonara.Batch{}
	for range 4 {
		timestamps, values := shape{n: 300, step: 10 * time.Second, unit: 1, jitter: true}.series(rng)
		add(batch, plan, timestamps, values)
	}
	var want carbonara.Result
	onCPU(t, batch, &want)
	devicetest.EveryCall(t, func(t *testing.T, dev *device.Device) func() {
		registry := prometheus.NewRegistry()
		r := resample.New([]*device.Device{dev}, resample.Options{Always: true, ChunkMeasures: 700, Workers: 2,
			Registerer: registry})
		results := make([]carbonara.Result, 3)
		check := func() {
			for i := range results {
				if err := differs(batch, &want, &results[i]); err != nil {
					t.Errorf("batch %d: %v", i, err)
				}
			}
		}
		lent := &carbonara.Batch{}
		for i := range results {
			from := batch
			if i == 1 {
				copyBatch(r, lent, batch, 16<<10)
				from = lent
			}
			if err := r.Resample(t.Context(), from, &results[i]); err != nil {
				t.Error(err)
			}
		}
		check()
		return func() {
			check()
			for i := range results {
				results[i].Release()
			}
			lent.Release()
		}
	})
}

// A device that stalls is given up after its time, and waiting jobs end with it.
func TestShimEverybodyIsLetGo(t *testing.T) {
	shim := devicetest.Shimmed(t)
	dev := devicetest.Open(t, device.Options{JobTimeout: 200 * time.Millisecond})
	r := resample.New([]*device.Device{dev}, resample.Options{Always: true, Workers: 1})
	batch := mixed(2, 500, 1, minutePlan)
	var want, first carbonara.Result
	onCPU(t, batch, &want)
	if err := r.Resample(t.Context(), batch, &first); err != nil { // the kernels are loaded
		t.Fatal(err)
	}
	defer first.Release()
	shim.Arm(cutest.ShimStall, 1, 0)
	defer shim.Release()
	errs := make(chan error, 12)
	started := time.Now()
	for range cap(errs) {
		go func() {
			var result carbonara.Result
			err := r.Resample(t.Context(), batch, &result)
			errs <- errors.Join(err, differs(batch, &want, &result))
		}()
	}
	for range cap(errs) {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if took := time.Since(started); took < 150*time.Millisecond || took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if !errors.Is(dev.Err(), device.ErrTimeout) {
		t.Error(dev.Err())
	}
}
