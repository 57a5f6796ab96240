package device_test

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"iter"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
)

func TestRun(t *testing.T) {
	driver := fake(t)
	p := load(t, devicetest.Open(t, device.Options{}))
	for _, n := range []int{0, 1, 255, 256, 257, 100_003} {
		job := newScaling(p, n, n)
		fatal.If(t, p.device.Run(t.Context(), job))
		job.check(t)
	}
	if launches := driver.Launches(); len(launches) != 5 { // none for no numbers
		t.Errorf("launches %q", launches)
	}
}

func TestUnavailable(t *testing.T) {
	fake(t)
	dev := devicetest.Open(t, device.Options{Ordinal: 3})
	for range 2 {
		err := dev.Run(t.Context(), newScaling(nil, 10, 1))
		if !errors.Is(err, device.ErrUnavailable) || !strings.Contains(err.Error(), "device 3") {
			t.Error(err)
		}
	}
	if err := dev.Err(); !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
}

func TestNothingIsOpenedBeforeUse(t *testing.T) {
	driver := fake(t)
	before := driver.Calls("")
	dev := devicetest.Open(t, device.Options{})
	if err := dev.Close(); err != nil {
		t.Error(err)
	}
	if after := driver.Calls(""); after != before {
		t.Errorf("%d calls of the driver", after-before)
	}
}

func TestOptions(t *testing.T) {
	f := func(options device.Options, want ...string) {
		t.Helper()
		_, err := device.New(options)
		if err == nil {
			t.Error("taken")
			return
		}
		for _, part := range want {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%v does not say %q", err, part)
			}
		}
	}
	f(device.Options{Ordinal: -1, Streams: -1}, "number", "streams")
	f(device.Options{MemoryBytes: -1, PinnedBytes: -1}, "device memory", "pinned")
}

func TestClose(t *testing.T) {
	fake(t)
	p := load(t, devicetest.Open(t, device.Options{}))
	job := newScaling(p, 1000, 1)
	fatal.If(t, p.device.Run(t.Context(), job))
	engine, err := p.device.Open(t.Context())
	fatal.If(t, err)
	for range 2 {
		if err := p.device.Close(); err != nil {
			t.Error(err)
		}
	}
	if err := p.device.Run(t.Context(), job); !errors.Is(err, device.ErrClosed) {
		t.Error(err)
	}
	if _, err := engine.Uploads.Get(8); !errors.Is(err, device.ErrClosed) {
		t.Error(err)
	}
}

func TestCancelled(t *testing.T) {
	fake(t)
	p := load(t, devicetest.Open(t, device.Options{}))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	job := newScaling(p, 1000, 1)
	if err := p.device.Run(ctx, job); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if job.starts != 0 {
		t.Error("a job nobody waits for was started")
	}
}

func TestJobsOfManyGoroutines(t *testing.T) {
	fake(t)
	for _, streams := range []int{1, 2, 3, 8} {
		p := load(t, devicetest.Open(t, device.Options{Streams: streams}))
		var wait sync.WaitGroup
		for worker := range 6 {
			wait.Go(func() {
				for i := range 12 {
					job := newScaling(p, 1+(worker*977+i*331)%5000, worker*100+i)
					if err := p.device.Run(t.Context(), job); err != nil {
						t.Error(err)
						return
					}
					job.check(t)
				}
			})
		}
		wait.Wait()
		if err := p.device.Close(); err != nil {
			t.Error(err)
		}
	}
}

// pieces are jobs of one kind, kept to be checked.
func pieces(p *program, count, n int, jobs *[]*scaling) iter.Seq[device.Job] {
	return func(yield func(device.Job) bool) {
		for i := range count {
			job := newScaling(p, n, i)
			*jobs = append(*jobs, job)
			if !yield(job) {
				return
			}
		}
	}
}

// runAll submits jobs, as many as there are streams and one more at a time, up to the first error.
func runAll(ctx context.Context, dev *device.Device, jobs iter.Seq[device.Job]) (err error) {
	var waits []func() error
	for job := range jobs {
		wait, failed := dev.Submit(ctx, job)
		if err = failed; err != nil {
			break
		}
		if waits = append(waits, wait); len(waits) > dev.Streams() {
			err, waits = waits[0](), waits[1:]
		}
		if err != nil {
			break
		}
	}
	for _, wait := range waits {
		err = cmp.Or(err, wait())
	}
	return err
}

