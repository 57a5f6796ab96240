package device

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
)

var (
	gpuSix = []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Sum,
		carbonara.Std, carbonara.Count}
	gpuSeven = []carbonara.Method{carbonara.Sum, carbonara.Min, carbonara.Max, carbonara.Std, carbonara.Count,
		carbonara.First, carbonara.Last}
	gpuOrder = []carbonara.Method{carbonara.Median, carbonara.PercentileMethod(95)}
	gpuNine  = []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour,
		2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}
	gpuTimes = []struct {
		name string
		unit time.Duration
	}{{"8", 1}, {"4", time.Millisecond}, {"0", 0}} // bytes a timestamp takes
	gpuEach     = 10_000 // measures a series of resident batches
	gpuHostEach = 1000   // of batches from host memory
)

// resident is kernels alone, on measures that lie on the device: series of measures 5 s apart with jitter. The columns
// are count, sum, min, max, m2, first and last.
func (b *gpuBench) resident(ctx context.Context) error {
	for _, timestamps := range gpuTimes {
		batch := regularBatch(nil, b.what.Measures, gpuEach, 5*time.Second, timestamps.unit)
		cases := []struct {
			name          string
			granularities []time.Duration
			methods       []carbonara.Method
		}{{"60s", gpuNine[:1], gpuSeven}}
		if timestamps.unit == 1 {
			median := append(slices.Clone(gpuSeven), carbonara.Median)
			cases = append(cases, []struct {
				name          string
				granularities []time.Duration
				methods       []carbonara.Method
			}{
				{"300s", gpuNine[1:2], gpuSeven}, {"3600s", gpuNine[4:5], gpuSeven}, {"86400s", gpuNine[8:], gpuSeven},
				{"nine", gpuNine, gpuSeven},
				{"60s/without=std", gpuNine[:1], []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max}},
				{"nine/without=std", gpuNine, []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max}},
				{"60s/only=median", gpuNine[:1], []carbonara.Method{carbonara.Median}},
				{"60s/and=median", gpuNine[:1], median},
				{"300s/and=median", gpuNine[1:2], median}, {"3600s/and=median", gpuNine[4:5], median},
			}...)
		}
		for _, c := range cases {
			setPlan(batch, carbonara.NewPlan(c.granularities, c.methods))
			part := *batch
			p, err := measureParts(ctx, b.device, &part, b.what.Rounds, nil)
			for errors.Is(err, errProfile) && len(part.Series) > 1 { // the groups do not fit into pinned memory
				part.Series = part.Series[:len(part.Series)/2]
				p, err = measureParts(ctx, b.device, &part, b.what.Rounds, nil)
			}
			if err != nil {
				return err
			}
			err = b.Report.Add("GPUResident/granularity="+c.name+"/timestamps="+timestamps.name+"B", part.Measures(),
				report.Of(report.Milliseconds(p.kernels), "ms-kernel"),
				report.Of(float64(p.touched)/1e9/max(p.kernels.Seconds(), 1e-9), "GB/s"),
				b.ofCopy(p.touched, p.kernels), report.Of(float64(p.groups), "groups"))
			if err != nil {
				return err
			}
		}
		// Check a part of the results, small enough for the CPU.
		part := &carbonara.Batch{Timestamps: batch.Timestamps, Values: batch.Values,
			Series: batch.Series[:min(20, len(batch.Series))]}
		setPlan(part, carbonara.NewPlan(gpuNine, append(slices.Clone(gpuSeven), gpuOrder...)))
		if err := sameGroups(ctx, part, carbonara.NewCPUResampler(b.workers), onDevice(1, b.device)); err != nil {
			return err
		}
	}
	return nil
}

// blog is the case of the experiment that this project began with: 6 * 1024 * 1024 measures of 5 s to 35 s, six
// methods.
func (b *gpuBench) blog(ctx context.Context) error {
	for _, timestamps := range gpuTimes {
		batch := regularBatch(carbonara.NewPlan([]time.Duration{35 * time.Second}, gpuSix), 6<<20, 6<<10,
			5*time.Second, timestamps.unit)
		if err := b.profile(ctx, "GPUBlog/timestamps="+timestamps.name+"B", batch); err != nil {
			return err
		}
	}
	return nil
}

