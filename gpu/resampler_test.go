package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"gnocco/carbonara"
	"gnocco/gpu"
	"gnocco/gpu/cu"
	"gnocco/gpu/cu/cutest"
	"gnocco/internal/golden"
)

// addressSanitizer is set in the process of TestResamplerAddressSanitizer.
const addressSanitizer = "GNOCCO_TEST_ADDRESS_SANITIZER"

// hostKernels makes the fake driver run the kernels, compiled for the host. On a machine with a device, the tests use that.
func hostKernels(t testing.TB) *cutest.Driver {
	t.Helper()
	if all, err := gpu.Find(""); err == nil && len(all) > 0 && all[0].Major > 0 && os.Getenv("GNOCCO_TEST_DEVICE") != "" {
		t.Logf("on %v", all[0])
		return nil
	}
	if _, err := exec.LookPath("clang++-19"); err != nil {
		t.Skip("clang++-19 is not installed: the kernels do not run on the host")
	}
	driver := cutest.Open(t)
	library := filepath.Join(folder, "libkernels.so")
	if _, err := os.Stat(library); err != nil {
		sanitizers := []string{"-fsanitize=undefined", "-fsanitize-trap=undefined"}
		if os.Getenv(addressSanitizer) != "" {
			sanitizers = append(sanitizers, "-fsanitize=address", "-shared-libsan")
		}
		out, err := exec.Command("kernels/build.sh", append([]string{"host", library}, sanitizers...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
	}
	driver.LoadKernels(library)
	driver.SetMemory(2 << 30)
	return driver
}

func newResampler(t testing.TB, pieceMeasures int) *gpu.Resampler {
	t.Helper()
	hostKernels(t)
	registry := prometheus.NewRegistry()
	t.Cleanup(func() {
		if n := gather(t, registry)["gnocco_resampler_fallbacks_total"]; n != 0 {
			t.Errorf("%v pieces were done by the CPU", n)
		}
	})
	r := gpu.NewResampler([]*gpu.Device{open(t, gpu.Options{})},
		gpu.ResamplerOptions{Always: true, PieceMeasures: pieceMeasures, Workers: 3, Registerer: registry})
	r.Poison()
	return r
}

// compare holds a batch's groups on the device to those of the CPU, bit for bit.
func compare(t *testing.T, r *gpu.Resampler, batch *carbonara.Batch) {
	t.Helper()
	var want, got carbonara.Result
	if err := carbonara.NewCPUResampler(1).Resample(context.Background(), batch, &want); err != nil {
		t.Fatal(err)
	}
	if err := r.Resample(t.Context(), batch, &got); err != nil {
		t.Fatal(err)
	}
	for i := range batch.Series {
		for j, g := range batch.Series[i].Plan.Granularities {
			a, b := want.Groups(i, j), got.Groups(i, j)
			if !slices.Equal(a.Starts, b.Starts) || a.Granularity != b.Granularity || !slices.Equal(a.Columns, b.Columns) {
				t.Fatalf("series %d at %v: groups start at %v, want %v", i, g, b.Starts, a.Starts)
			}
			for c, column := range a.Columns {
				for k, x := range a.Values[c] {
					y := b.Values[c][k]
					// Which of two zeros comes first is not kept by the CPU's sort.
					same := math.Float64bits(x) == math.Float64bits(y) || x != x && y != y || column.Percentile() > 0 && x == y
					if !same {
						t.Fatalf("series %d at %v, %v of group %d of %d: %v (%x), want %v (%x)", i, g, column, k, a.Len(),
							y, math.Float64bits(y), x, math.Float64bits(x))
					}
				}
			}
		}
	}
}

var allMoments = []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Sum, carbonara.Std, carbonara.Count,
	carbonara.First, carbonara.Last}

// withRates adds rate: of each.
func withRates(methods []carbonara.Method) []carbonara.Method {
	for _, m := range slices.Clone(methods) {
		methods = append(methods, m.Rate())
	}
	return methods
}

var orderMethods = append(slices.Clone(allMoments), carbonara.Median, carbonara.PercentileMethod(5), carbonara.PercentileMethod(95))

// shape draws measures: how many, how far apart, in which units, of which values.
type shape struct {
	n      int
	step   time.Duration
	jitter bool
	gaps   bool
	unit   time.Duration
	wild   bool // NaN, infinities, zeros of both signs, many equal values
}

func (s shape) series(rng *rand.Rand) ([]carbonara.Timestamp, []float64) {
	timestamps, values := make([]carbonara.Timestamp, s.n), make([]float64, s.n)
	at := carbonara.Timestamp(1_700_000_000_000_000_000 + rng.Int64N(1e15))
	at -= at % carbonara.Timestamp(s.unit)
	for i := range s.n {
		step := s.step
		if s.jitter {
			step += time.Duration(rng.Int64N(int64(s.step))) - s.step/2
		}
		if s.gaps && rng.IntN(40) == 0 {
			step *= time.Duration(1 + rng.IntN(3000))
		}
		at += carbonara.Timestamp(max(step-step%s.unit, s.unit))
		timestamps[i], values[i] = at, math.Round(rng.NormFloat64()*1e4)/100
		if s.wild {
			switch rng.IntN(12) {
			case 0:
				values[i] = math.NaN()
			case 1:
				values[i] = math.Inf(rng.IntN(2)*2 - 1)
			case 2:
				values[i] = math.Copysign(0, -1)
			case 3:
				values[i] = 0
			case 4:
				values[i] = rng.Float64() * math.MaxFloat64
			case 5:
				values[i] = math.SmallestNonzeroFloat64 * float64(rng.IntN(5))
			}
		}
	}
	return timestamps, values
}

func add(batch *carbonara.Batch, plan *carbonara.Plan, timestamps []carbonara.Timestamp, values []float64) *carbonara.Series {
	from := len(batch.Values)
	batch.Timestamps, batch.Values = append(batch.Timestamps, timestamps...), append(batch.Values, values...)
	batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: from, To: len(batch.Values)})
	return &batch.Series[len(batch.Series)-1]
}