// Four times what the device has, and more than may be pinned.
func TestMoreThanMemoryGoesThroughInPieces(t *testing.T) {
	fake(t)
	registry := prometheus.NewRegistry()
	const budget, n = 1 << 20, 16 << 10 // a job takes 2·128 KiB of the device
	p := load(t, devicetest.Open(t, device.Options{MemoryBytes: budget, PinnedBytes: budget / 2, Registerer: registry}))
	var jobs []*scaling
	fatal.If(t, runAll(t.Context(), p.device, pieces(p, 4*budget/(n*8), n, &jobs)))
	for _, job := range jobs {
		job.check(t)
	}
	values := devicetest.Gather(t, registry)
	for name, want := range map[string]float64{"uploaded_bytes_total": 4 * budget,
		"downloaded_bytes_total": 4 * budget, "jobs_total": 32, "launches_total": 32, "up": 1} {
		if got := values["gnocco_gpu_"+name]; got != want {
			t.Errorf("%s is %v, want %v", name, got, want)
		}
	}
	if held := values["gnocco_gpu_memory_held_bytes"]; held > budget || held == 0 {
		t.Errorf("%v bytes held", held)
	}
}

// A job that finds no memory waits for those that have it.
func TestJobsWaitForMemory(t *testing.T) {
	fake(t)
	p := load(t, devicetest.Open(t, device.Options{MemoryBytes: 300 << 10, Streams: 4})) // one job at a time fits
	var jobs []*scaling
	fatal.If(t, runAll(t.Context(), p.device, pieces(p, 10, 16<<10, &jobs)))
	again := 0
	for _, job := range jobs {
		job.check(t)
		again += job.starts - 1
	}
	if again == 0 {
		t.Error("no job had to wait: the test says nothing")
	}
}

func TestTooLarge(t *testing.T) {
	fake(t)
	p := load(t, devicetest.Open(t, device.Options{MemoryBytes: 1 << 20, PinnedBytes: 4 << 20}))
	for range 2 {
		if err := p.device.Run(t.Context(), newScaling(p, 128<<10, 1)); !errors.Is(err, device.ErrMemory) {
			t.Error(err)
		}
	}
	job := newScaling(p, 1000, 1)
	fatal.If(t, p.device.Run(t.Context(), job))
	job.check(t)
}

func TestOneJobOfManyIsTooLarge(t *testing.T) {
	fake(t)
	p := load(t, devicetest.Open(t, device.Options{MemoryBytes: 1 << 20}))
	made := 0
	err := runAll(t.Context(), p.device, func(yield func(device.Job) bool) {
		for i := range 100 {
			n := 1000
			if i == 10 {
				n = 1 << 20
			}
			made++
			if !yield(newScaling(p, n, i)) {
				return
			}
		}
	})
	if !errors.Is(err, device.ErrMemory) || made > 20 {
		t.Errorf("%d jobs, %v", made, err)
	}
}

// steady is several sizes of job, over and over.
func steady(t *testing.T, p *program, rounds int) {
	t.Helper()
	jobs := []*scaling{newScaling(p, 1000, 1), newScaling(p, 30_000, 2), newScaling(p, 7, 3), newScaling(p, 29_000, 4)}
	for range rounds {
		for _, job := range jobs {
			fatal.If(t, p.device.Run(t.Context(), job))
			job.check(t)
		}
	}
}

func TestNothingIsAllocatedInSteadyState(t *testing.T) {
	driver := fake(t)
	p := load(t, devicetest.Open(t, device.Options{}))
	steady(t, p, 2)
	count := func() int {
		return driver.Calls("cuMemAlloc_v2") + driver.Calls("cuMemFree_v2") + driver.Calls("cuMemHostAlloc") +
			driver.Calls("cuMemFreeHost") + driver.Calls("cuEventCreate") + driver.Calls("cuStreamCreate")
	}
	before, leaks := count(), driver.Leaks()
	steady(t, p, 50)
	if after := count(); after != before {
		t.Errorf("%d allocations and releases", after-before)
	}
	if now := driver.Leaks(); now != leaks {
		t.Errorf("held before:\n%s\nand after:\n%s", leaks, now)
	}
}