// host is from host memory to host memory, beside the CPU with one and all cores, and what the model would have chosen.
func (b *gpuBench) host(ctx context.Context) error {
	if _, err := b.chooser(ctx); err != nil {
		return err
	}
	engines := b.hostEngines()
	worst := 0.0
	for _, methods := range []struct {
		name    string
		methods []carbonara.Method
	}{{"six", gpuSix}, {"six-and-order", append(slices.Clone(gpuSix), gpuOrder...)}} {
		plan := carbonara.NewPlan(gpuNine[:1], methods.methods)
		for _, n := range b.what.HostSizes {
			for _, timestamps := range gpuTimes[1:] {
				batch := regularBatch(plan, n, min(n, gpuHostEach), 5*time.Second, timestamps.unit)
				name := fmt.Sprintf("/methods=%s/measures=%d/timestamps=%sB", methods.name, n, timestamps.name)
				durations, err := b.hostBatch(ctx, "GPUHost"+name, engines, batch)
				if err != nil {
					return err
				}
				onCPU, onDevice := durations["cpu-1"], durations["device-1/memory=pinned"]
				chosen, choice := onCPU, "cpu"
				if cpu, dev := b.model.Estimate(batch); dev < cpu {
					chosen, choice = onDevice, "device"
				}
				loss := float64(chosen)/float64(min(onCPU, onDevice)) - 1
				worst = max(worst, loss)
				if err := b.Report.Add("GPUChoice"+name+"/choice="+choice, n,
					report.Of(loss*100, "%-loss")); err != nil {
					return err
				}
			}
		}
	}
	return b.Report.Note("the model's worst choice costs %.1f %% more than the better engine", worst*100)
}

// hostEngine is what resamples batches from host memory.
type hostEngine struct {
	name string
	carbonara.Resampler
	pinned bool // batches lie in memory that it lends
}

// hostEngines are the CPU and the device with one and all cores, from Go's memory and from pinned memory, and of the
// last with chunks of several sizes.
func (b *gpuBench) hostEngines() []hostEngine {
	engines := []hostEngine{{"cpu-1", carbonara.NewCPUResampler(1), false},
		{"cpu-all", carbonara.NewCPUResampler(b.workers), false}}
	for _, workers := range []struct {
		name   string
		number int
	}{{"device-1", 1}, {"device-all", b.workers}} {
		engines = append(engines, hostEngine{workers.name + "/memory=go", onDevice(workers.number, b.device), false},
			hostEngine{workers.name + "/memory=pinned", onDevice(workers.number, b.device), true})
		for _, chunk := range b.what.Chunks {
			if chunk > 0 {
				engines = append(engines, hostEngine{fmt.Sprintf("%s/memory=pinned/chunk=%d", workers.name, chunk),
					resample.New([]*device.Device{b.device},
						resample.Options{Workers: workers.number, ChunkMeasures: chunk, Always: true}), true})
			}
		}
	}
	return engines
}

// hostBatch reports how long each engine takes for a batch, and returns it by name.
func (b *gpuBench) hostBatch(ctx context.Context, name string, engines []hostEngine,
	batch *carbonara.Batch) (map[string]time.Duration, error) {
	pinned, err := lentBatch(onDevice(1, b.device), batch)
	if err != nil {
		return nil, err
	}
	defer pinned.Release()
	var result carbonara.Result
	defer result.Release()
	durations, groups := make(map[string]time.Duration), 0
	for _, engine := range engines {
		from := batch
		if engine.pinned {
			from = pinned
		}
		t, err := b.fastest(ctx, engine, from, &result)
		if err != nil {
			return nil, err
		}
		first := result.Groups(0, 0)
		if groups == 0 {
			groups = first.Len()
		}
		if first.Len() != groups || math.IsNaN(first.Values[0][0]) {
			return nil, fmt.Errorf("%s gives %d groups, not %d, or one without a count", engine.name,
				first.Len(), groups)
		}
		durations[engine.name] = t
		n := len(batch.Values)
		figures := []report.Figure{report.Of(float64(t.Nanoseconds())/float64(n), "ns/measure")}
		if all := durations["cpu-all"]; all > 0 {
			figures = append(figures, report.Of(all.Seconds()/t.Seconds(), "x-cpu-all"))
		}
		if err := b.Report.Add(name+"/engine="+engine.name, n, figures...); err != nil {
			return nil, err
		}
	}
	if len(batch.Values) > 1_000_000 { // enough was compared
		return durations, nil
	}
	return durations, sameGroups(ctx, pinned, carbonara.NewCPUResampler(b.workers), onDevice(b.workers, b.device))
}

