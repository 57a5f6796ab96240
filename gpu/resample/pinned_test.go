package resample_test

import (
	"context"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/tests/cutest"
)

// lending is a resampler on the fake driver whose device is open.
type lending struct {
	*resample.Resampler
	driver   *cutest.Driver
	device   *device.Device
	engine   *device.Engine
	registry *prometheus.Registry
}

func newLending(t *testing.T, options resample.Options, pinnedBytes int64) *lending {
	t.Helper()
	driver := devicetest.HostKernels(t)
	if driver == nil {
		t.Skip("copies are the fake driver's to count")
	}
	l := &lending{driver: driver, device: devicetest.Open(t, device.Options{PinnedBytes: pinnedBytes}),
		registry: prometheus.NewRegistry()}
	options.Always, options.Registerer = true, l.registry
	l.Resampler = resample.New([]*device.Device{l.device}, options)
	var err error
	if l.engine, err = l.device.Open(t.Context()); err != nil {
		t.Fatal(err)
	}
	return l
}

// resample holds the result to the CPU's and returns it with the number of copies to the device.
func (l *lending) resample(t *testing.T, batch *carbonara.Batch, result *carbonara.Result) (copies int) {
	t.Helper()
	before := l.driver.Calls("cuMemcpyHtoDAsync_v2")
	var want carbonara.Result
	onCPU(t, batch, &want)
	fatal.If(t, l.Resample(t.Context(), batch, result))
	sameGroups(t, batch, &want, result)
	if n := devicetest.Gather(t, l.registry)["gnocco_resampler_fallbacks_total"]; n != 0 {
		t.Errorf("%v chunks were done by the CPU", n)
	}
	return l.driver.Calls("cuMemcpyHtoDAsync_v2") - before
}

// lies reports whether numbers lie in pinned memory.
func lies[T any](memory *device.Pinned, numbers []T) bool {
	first, at := uintptr(unsafe.Pointer(unsafe.SliceData(memory.Bytes))), uintptr(
		unsafe.Pointer(unsafe.SliceData(numbers)))
	return at >= first && at < first+uintptr(len(memory.Bytes))
}

// untilGivenBack waits for the collector to find what was dropped of so many bytes to lend.
func (l *lending) untilGivenBack(t *testing.T, budget int64) {
	t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; runtime.Gosched() {
		runtime.GC()
		if all, err := l.engine.Borrowed.Get(budget); err == nil {
			all.Release()
			return
		} else if time.Now().After(deadline) {
			t.Fatal(err)
		}
	}
}

// mixed is series of several plans in turn, of that many measures each; a third are regular.
func mixed(series, measures int, unit time.Duration, plans ...*carbonara.Plan) *carbonara.Batch {
	rng := rand.New(rand.NewPCG(uint64(series), uint64(measures)))
	batch := &carbonara.Batch{}
	for i := range series {
		timestamps, values := shape{n: measures, step: 10 * time.Second, jitter: i%3 > 0, unit: unit}.series(rng)
		add(batch, plans[i%len(plans)], timestamps, values)
	}
	return batch
}

var (
	minutePlan = carbonara.NewPlan([]time.Duration{time.Minute}, orderMethods)
	hoursPlan  = carbonara.NewPlan([]time.Duration{5 * time.Minute, time.Hour}, withRates(slices.Clone(allMoments)))
)

