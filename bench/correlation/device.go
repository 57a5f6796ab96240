package correlation

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	benchdevice "github.com/gnocco-db/gnocco/bench/device"
	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/cmd/gnocco-correlate/csv"
	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// deviceRounds is how often a device computes the same; the median counts.
const deviceRounds = 9

// correlateDevice measures a device, and holds its coefficients to those of the CPU.
func correlateDevice(ctx context.Context, o report.Run, dev *device.Device, values correlate.Values,
	selection correlate.Selection, want []correlate.Pair) error {
	registry := prometheus.NewRegistry()
	times, off, err := deviceTimes(ctx, dev, gpucorrelate.Options{Registerer: registry}, values, selection, want, nil)
	if err != nil {
		return err
	}
	columns, rows := values.Columns(), int(values.Rows())
	flops := float64(columns) * float64(columns+1) * float64(rows)
	add := func(from string, times []time.Duration, off float64) error {
		t := report.Quantile(times, 0.5)
		return o.Report.Add(fmt.Sprintf("Correlate/engine=device/columns=%d/rows=%d/top=%d/from=%s", columns, rows,
			selection.TopPerColumn, from), 1, report.Of(report.Milliseconds(t), "ms"),
			report.Of(flops/1e9/t.Seconds(), "Gflop/s"), report.Of(off, "off-at-most"))
	}
	if err := add("host", times, off); err != nil {
		return err
	}
	if err := o.Report.Note("seconds of %d calls: %s", deviceRounds, phasesOf(registry)); err != nil {
		return err
	}
	// All rows as one chunk of pinned memory: copies and kernels one after the other, by the device's clock.
	const spare = 2048 // rows, up to a whole segment
	bytes := 8 * columns * (rows + spare)
	whole, err := device.New(device.Options{Ordinal: dev.Ordinal(), Streams: 1, PinnedBytes: int64(bytes) / 4 * 5,
		JobTimeout: time.Minute})
	if err != nil {
		return err
	}
	defer whole.Close()
	var jobs [][]*benchdevice.PartsJob // of each round
	options := gpucorrelate.Options{ChunkBytes: bytes, Job: func(job device.Job) device.Job {
		last := &jobs[len(jobs)-1]
		*last = append(*last, &benchdevice.PartsJob{Job: job})
		return (*last)[len(*last)-1]
	}}
	if _, off, err = deviceTimes(ctx, whole, options, values, selection, want, func() {
		jobs = append(jobs, nil)
	}); err != nil {
		return err
	}
	var pinned, resident []time.Duration
	for _, round := range jobs {
		var kernels, copies time.Duration
		for _, job := range round {
			kernels += job.Times["kernels"]
			copies += job.Times["up"] + job.Times["down"]
		}
		pinned, resident = append(pinned, kernels+copies), append(resident, kernels)
	}
	if err := add("pinned", pinned, off); err != nil {
		return err
	}
	return add("resident", resident, off)
}

// deviceTimes correlates on a device so often, and returns how long that took and by how much coefficients differ.
func deviceTimes(ctx context.Context, dev *device.Device, options gpucorrelate.Options, values correlate.Values,
	selection correlate.Selection, want []correlate.Pair, begin func()) ([]time.Duration, float64, error) {
	options.Always = true
	engine := gpucorrelate.New([]*device.Device{dev}, options)
	var times []time.Duration
	var pairs []correlate.Pair
	for range deviceRounds {
		if begin != nil {
			begin()
		}
		pairs = pairs[:0]
		started := time.Now()
		result, err := engine.Correlate(ctx, values, correlate.Options{MemoryBytes: 64 << 30}, selection,
			func(p correlate.Pair) error {
				pairs = append(pairs, p)
				return nil
			})
		if err != nil {
			return nil, 0, err
		}
		if result.Engine == "" {
			return nil, 0, errors.New("bench: the CPU did the device's work")
		}
		times = append(times, time.Since(started))
	}
	off, err := furthest(pairs, want)
	return times, off, err
}

// furthest returns by how much coefficients differ at most, of pairs that both lists have.
func furthest(got, want []correlate.Pair) (float64, error) {
	known := make(map[[2]int]float64, len(want))
	for _, p := range want {
		known[[2]int{p.I, p.J}] = p.R
	}
	off, both := 0., 0
	for _, p := range got {
		if r, ok := known[[2]int{p.I, p.J}]; ok {
			both++
			off = max(off, math.Abs(p.R-r))
		}
	}
	const bound = 1e-12
	if off > bound || both < len(want)-len(want)/1000 {
		return off, fmt.Errorf("bench: the device found %d of %d pairs, and is off by %g", both, len(want), off)
	}
	return off, nil
}