// addContinued adds a series that goes on where its first cut measures ended.
func addContinued(t *testing.T, batch *carbonara.Batch, plan *carbonara.Plan, timestamps []carbonara.Timestamp, values []float64, cut int) {
	t.Helper()
	series := add(batch, plan, timestamps[cut:], values[cut:])
	if cut == 0 {
		return
	}
	var before carbonara.Result
	if err := carbonara.NewCPUResampler(1).Resample(t.Context(), &carbonara.Batch{Timestamps: timestamps[:cut], Values: values[:cut],
		Series: []carbonara.Series{{Plan: plan, To: cut}}}, &before); err != nil {
		t.Fatal(err)
	}
	series.Previous, series.HasPrevious = carbonara.Measure{Timestamp: timestamps[cut-1], Value: values[cut-1]}, true
	for j := range plan.Granularities {
		series.Open = before.Groups(0, j).AppendLast(series.Open)
	}
}

func TestResamplerGolden(t *testing.T) {
	r := newResampler(t, 0)
	vectors, err := golden.Vectors()
	if err != nil {
		t.Fatal(err)
	}
	all := &carbonara.Batch{}
	for _, v := range vectors {
		var widths []time.Duration
		var methods []carbonara.Method
		for _, g := range v.Granularities {
			widths = append(widths, g.Granularity)
		}
		for _, a := range v.Granularities[0].Aggregates {
			methods = append(methods, a.Method)
		}
		one := &carbonara.Batch{}
		plan := carbonara.NewPlan(widths, methods)
		add(one, plan, v.Timestamps, v.Values)
		add(all, plan, v.Timestamps, v.Values)
		t.Run(v.Name, func(t *testing.T) { compare(t, r, one) })
	}
	compare(t, r, all)
}

// Sizes around the tiles of the kernels, and primes.
func TestResamplerSizes(t *testing.T) {
	r := newResampler(t, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	plan := carbonara.NewPlan([]time.Duration{time.Second, 7 * time.Second, time.Minute, time.Hour}, withRates(orderMethods))
	for _, n := range []int{0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 257, 1021, 2047, 2048, 2049, 6151, 8191, 8192, 8193, 16385, 24593} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			for _, s := range []shape{
				{n: n, step: 5 * time.Second, unit: 1},
				{n: n, step: 5 * time.Second, jitter: true, unit: time.Millisecond},
				{n: n, step: 300 * time.Millisecond, jitter: true, gaps: true, unit: 1, wild: true},
			} {
				batch := &carbonara.Batch{}
				timestamps, values := s.series(rng)
				add(batch, plan, timestamps, values)
				compare(t, r, batch)
			}
		})
	}
}