// The device copies measures from borrowed memory, by one copy if they lie side by side, and the groups stay there.
func TestLentMemoryIsNotCopied(t *testing.T) {
	l := newLending(t, resample.Options{Workers: 4, ChunkMeasures: 24_000}, 0)
	f := func(name string, batch *carbonara.Batch, want, fromGo int) {
		t.Helper()
		var result carbonara.Result
		defer result.Release()
		lent := lentCopy(l.Resampler, batch)
		defer lent.Release()
		memory, ok := lent.Borrowed().(*device.Pinned)
		if !ok || !lies(memory, lent.Values) || !lies(memory, lent.Timestamps) {
			t.Fatalf("%s: nothing was lent", name)
		}
		if got := l.resample(t, lent, &result); got != want {
			t.Errorf("%s: %d copies to the device, want %d", name, got, want)
		}
		if got := l.resample(t, batch, &result); got != fromGo {
			t.Errorf("%s: %d copies to the device from Go's memory, want %d", name, got, fromGo)
		}
	}
	// what was packed, values, and of the first three timestamps
	f("side by side", mixed(24, 6000, time.Millisecond, minutePlan), 3*3+3*2, 6)
	f("as they are", mixed(12, 6000, 1, minutePlan), 3*3, 3)                       // also timestamps
	f("in turn", mixed(12, 6000, time.Second, minutePlan, hoursPlan), 9+5+9+3, 4)  // chunks of 4, 2, 4, 2 series
	f("not one by one", mixed(24, 1000, time.Second, minutePlan, hoursPlan), 2, 2) // too short
}

// With few workers the device also copies timestamps.
func TestLentMemoryWithOneWorker(t *testing.T) {
	l := newLending(t, resample.Options{Workers: 1, ChunkMeasures: 12_000}, 0)
	for i, unit := range []time.Duration{time.Second, time.Millisecond, time.Microsecond, 1} {
		batch := mixed(2+i, 6000, unit, minutePlan, hoursPlan)
		lent := lentCopy(l.Resampler, batch)
		var result carbonara.Result
		l.resample(t, lent, &result)
		l.resample(t, batch, &result)
		lent.Release()
		result.Release()
	}
}

// A batch that outgrows lent memory is right, for any way to append to it, and uses that memory again once it is reset.
func TestLentMemoryIsOutgrown(t *testing.T) {
	l := newLending(t, resample.Options{Workers: 4}, 0)
	var batch carbonara.Batch
	var result carbonara.Result
	defer batch.Release()
	defer result.Release()
	all := mixed(9, 6000, time.Millisecond, minutePlan)
	fill := func(grow bool) {
		for i := range all.Timestamps {
			if grow {
				batch.Grow(1)
			}
			batch.Timestamps, batch.Values = append(batch.Timestamps, all.Timestamps[i]), append(batch.Values,
				all.Values[i])
		}
		batch.Series = append(batch.Series, all.Series...)
		l.resample(t, &batch, &result)
	}
	batch.Reset(l.Resampler)
	batch.Grow(9000)
	small := batch.Borrowed().(*device.Pinned)
	fill(false)
	if lies(small, batch.Values) {
		t.Error("appended to without end")
	}
	batch.Reset(l.Resampler)
	if batch.Grow(1); !lies(small, batch.Values[:1]) {
		t.Error("lies elsewhere after a reset")
	}
	fill(true)
	if large, ok := batch.Borrowed().(*device.Pinned); !ok || large == small || !lies(large, batch.Values) {
		t.Error("did not grow where it lay")
	}
	batch.Reset(carbonara.NewCPUResampler(1))
	if batch.Borrowed() != nil {
		t.Error("the CPU lends memory")
	}
	fill(true)
}

// Where the pool has no memory left, all is copied as before.
func TestLentMemoryIsExhausted(t *testing.T) {
	const budget = 4 << 20
	l := newLending(t, resample.Options{Workers: 2, ChunkMeasures: 20_000}, budget)
	all, err := l.engine.Borrowed.Get(budget)
	fatal.If(t, err)
	batch := mixed(9, 6000, time.Millisecond, minutePlan, hoursPlan)
	lent := lentCopy(l.Resampler, batch)
	if lent.Borrowed() != nil {
		t.Error("lent more than there is")
	}
	var result carbonara.Result
	l.resample(t, lent, &result)
	if lies(all, result.Groups(0, 0).Starts) {
		t.Error("groups lie in somebody's memory")
	}
	all.Release()
	l.resample(t, batch, &result)
	if _, err := l.engine.Borrowed.Get(budget); err == nil {
		t.Error("groups do not lie in borrowed memory")
	}
	result.Release()
	if all, err = l.engine.Borrowed.Get(budget); err != nil {
		t.Fatal(err)
	}
	all.Release()
}