// fastest is quickest of resampling a batch.
func (b *gpuBench) fastest(ctx context.Context, r carbonara.Resampler, batch *carbonara.Batch,
	result *carbonara.Result) (time.Duration, error) {
	return b.quickest(ctx, func() error { return r.Resample(ctx, batch, result) })
}

// stream passes four times the device's budget through it, from pinned memory to pinned memory.
func (b *gpuBench) stream(ctx context.Context) error {
	for _, timestamps := range gpuTimes {
		// A chunk must fit a quarter of a quarter, even with a group for each measure.
		each := min(gpuHostEach, b.what.Measures/400+1)
		batch := regularBatch(carbonara.NewPlan(gpuNine[1:2], gpuSix), b.what.Measures, each,
			5*time.Second, timestamps.unit)
		p, err := measureParts(ctx, b.device, batch, 1, nil)
		if err != nil {
			return err
		}
		budget := p.uploaded / 4
		dev, err := b.newDevice(0, budget, nil)
		if err != nil {
			return err
		}
		trip, err := measureTrip(ctx, dev, batch, b.what.Chunks[0], b.what.Rounds)
		if err := errors.Join(err, dev.Close()); err != nil {
			return err
		}
		t := report.Quantile(trip.times, 0.5)
		err = b.Report.Add("GPUStream/timestamps="+timestamps.name+"B", b.what.Measures,
			report.Of(report.Milliseconds(t), "ms"), report.Of(float64(trip.uploaded)/1e9/t.Seconds(), "GB/s-up"),
			report.Of(float64(trip.downloaded)/1e9/t.Seconds(), "GB/s-down"),
			report.Of(float64(trip.uploaded)/t.Seconds()/b.upRate*100, "%-of-PCIe"),
			report.Of(float64(trip.uploaded)/float64(budget), "x-budget"))
		if err != nil {
			return err
		}
	}
	return nil
}

// cards resamples a resident batch so often, by one device and by all of them together.
func (b *gpuBench) cards(ctx context.Context) error {
	if len(b.found) < 2 {
		return b.Report.Note("cards: there is one device")
	}
	batch := regularBatch(carbonara.NewPlan(gpuNine[:1], gpuSeven), b.what.Measures, gpuEach, 5*time.Second, 1)
	alone := 0.0
	for cards := 1; cards <= len(b.found); cards *= 2 {
		rounds := 64 / cards
		times, errs := make([]time.Duration, cards), make([]error, cards)
		var ready, done sync.WaitGroup
		ready.Add(cards)
		for i := range cards {
			done.Go(func() {
				arrived := false
				arrive := func() {
					if !arrived {
						arrived = true
						ready.Done()
					}
				}
				defer arrive() // also where it fails before
				dev, err := b.newDevice(i, 0, nil)
				if err != nil {
					errs[i] = err
					return
				}
				p, err := measureParts(ctx, dev, batch, rounds, func() { arrive(); ready.Wait() })
				times[i], errs[i] = p.resident, errors.Join(err, dev.Close())
			})
		}
		done.Wait()
		if err := errors.Join(errs...); err != nil {
			return err
		}
		seconds := slices.Max(times).Seconds()
		if cards == 1 {
			alone = seconds
		}
		n := b.what.Measures * 64
		if err := b.Report.Add(fmt.Sprintf("GPUCards/cards=%d", cards), n, report.Of(seconds*1e3, "ms"),
			report.Of(alone/seconds, "x-one")); err != nil {
			return err
		}
	}
	return nil
}