// More runs than one block of a walk has lanes.
func TestResamplerManyRuns(t *testing.T) {
	r := newResampler(t, 0)
	r.WalkFrom(10)
	rng := rand.New(rand.NewPCG(13, 14))
	plan := carbonara.NewPlan([]time.Duration{5 * time.Second, time.Minute, 4 * time.Minute, 20 * time.Minute}, withRates(slices.Clone(allMoments)))
	batch := &carbonara.Batch{}
	for range 150 {
		timestamps, values := shape{n: 50 + rng.IntN(100), step: 300 * time.Millisecond, unit: time.Millisecond, jitter: true, wild: rng.IntN(5) == 0}.series(rng)
		addContinued(t, batch, plan, timestamps, values, rng.IntN(2)*rng.IntN(50))
	}
	compare(t, r, batch)
}

// Many granularities that divide one another are walked together.
func TestResamplerLevels(t *testing.T) {
	r := newResampler(t, 0)
	r.WalkFrom(10)
	nine := []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour, 6 * time.Hour, 12 * time.Hour, 24 * time.Hour}
	var doubled []time.Duration // more than go into one launch
	for width := 10 * time.Millisecond; width <= 40960*time.Millisecond; width *= 2 {
		doubled = append(doubled, width)
	}
	for name, f := range map[string]struct {
		widths  []time.Duration
		methods []carbonara.Method
	}{
		"nine":    {nine, allMoments},
		"rates":   {nine, withRates(slices.Clone(allMoments))},
		"sums":    {nine, []carbonara.Method{carbonara.Mean}},
		"largest": {nine, []carbonara.Method{carbonara.Max.Rate()}},
		"order":   {nine[:6], orderMethods},
		"doubled": {doubled, allMoments},
		"strange": {append([]time.Duration{7 * time.Second}, nine...), allMoments},
	} {
		t.Run(name, func(t *testing.T) {
			rounds := 3
			if testing.Short() {
				rounds = 1
			}
			for seed := range rounds {
				rng := rand.New(rand.NewPCG(11, uint64(seed)))
				plan := carbonara.NewPlan(f.widths, f.methods)
				batch := &carbonara.Batch{}
				for range 1 + rng.IntN(36) {
					s := shape{n: 1 + rng.IntN(700), step: time.Duration(1+rng.IntN(6)) * time.Second / 4, jitter: seed < 2, gaps: rng.IntN(3) == 0,
						unit: []time.Duration{1, time.Millisecond, time.Second}[seed], wild: rng.IntN(2) == 0}
					if name == "doubled" {
						s.step = time.Millisecond
					}
					timestamps, values := s.series(rng)
					cut := 0
					if !plan.HasPercentiles() && rng.IntN(2) == 0 {
						cut = rng.IntN(len(values))
					}
					addContinued(t, batch, plan, timestamps, values, cut)
				}
				compare(t, r, batch)
			}
		})
	}
}

