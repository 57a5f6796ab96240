package gpu

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gnocco/carbonara"
	"gnocco/gpu/cu"
	"gnocco/gpu/kernels"
)

// Benchmarks of the kernels alone, of data that lies on the device. They run on a real device: see tools/gpu-bench.sh.

// residentDevice skips where there is none.
func residentDevice(b *testing.B) *Device {
	b.Helper()
	if all, err := Find(""); errors.Is(err, ErrUnavailable) || err == nil && (len(all) == 0 || os.Getenv("GNOCCO_TEST_DEVICE") == "") {
		b.Skip("no CUDA device here, or GNOCCO_TEST_DEVICE is not set")
	} else if err != nil {
		b.Fatal(err)
	}
	d, err := NewDevice(Options{PinnedBytes: 8 << 30})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { d.Close() })
	return d
}

// timed is a job that queues something several times between two events. Before each, it may fill what the kernels leave behind.
type timed struct {
	start  func(e *Engine, lane *Lane) error // uploads, once
	before func(lane *Lane) error
	queue  func(lane *Lane) error
	rounds int
	events [][2]cu.Event
	ms     []float64
}

func (t *timed) Start(e *Engine, lane *Lane) error {
	if err := t.start(e, lane); err != nil {
		return err
	}
	for range t.rounds + 2 {
		var pair [2]cu.Event
		for i := range pair {
			var err error
			if pair[i], err = cu.MakeEvent(0); err != nil {
				return err
			}
		}
		if t.before != nil {
			if err := t.before(lane); err != nil {
				return err
			}
		}
		if err := errors.Join(pair[0].Record(lane.Stream), t.queue(lane), pair[1].Record(lane.Stream)); err != nil {
			return err
		}
		t.events = append(t.events, pair)
	}
	return nil
}

func (t *timed) Finish(*Engine, *Lane) (bool, error) {
	for _, pair := range t.events[2:] { // the first ones warm up
		ms, err := pair[0].Elapsed(pair[1])
		if err != nil {
			return false, err
		}
		t.ms = append(t.ms, ms)
	}
	slices.Sort(t.ms)
	return false, nil
}

func (t *timed) median() float64 { return t.ms[len(t.ms)/2] }

// residentBatch is series of measures 5 s apart, within a second of it, in milliseconds.
func residentBatch(series, measures int, plan *carbonara.Plan) *carbonara.Batch {
	batch := &carbonara.Batch{Timestamps: make([]carbonara.Timestamp, series*measures), Values: make([]float64, series*measures)}
	rng := rand.New(rand.NewPCG(1, 2))
	at := 0
	for range series {
		batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: at, To: at + measures})
		for i := range measures {
			bits := rng.Uint64()
			batch.Timestamps[at] = carbonara.Timestamp(1_700_000_000e9) + carbonara.Timestamp(i)*5e9 + carbonara.Timestamp(bits%900)*1e6
			batch.Values[at] = float64(bits>>40) / 100
			at++
		}
	}
	return batch
}

var sevenMethods = []carbonara.Method{carbonara.Sum, carbonara.Min, carbonara.Max, carbonara.Std, carbonara.Count, carbonara.First, carbonara.Last}