// If any call of opening a device fails, Open says so, and keeps nothing.
func TestOpeningFails(t *testing.T) {
	driver := fake(t)
	for n := 1; ; n++ {
		dev := devicetest.Open(t, device.Options{})
		driver.Fail("", n, cu.OutOfMemory)
		_, err := dev.Open(t.Context())
		driver.Fail("", 0, cu.Success)
		if err == nil {
			if n < 10 {
				t.Errorf("opened with %d calls", n-1)
			}
			return
		}
		if !errors.Is(err, cu.OutOfMemory) {
			t.Errorf("call %d: %v", n, err)
		}
		if _, again := dev.Open(t.Context()); again == nil {
			t.Error("open after all")
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		if leaks := driver.Leaks(); leaks != "" {
			t.Errorf("call %d: not freed:\n%s", n, leaks)
		}
	}
}

// Any call of a device's first job may fail, with its allocations.
func TestFirstJobFails(t *testing.T) {
	driver := fake(t)
	for n := 1; ; n++ {
		p := load(t, devicetest.Open(t, device.Options{}))
		driver.Fail("", n, cu.InvalidValue)
		failed := p.device.Run(t.Context(), &published{*newScaling(p, 2000, 1)})
		driver.Fail("", 0, cu.Success)
		for range 2 {
			job := &published{*newScaling(p, 2000, 2)}
			if err := p.device.Run(t.Context(), job); err != nil {
				t.Fatalf("after call %d had failed: %v", n, err)
			}
			job.check(t)
		}
		if err := p.device.Close(); err != nil {
			t.Error(err)
		}
		if leaks := driver.Leaks(); leaks != "" {
			t.Errorf("call %d: not freed:\n%s", n, leaks)
		}
		if failed == nil {
			if n < 15 {
				t.Errorf("a job made %d calls", n-1)
			}
			return
		}
	}
}

// If any call fails, with an error that leaves the device alive, only its job fails, and nothing is lost.
func TestAnyCallFails(t *testing.T) {
	driver := fake(t)
	p := load(t, devicetest.Open(t, device.Options{}))
	steady(t, p, 1)
	for n := 1; ; n++ {
		driver.Fail("", n, cu.InvalidValue)
		failed := p.device.Run(t.Context(), newScaling(p, 2000, n))
		driver.Fail("", 0, cu.Success)
		job := newScaling(p, 2000, n)
		if err := p.device.Run(t.Context(), job); err != nil {
			t.Fatalf("after call %d had failed: %v", n, err)
		}
		job.check(t)
		if failed == nil {
			if n < 5 {
				t.Errorf("a job made %d calls", n-1)
			}
			break
		}
		if !errors.Is(failed, cu.InvalidValue) {
			t.Errorf("call %d: %v", n, failed)
		}
	}
}

// If any call loses the device, every job under way and to come gets a FaultError, and nothing hangs.
func TestAnyCallLosesTheDevice(t *testing.T) {
	driver := fake(t)
	for n := 1; ; n++ {
		dev := devicetest.Open(t, device.Options{Streams: 2})
		p := load(t, dev)
		driver.Fail("", n, cu.IllegalAddress)
		errs := make([]error, 4)
		var wait sync.WaitGroup
		for i := range errs {
			wait.Go(func() { errs[i] = dev.Run(t.Context(), newScaling(p, 2000, i)) })
		}
		wait.Wait()
		err := errors.Join(errs...)
		if err == nil {
			driver.Fail("", 0, cu.Success)
			if n < 10 {
				t.Errorf("jobs made %d calls", n-1)
			}
			break
		}
		for range 2 {
			err := dev.Run(t.Context(), newScaling(p, 10, 1))
			var fault *device.FaultError
			if !errors.As(err, &fault) || !errors.Is(err, cu.IllegalAddress) || fault.Ordinal != 0 {
				t.Fatalf("call %d: %v", n, err)
			}
		}
		if engine, _ := dev.Open(t.Context()); engine != nil {
			t.Error("a dead device opens")
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
		fake(t) // another process
	}
}

// A fault is logged once, by the device, and shown; so is that there is no device.
func TestFaultIsShown(t *testing.T) {
	driver := fake(t)
	registry := prometheus.NewRegistry()
	var log bytes.Buffer
	options := device.Options{Registerer: registry, Logger: slog.New(slog.NewTextHandler(&log, nil))}
	p := load(t, devicetest.Open(t, options))
	driver.Fail("cuLaunchKernel", 1, cu.LaunchFailed)
	for range 3 {
		if err := p.device.Run(t.Context(), newScaling(p, 100, 1)); err == nil {
			t.Error("no error")
		}
	}
	missing := devicetest.Open(t, device.Options{Ordinal: 7, Logger: options.Logger})
	for range 3 {
		if _, err := missing.Open(t.Context()); !errors.Is(err, device.ErrUnavailable) {
			t.Error(err)
		}
	}
	for _, dev := range []*device.Device{p.device, missing} { // afterwards nobody writes to the log
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	}
	if strings.Count(log.String(), "device failed, working on the CPU") != 1 ||
		strings.Count(log.String(), "no device, working on the CPU") != 1 {
		t.Errorf("log:\n%s", log.String())
	}
	values := devicetest.Gather(t, registry)
	if values["gnocco_gpu_up"] != 0 || values["gnocco_gpu_job_failures_total"] != 1 ||
		values["gnocco_gpu_jobs_total"] != 0 {
		t.Errorf("%v", values)
	}
}

func TestTwoDevices(t *testing.T) {
	driver := fake(t)
	driver.SetDevices(2)
	registry := prometheus.NewRegistry()
	a := load(t, devicetest.Open(t, device.Options{Ordinal: 0, Registerer: registry}))
	b := load(t, devicetest.Open(t, device.Options{Ordinal: 1, Registerer: registry}))
	var wait sync.WaitGroup
	for i, p := range []*program{a, b, a, b} {
		wait.Go(func() {
			for k := range 10 {
				job := newScaling(p, 3000, i+k)
				if err := p.device.Run(t.Context(), job); err != nil {
					t.Error(err)
					return
				}
				job.check(t)
			}
		})
	}
	wait.Wait()
	all, err := device.Find("")
	if err != nil || len(all) != 2 || all[1].String() != "Fake device 1, sm_90, 0.2 GiB, CUDA 13.0" {
		t.Error(all, err)
	}
}

// A job whose second part depends on its first: it runs until what it doubles is large enough.
type doubling struct {
	scaling
	block *device.Block
	limit float64
	parts int
}

func (d *doubling) Start(e *device.Engine, stream *device.Stream) error {
	up, err := e.Uploads.Get(8)
	if err != nil {
		return err
	}
	stream.Hold(up)
	device.View[float64](up, 0, 1)[0] = d.in[0]
	if d.result, err = e.Downloads.Get(8); err != nil {
		return err
	}
	stream.Hold(d.result)
	if d.block, err = e.Memory.Get(8); err != nil {
		return err
	}
	stream.Hold(d.block)
	if err := stream.Upload(d.block, 0, up, 0, 8); err != nil {
		return err
	}
	return d.double(stream)
}

func (d *doubling) double(stream *device.Stream) error {
	d.parts++
	if err := d.launch(stream, d.block, d.block); err != nil {
		return err
	}
	return stream.Download(d.result, 0, d.block, 0, 8)
}

func (d *doubling) Finish(_ *device.Engine, stream *device.Stream) (bool, error) {
	d.out[0] = device.View[float64](d.result, 0, 1)[0]
	if d.out[0] >= d.limit {
		return false, nil
	}
	return true, d.double(stream)
}

func TestJobOfSeveralParts(t *testing.T) {
	fake(t)
	p := load(t, devicetest.Open(t, device.Options{}))
	var wait sync.WaitGroup
	for i := range 5 {
		wait.Go(func() {
			job := &doubling{scaling: scaling{program: p, in: []float64{float64(i + 1)}, out: []float64{0}, times: 2},
				limit: 100}
			if err := p.device.Run(t.Context(), job); err != nil {
				t.Error(err)
			}
			want, parts := float64(i+1), 0
			for want < 100 {
				want, parts = want*2, parts+1
			}
			if job.out[0] != want || job.parts != parts {
				t.Errorf("from %d: %v after %d parts", i+1, job.out[0], job.parts)
			}
		})
	}
	wait.Wait()
}
