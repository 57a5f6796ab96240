package device

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
)

// memoryHeld is what a process has taken for its device, in bytes.
type memoryHeld struct {
	device, pinned, heap float64
	allocations          float64 // of device memory, since the start
}

// soak resamples batches of many sizes, one after the other: memory must not grow.
func (b *gpuBench) soak(ctx context.Context) (err error) {
	registry := prometheus.NewRegistry()
	device, err := b.newDevice(0, 1<<30, registry)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, device.Close()) }()
	r := onDevice(1, device)
	var batches []*carbonara.Batch
	for i, n := range []int{100, 1000, 3000, 10_000, 20_000, 30_000, 7, 1} {
		methods := gpuSix
		if i%2 == 0 {
			methods = append(gpuOrder, gpuSix...)
		}
		batches = append(batches, regularBatch(carbonara.NewPlan(gpuNine[:1+i%3], methods), n, 1+n/7, 5*time.Second,
			gpuTimes[i%3].unit))
	}
	if _, err := device.Open(ctx); err != nil {
		return err
	}
	for i, batch := range batches { // every other in pinned memory
		if i%2 == 0 {
			continue
		}
		if batches[i], err = lentBatch(r, batch); err != nil {
			return err
		}
		defer batches[i].Release()
	}
	var result carbonara.Result
	defer result.Release()
	run := func(times int) error {
		for i := range times {
			if err := r.Resample(ctx, batches[i%len(batches)], &result); err != nil {
				return err
			}
		}
		return nil
	}
	if err := run(10 * len(batches)); err != nil {
		return err
	}
	before, err := readMemoryHeld(registry)
	if err != nil {
		return err
	}
	started := time.Now()
	if err := run(b.what.SoakBatches); err != nil {
		return err
	}
	took := time.Since(started)
	after, err := readMemoryHeld(registry)
	if err != nil {
		return err
	}
	grown := func(what string, from, to, allowed float64) error {
		if to > from+allowed {
			return fmt.Errorf("%s memory grew from %.0f to %.0f bytes over %d batches", what, from, to,
				b.what.SoakBatches)
		}
		return nil
	}
	// Go's heap is read after a collection, to which pools may have lost what they had.
	err = errors.Join(grown("device", before.device, after.device, 0), grown("pinned", before.pinned, after.pinned, 0),
		grown("Go", before.heap, after.heap, 1<<20))
	return errors.Join(err, b.Report.Add("GPUSoak", b.what.SoakBatches,
		report.Of(float64(took.Nanoseconds())/float64(b.what.SoakBatches), "ns/op"),
		report.Of(after.device-before.device, "B-device-grown"),
		report.Of(after.pinned-before.pinned, "B-pinned-grown"),
		report.Of(after.heap-before.heap, "B-heap-grown"),
		report.Of(after.allocations-before.allocations, "device-allocations")))
}

func readMemoryHeld(registry *prometheus.Registry) (m memoryHeld, err error) {
	families, err := registry.Gather()
	if err != nil {
		return m, err
	}
	for _, family := range families {
		for _, metric := range family.GetMetric() {
			switch family.GetName() {
			case "gnocco_gpu_memory_held_bytes":
				m.device += metric.GetGauge().GetValue()
			case "gnocco_gpu_pinned_bytes":
				m.pinned += metric.GetGauge().GetValue()
			case "gnocco_gpu_allocations_total":
				m.allocations += metric.GetCounter().GetValue()
			}
		}
	}
	var stats runtime.MemStats
	runtime.GC()
	runtime.GC() // what pools kept over the first
	runtime.ReadMemStats(&stats)
	m.heap = float64(stats.HeapAlloc)
	return m, nil
}