// Dropped memory comes back with the collector.
func TestLentMemoryIsDropped(t *testing.T) {
	const budget = 8 << 20
	l := newLending(t, resample.Options{Workers: 2}, budget)
	batch := mixed(9, 6000, time.Millisecond, minutePlan)
	for range 3 {
		lent, result := lentCopy(l.Resampler, batch), new(carbonara.Result)
		if l.resample(t, lent, result); lent.Borrowed() == nil {
			t.Error("nothing was lent")
		}
	}
	l.untilGivenBack(t, budget)
}

// Groups outlast their device, and then are given back.
func TestLentMemoryOutlastsItsDevice(t *testing.T) {
	l := newLending(t, resample.Options{Workers: 2}, 0)
	batch := mixed(3, 6000, time.Millisecond, minutePlan)
	lent := lentCopy(l.Resampler, batch)
	var result, want carbonara.Result
	l.resample(t, lent, &result)
	fatal.If(t, l.device.Close())
	onCPU(t, lent, &want)
	sameGroups(t, batch, &want, &result)
	lent.Release()
	result.Release()
	if leaks := l.driver.Leaks(); leaks != "" {
		t.Errorf("not freed:\n%s", leaks)
	}
}

// Batches and results that are used again take no memory of the driver's, nor of Go's.
func TestLentMemoryInSteadyState(t *testing.T) {
	l := newLending(t, resample.Options{Workers: 1, ChunkMeasures: 20_000}, 0)
	all := []*carbonara.Batch{mixed(9, 6000, time.Millisecond, minutePlan),
		mixed(5, 3000, time.Millisecond, hoursPlan, minutePlan), mixed(30, 10, time.Millisecond, hoursPlan)}
	var batch carbonara.Batch
	var result carbonara.Result
	defer batch.Release()
	defer result.Release()
	pass := func() {
		for _, from := range all {
			copyBatch(l.Resampler, &batch, from, 0)
			fatal.If(t, l.Resample(t.Context(), &batch, &result))
		}
	}
	for range 4 {
		pass()
	}
	count := func() int { return l.driver.Calls("cuMemHostAlloc") + l.driver.Calls("cuMemFreeHost") }
	before, held := count(), devicetest.Gather(t, l.registry)
	for range 30 {
		pass()
	}
	if n := count() - before; n != 0 {
		t.Errorf("%d allocations and releases of pinned memory", n)
	}
	if now := devicetest.Gather(t, l.registry); now["gnocco_gpu_pinned_bytes"] != held["gnocco_gpu_pinned_bytes"] {
		t.Errorf("%v bytes pinned, %v before", now["gnocco_gpu_pinned_bytes"], held["gnocco_gpu_pinned_bytes"])
	}
}

// Many goroutines resample at once, each with a batch and a result of its own; some drop theirs.
func TestLentMemoryOfManyGoroutines(t *testing.T) {
	const budget = 8 << 20
	l := newLending(t, resample.Options{Workers: 2, ChunkMeasures: 9000}, budget)
	var done sync.WaitGroup
	for g := range 6 {
		done.Go(func() {
			from := mixed(2+g, 4000, time.Millisecond, []*carbonara.Plan{minutePlan, hoursPlan}[g%2])
			var want carbonara.Result
			onCPU(t, from, &want)
			batch, result := new(carbonara.Batch), new(carbonara.Result)
			for round := range 4 {
				if round%2 == 1 && g%3 == 0 {
					batch, result = new(carbonara.Batch), new(carbonara.Result) // those before are the collector's
				}
				copyBatch(l.Resampler, batch, from, 0)
				if err := l.Resample(context.Background(), batch, result); err != nil {
					t.Error(err)
				}
				if err := differs(from, &want, result); err != nil {
					t.Errorf("goroutine %d, round %d: %v", g, round, err)
				}
			}
			batch.Release()
			result.Release()
		})
	}
	done.Wait()
	l.untilGivenBack(t, budget)
}
