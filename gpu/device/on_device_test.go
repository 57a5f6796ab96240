package device_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// A process has one driver: these tests use the system's and skip where there is none, or where a test opened the fake
// one before. On a machine with a device, run them alone: -run OnDevice -bench OnDevice.

func TestOnDeviceJobs(t *testing.T) {
	t.Log(devicetest.OnDevice(t))
	p := load(t, devicetest.Open(t, device.Options{MemoryBytes: 1 << 30}))
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := range 30 {
				job := newScaling(p, 1+(worker*97_777+i*33_331)%500_000, worker*100+i)
				if err := p.device.Run(t.Context(), job); err != nil {
					t.Error(err)
					return
				}
				job.check(t)
			}
		})
	}
	wait.Wait()
}

func TestOnDeviceMoreThanMemory(t *testing.T) {
	devicetest.OnDevice(t)
	const budget, n = 64 << 20, 1 << 20
	p := load(t, devicetest.Open(t, device.Options{MemoryBytes: budget, PinnedBytes: budget}))
	var jobs []*scaling
	fatal.If(t, runAll(t.Context(), p.device, pieces(p, 4*budget/(n*8), n, &jobs)))
	for _, job := range jobs {
		job.check(t)
	}
}

func TestOnDeviceCompilerMessages(t *testing.T) {
	devicetest.OnDevice(t)
	dev := devicetest.Open(t, device.Options{MemoryBytes: 1 << 20})
	err := dev.Do(t.Context(), func(e *device.Engine) error {
		_, err := e.Load([]byte(strings.Replace(string(image), "mul.rn.f64", "mull.f64", 1)))
		return err
	})
	if !errors.Is(err, cu.InvalidPTX) || !strings.Contains(err.Error(), "line") {
		t.Error(err)
	}
	load(t, dev)
}

// copying is a piece that goes up, is scaled, and comes back, without work on the host.
type copying struct {
	program *program
	up      *device.Pinned
	down    *device.Pinned
	bytes   int64
}

func (c *copying) Start(e *device.Engine, stream *device.Stream) error {
	x, err := e.Memory.Get(c.bytes)
	if err != nil {
		return err
	}
	stream.Hold(x)
	if err := stream.Upload(x, 0, c.up, 0, c.bytes); err != nil {
		return err
	}
	n := int(c.bytes / 8)
	stream.Params().Ptr(x.At(0)).Ptr(x.At(0)).I64(int64(n)).F64(1.5)
	if err := stream.Launch(c.program.scale, (n+255)/256, 256, 0); err != nil {
		return err
	}
	return stream.Download(c.down, 0, x, 0, c.bytes)
}

func (c *copying) Finish(*device.Engine, *device.Stream) (bool, error) { return false, nil }

// BenchmarkOnDevice streams 1 GiB there and back in pieces, through less than a quarter of it on the device. One stream
// does one thing after the other; three overlap both directions and the kernel.
func BenchmarkOnDevice(b *testing.B) {
	devicetest.OnDevice(b)
	for _, piece := range []int64{1 << 20, 16 << 20} {
		for _, streams := range []int{1, 2, 3, 4} {
			b.Run(fmt.Sprintf("piece=%dMiB/streams=%d", piece>>20, streams), func(b *testing.B) {
				p := load(b, devicetest.Open(b, device.Options{MemoryBytes: 192 << 20, Streams: streams}))
				engine, err := p.device.Open(b.Context())
				fatal.If(b, err)
				jobs := make([]*copying, streams+1) // as many as runAll has at a time
				for i := range jobs {
					up, err := engine.Uploads.Get(piece)
					fatal.If(b, err)
					down, err := engine.Downloads.Get(piece)
					fatal.If(b, err)
					values := device.View[float64](up, 0, int(piece/8))
					for k := range values {
						values[k] = float64(k)
					}
					jobs[i] = &copying{p, up, down, piece}
				}
				const total = 1 << 30
				b.SetBytes(total)
				b.ReportAllocs()
				for b.Loop() {
					err := runAll(b.Context(), p.device, func(yield func(device.Job) bool) {
						for i := range int(total / piece) {
							if !yield(jobs[i%len(jobs)]) {
								return
							}
						}
					})
					fatal.If(b, err)
				}
				out := device.View[float64](jobs[0].down, 0, int(piece/8))
				for k, v := range out {
					if v != float64(k)*1.5 {
						b.Fatalf("result %d is %v", k, v)
					}
				}
			})
		}
	}
}

// BenchmarkOnDeviceJob is what a job of 1000 measures takes, from a call to its result.
func BenchmarkOnDeviceJob(b *testing.B) {
	devicetest.OnDevice(b)
	p := load(b, devicetest.Open(b, device.Options{MemoryBytes: 64 << 20}))
	job := newScaling(p, 1000, 1)
	b.ReportAllocs()
	for b.Loop() {
		fatal.If(b, p.device.Run(b.Context(), job))
	}
	job.check(b)
}