// correlateWide measures the strongest pairs of many columns.
func correlateWide(ctx context.Context, o report.Run, what Options) error {
	if what.Wide.Columns == 0 {
		return nil
	}
	values := normalValues(what.Wide.Columns, what.Wide.Rows, o.Seed)
	selection := correlate.Selection{TopPerColumn: what.Wide.Top}
	var want []correlate.Pair
	started := time.Now()
	if _, err := (correlate.CPU{}).Correlate(ctx, values, correlate.Options{MemoryBytes: 8 << 30}, selection,
		func(p correlate.Pair) error {
			want = append(want, p)
			return nil
		}); err != nil {
		return err
	}
	if err := o.Report.Add(fmt.Sprintf("Correlate/engine=gnocco/columns=%d/rows=%d/top=%d/cores=%d",
		what.Wide.Columns, what.Wide.Rows, what.Wide.Top, runtime.GOMAXPROCS(0)), 1,
		report.Of(time.Since(started).Seconds(), "s")); err != nil {
		return err
	}
	return correlateDevice(ctx, o, what.Device, values, selection, want)
}

// correlateCSV measures everything from text in memory to pairs, on the CPU and on the device.
func correlateCSV(ctx context.Context, o report.Run, what Options) error {
	text := csvBlocks(what.Columns, what.CSVBytes, o.Seed)
	engines := map[string]correlate.Engine{"gnocco": correlate.CPU{}}
	if what.Device != nil {
		engines["device"] = gpucorrelate.New([]*device.Device{what.Device}, gpucorrelate.Options{Always: true})
	}
	for _, name := range []string{"gnocco", "device"} {
		engine := engines[name]
		if engine == nil {
			continue
		}
		started := time.Now()
		r, err := csv.Open(func() (io.ReadCloser, error) { return io.NopCloser(newBlocksReader(text)), nil },
			csv.Options{})
		if err != nil {
			return err
		}
		result, err := engine.Correlate(ctx, r, correlate.Options{MemoryBytes: 4 << 30}, correlate.Selection{},
			func(correlate.Pair) error { return nil })
		if err == nil {
			err = r.Close()
		}
		if err != nil {
			return err
		}
		if name == "device" && result.Engine == "" {
			return errors.New("bench: the CPU did the device's work")
		}
		seconds, bytes := time.Since(started).Seconds(), 0
		for _, block := range text {
			bytes += len(block)
		}
		if err := o.Report.Add(fmt.Sprintf("CorrelateCSV/engine=%s/columns=%d/rows=%d/cores=%d", name, what.Columns,
			result.Rows, runtime.GOMAXPROCS(0)), 1,
			report.Of(seconds, "s"), report.Of(float64(bytes)/1e6/seconds, "MB/s")); err != nil {
			return err
		}
	}
	return nil
}

// csvBlocks is lines of numbers with six decimals, made on all cores; the first block has the header.
func csvBlocks(columns, size int, seed uint64) []string {
	workers := runtime.GOMAXPROCS(0)
	blocks := make([]string, workers)
	var done sync.WaitGroup
	for w := range blocks {
		done.Go(func() {
			random := rand.New(rand.NewPCG(seed, uint64(100+w)))
			var text strings.Builder
			text.Grow(size/workers + 32*columns)
			for j := range columns {
				if w == 0 {
					fmt.Fprintf(&text, "%sc%d", ","[:min(j, 1)], j)
				}
			}
			if w == 0 {
				text.WriteByte('\n')
			}
			var line []byte
			for text.Len() < size/workers {
				line = line[:0]
				for j := range columns {
					if j > 0 {
						line = append(line, ',')
					}
					line = strconv.AppendFloat(line, 100+10*random.NormFloat64(), 'f', 6, 64)
				}
				text.Write(append(line, '\n'))
			}
			blocks[w] = text.String()
		})
	}
	done.Wait()
	return blocks
}

func newBlocksReader(blocks []string) io.Reader {
	readers := make([]io.Reader, len(blocks))
	for i, block := range blocks {
		readers[i] = strings.NewReader(block)
	}
	return io.MultiReader(readers...)
}