func TestResamplerRandomShapes(t *testing.T) {
	r := newResampler(t, 3000)
	rounds := 60
	if testing.Short() {
		rounds = 15
	}
	if os.Getenv("GNOCCO_TEST_DEVICE") != "" {
		rounds = 1000
	}
	for seed := range rounds {
		rng := rand.New(rand.NewPCG(7, uint64(seed)))
		widths := []time.Duration{time.Second, 5 * time.Second, 7 * time.Second, time.Minute, 5 * time.Minute, time.Hour, 24 * time.Hour, 1, 1 << 20}
		var plans []*carbonara.Plan
		for range 1 + rng.IntN(3) {
			var granularities []time.Duration
			for range 1 + rng.IntN(4) {
				granularities = append(granularities, widths[rng.IntN(len(widths))])
			}
			methods := [][]carbonara.Method{allMoments, orderMethods, {carbonara.Max}, {carbonara.Median}, {carbonara.Mean, carbonara.Sum}}[rng.IntN(5)]
			if rng.IntN(2) == 0 {
				methods = withRates(slices.Clone(methods))
			}
			plans = append(plans, carbonara.NewPlan(granularities, methods))
		}
		batch := &carbonara.Batch{}
		units := []time.Duration{1, time.Microsecond, time.Millisecond, time.Second}
		for range 1 + rng.IntN(12) {
			s := shape{n: int(math.Exp(rng.Float64() * 8)), step: time.Duration(1+rng.IntN(30)) * time.Second, jitter: rng.IntN(3) > 0,
				gaps: rng.IntN(3) == 0, unit: units[rng.IntN(4)], wild: rng.IntN(3) == 0}
			timestamps, values := s.series(rng)
			plan := plans[rng.IntN(len(plans))]
			cut := 0
			if !plan.HasPercentiles() {
				cut = rng.IntN(2) * rng.IntN(len(values))
			} else if rng.IntN(2) == 0 { // rates only: the series starts with a group, but has a measure before
				cut = 0
			}
			addContinued(t, batch, plan, timestamps, values, cut)
		}
		compare(t, r, batch)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

// A device that fails in the middle of a batch loses nothing: the CPU does what is left, and all that comes later.
func TestResamplerFault(t *testing.T) {
	for _, nth := range []int{1, 3, 9} {
		driver := hostKernels(t)
		if driver == nil {
			t.Skip("faults are the fake driver's")
		}
		device := open(t, gpu.Options{})
		r := gpu.NewResampler([]*gpu.Device{device}, gpu.ResamplerOptions{Always: true, PieceMeasures: 500, Workers: 2})
		rng := rand.New(rand.NewPCG(3, 4))
		plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour}, orderMethods)
		batch := &carbonara.Batch{}
		for range 8 {
			timestamps, values := shape{n: 400, step: 10 * time.Second, unit: 1}.series(rng)
			add(batch, plan, timestamps, values)
		}
		compare(t, r, batch)
		driver.Fail("cuLaunchKernel", nth, cu.IllegalAddress)
		compare(t, r, batch)
		if device.Err() == nil {
			t.Error("the device is not dead")
		}
		compare(t, r, batch)
		driver.ExpectFaults()
	}
}

// The model decides, and a resampler without a device or a model is the CPU's.
func TestResamplerChoice(t *testing.T) {
	driver := hostKernels(t)
	if driver == nil {
		t.Skip("launches are the fake driver's to count")
	}
	device := open(t, gpu.Options{})
	r := gpu.NewResampler([]*gpu.Device{device}, gpu.ResamplerOptions{Workers: 1})
	rng := rand.New(rand.NewPCG(5, 6))
	timestamps, values := shape{n: 1000, step: 10 * time.Second, unit: 1}.series(rng)
	batch := &carbonara.Batch{}
	add(batch, carbonara.NewPlan([]time.Duration{time.Minute}, orderMethods), timestamps, values)
	launched := func() bool {
		before := len(driver.Launches())
		compare(t, r, batch)
		return len(driver.Launches()) > before
	}
	if launched() {
		t.Error("the device was used before anything was measured")
	}
	r.SetModel(gpu.Model{CPUMeasure: 1, DeviceBatch: 500})
	if !launched() {
		t.Error("the device is faster, but was not used")
	}
	r.SetModel(gpu.Model{CPUMeasure: 1, DeviceBatch: 1500})
	if launched() {
		t.Error("the device is slower, but was used")
	}
	r.SetModel(gpu.Model{CPUMeasure: 1, CPUOrder: 1, DeviceBatch: 1500})
	if !launched() {
		t.Error("the device is faster with percentiles, but was not used")
	}
	r.SetModel(gpu.Model{CPUMeasure: 1, CPUPacked: 1, DeviceBatch: 1500, DeviceMeasure: 1, DevicePacked: -1})
	if launched() {
		t.Error("the device is slower for what is not packed, but was used")
	}
	packed := &carbonara.Batch{}
	addPacked(t, packed, batch.Series[0].Plan, timestamps, values, 1000, 0, 1000)
	if batch = packed; !launched() {
		t.Error("the device is faster for what is packed, but was not used")
	}
	none := gpu.NewResampler(nil, gpu.ResamplerOptions{Always: true})
	compare(t, none, batch)
	if _, err := none.Calibrate(t.Context()); !errors.Is(err, gpu.ErrUnavailable) {
		t.Error(err)
	}
}