func BenchmarkOnDeviceResident(b *testing.B) {
	d := residentDevice(b)
	var p *program
	if err := d.Do(b.Context(), func(e *Engine) (err error) { p, err = loadProgram(e); return err }); err != nil {
		b.Fatal(err)
	}
	e, err := d.Open(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	copyGBs := copyCeiling(b, d)
	b.Logf("copy on the device, read and written: %.0f GB/s", copyGBs)
	batch := residentBatch(12_500, 10_000, nil)
	nine := []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}
	for _, c := range []struct {
		name          string
		granularities []time.Duration
		methods       []carbonara.Method
		layout        layout
	}{
		{"only=cut/granularity=60s/timestamps=8", nine[:1], sevenMethods, layoutTimestamps},
		{"only=cut/granularity=60s/timestamps=4", nine[:1], sevenMethods, layoutOffsets},
		{"only=cut/granularity=3600s/timestamps=8", nine[4:5], sevenMethods, layoutTimestamps},
		{"granularity=60s/timestamps=8", nine[:1], sevenMethods, layoutTimestamps},
		{"granularity=60s/timestamps=4", nine[:1], sevenMethods, layoutOffsets},
		{"granularity=300s/timestamps=8", nine[1:2], sevenMethods, layoutTimestamps},
		{"granularity=3600s/timestamps=8", nine[4:5], sevenMethods, layoutTimestamps},
		{"granularity=86400s/timestamps=8", nine[8:9], sevenMethods, layoutTimestamps},
		{"granularity=60s/timestamps=8/noM2", nine[:1], []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max}, layoutTimestamps},
		{"granularity=60s/timestamps=8/median", nine[:1], append(slices.Clone(sevenMethods), carbonara.Median), layoutTimestamps},
		{"granularity=60s/timestamps=8/only=median", nine[:1], []carbonara.Method{carbonara.Median}, layoutTimestamps},
		{"granularity=300s/timestamps=8/median", nine[1:2], append(slices.Clone(sevenMethods), carbonara.Median), layoutTimestamps},
		{"granularity=3600s/timestamps=8/median", nine[4:5], append(slices.Clone(sevenMethods), carbonara.Median), layoutTimestamps},
		{"granularities=9/timestamps=8", nine, sevenMethods, layoutTimestamps},
	} {
		plan := carbonara.NewPlan(c.granularities, c.methods)
		all := make([]int, len(batch.Series))
		for i := range all {
			all[i] = i
			batch.Series[i].Plan = plan
		}
		b.Run(c.name, func(b *testing.B) {
			piece := &piece{program: p}
			piece.prepare(batch, plan, all)
			piece.layout = c.layout
			piece.place()
			if piece.up, err = e.Uploads.Get(piece.uploaded); err != nil {
				b.Fatal(err)
			}
			defer piece.release()
			piece.pack()
			job := &timed{rounds: 15}
			job.start = func(e *Engine, lane *Lane) error {
				if err := piece.Start(e, lane); err != nil {
					return err
				}
				return nil
			}
			job.before = func(lane *Lane) error { return lane.Fill(piece.block, piece.zeroed[0], 0, piece.zeroed[1]) }
			job.queue = func(lane *Lane) error { return piece.launch(lane, e.Properties.Multiprocessors) }
			onlyCut := strings.HasPrefix(c.name, "only=cut")
			if onlyCut {
				job.queue = func(lane *Lane) error { return piece.launchCut(lane, 0) }
			}
			for b.Loop() {
				job.events, job.ms = nil, nil
				if err := d.Run(b.Context(), job); err != nil {
					b.Fatal(err)
				}
			}
			totals := View[uint64](piece.counts, 0, len(piece.levels))
			bytes := float64(piece.n * (8 + [...]int{0, 4, 8}[c.layout]))
			rows := 0
			for j := range piece.levels {
				rows += int(uint32(totals[j]))
				bytes += float64(int(uint32(totals[j])) * 8 * (1 + len(plan.Columns)))
			}
			if onlyCut {
				bytes = float64(piece.n*[...]int{0, 4, 8}[c.layout] + rows*12)
			}
			ms := job.median()
			b.ReportMetric(ms, "ms")
			b.ReportMetric(float64(rows), "groups")
			b.ReportMetric(bytes/ms/1e6, "GB/s-in+out")
			b.ReportMetric(bytes/ms/1e6/copyGBs*100, "%-of-copy")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// copyCeiling is the rate of a copy of 4 GiB on the device, bytes read and written.
func copyCeiling(b *testing.B, d *Device) float64 {
	b.Helper()
	const bytes = 4 << 30
	var x, y *Block
	job := &timed{rounds: 10}
	job.start = func(e *Engine, lane *Lane) (err error) {
		if x, err = e.Memory.Get(bytes); err != nil {
			return err
		}
		lane.Hold(x)
		if y, err = e.Memory.Get(bytes); err != nil {
			return err
		}
		lane.Hold(y)
		return lane.Fill(x, 0, 1, bytes)
	}
	job.queue = func(lane *Lane) error { return cu.MemcpyDtoDAsync(y.At(0), x.At(0), bytes, lane.Stream) }
	if err := d.Run(b.Context(), job); err != nil {
		b.Fatal(err)
	}
	return 2 * bytes / job.median() / 1e6
}

// BenchmarkOnDeviceLadder is sums, and sums of groups, in ways that one may think of first, beside ours.
func BenchmarkOnDeviceLadder(b *testing.B) {
	d := residentDevice(b)
	copyGBs := copyCeiling(b, d)
	const n = 1 << 28
	var module cu.Module
	if err := d.Do(b.Context(), func(e *Engine) (err error) { module, err = e.Load(kernels.PTX); return err }); err != nil {
		b.Fatal(err)
	}
	const k = 6
	groups := (n + k - 1) / k
	for _, c := range []struct {
		name    string
		n       int64
		blocks  int
		threads int
		group   bool
		streams int
	}{
		{"sum_atomic", n, n / 256, 256, false, 1}, {"sum_row", n, n / 64 / 256, 256, false, 1}, {"sum_coalesced", n, n / 64 / 256, 256, false, 1},
		{"sum_ours", n, 132 * 8, 512, false, 1}, {"sum_ours", 1 << 30, 132 * 8, 512, false, 1},
		{"ladder_v1", n, (groups + 255) / 256, 256, true, 1}, {"ladder_v2", n, 1024, 256, true, 1}, {"ladder_v3", n, (groups + 255) / 256, 256, true, 1},
		{"ladder_uncoalesced", n, (groups + 255) / 256, 256, true, 1},
	} {
		b.Run(fmt.Sprintf("%s/n=%d", c.name, c.n), func(b *testing.B) {
			var x, out *Block
			var kernel cu.Function
			job := &timed{rounds: 9}
			job.start = func(e *Engine, lane *Lane) (err error) {
				if kernel, err = module.Function(c.name); err != nil {
					return err
				}
				if x, err = e.Memory.Get(c.n * 8); err != nil {
					return err
				}
				lane.Hold(x)
				if out, err = e.Memory.Get(int64(groups) * 8); err != nil {
					return err
				}
				lane.Hold(out)
				// 0x3f3f… is 4.77e-4 in every place
				return lane.Fill(x, 0, 0x3f, c.n*8)
			}
			job.before = func(lane *Lane) error { return lane.Fill(out, 0, 0, int64(groups)*8) }
			job.queue = func(lane *Lane) error {
				params := lane.Params().Ptr(x.At(0)).I64(c.n)
				if c.group {
					params.I64(k)
				}
				params.Ptr(out.At(0))
				return lane.Launch(kernel, c.blocks, c.threads, 0)
			}
			for b.Loop() {
				job.events, job.ms = nil, nil
				if err := d.Run(b.Context(), job); err != nil {
					b.Fatal(err)
				}
			}
			ms := job.median()
			bytes := float64(c.n * 8)
			if c.group {
				bytes += float64(groups * 8)
			}
			b.ReportMetric(ms, "ms")
			b.ReportMetric(bytes/ms/1e6, "GB/s")
			b.ReportMetric(bytes/ms/1e6/copyGBs*100, "%-of-copy")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// BenchmarkOnDeviceResample is from host memory to host memory, beside the CPU with one and all cores.
func BenchmarkOnDeviceResample(b *testing.B) {
	d := residentDevice(b)
	six := []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Sum, carbonara.Std, carbonara.Count}
	for _, c := range []struct {
		name    string
		methods []carbonara.Method
	}{{"six", six}, {"six+median+95pct", append(slices.Clone(six), carbonara.Median, carbonara.PercentileMethod(95))}} {
		plan := carbonara.NewPlan([]time.Duration{time.Minute}, c.methods)
		for _, n := range []int{10_000, 100_000, 1_000_000, 10_000_000} {
			for _, regular := range []bool{false, true} {
				batch := residentBatch(n/1000, 1000, plan)
				if regular {
					for i := range batch.Timestamps {
						batch.Timestamps[i] -= batch.Timestamps[i] % 5e9
					}
				}
				for _, engine := range []string{"cpu1", "cpu16", "device"} {
					if regular && engine != "device" {
						continue
					}
					var r carbonara.Resampler
					switch engine {
					case "cpu1":
						r = carbonara.NewCPUResampler(1)
					case "cpu16":
						r = carbonara.NewCPUResampler(16)
					default:
						r = NewResampler([]*Device{d}, ResamplerOptions{Always: true})
					}
					b.Run(fmt.Sprintf("methods=%s/measures=%d/regular=%v/engine=%s", c.name, n, regular, engine), func(b *testing.B) {
						var result carbonara.Result
						if err := r.Resample(b.Context(), batch, &result); err != nil {
							b.Fatal(err)
						}
						for b.Loop() {
							if err := r.Resample(b.Context(), batch, &result); err != nil {
								b.Fatal(err)
							}
						}
						if v := result.Groups(0, 0).Values[0][0]; math.IsNaN(v) {
							b.Fatal("no count")
						}
						b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/measure")
					})
				}
			}
		}
	}
}
