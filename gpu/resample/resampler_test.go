package resample_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/tests/golden"
)

func newResampler(t testing.TB, chunkMeasures int) *resample.Resampler {
	t.Helper()
	devicetest.HostKernels(t)
	registry := prometheus.NewRegistry()
	t.Cleanup(func() {
		if n := devicetest.Gather(t, registry)["gnocco_resampler_fallbacks_total"]; n != 0 {
			t.Errorf("%v chunks were done by the CPU", n)
		}
	})
	r := resample.New([]*device.Device{devicetest.Open(t, device.Options{})},
		resample.Options{Always: true, ChunkMeasures: chunkMeasures, Workers: 4, Registerer: registry})
	r.FillGarbage()
	return r
}

// compare holds a batch's groups on the device to those of the CPU, bit for bit: from Go's memory, and from memory that
// the resampler lends once its device is open.
func compare(t *testing.T, r *resample.Resampler, batch *carbonara.Batch) {
	t.Helper()
	var want, got carbonara.Result
	defer got.Release()
	onCPU(t, batch, &want)
	fatal.If(t, r.Resample(t.Context(), batch, &got))
	sameGroups(t, batch, &want, &got)
	if len(batch.Values) == 0 { // packed, or nothing
		return
	}
	lent := lentCopy(r, batch)
	defer lent.Release()
	fatal.If(t, r.Resample(t.Context(), lent, &got))
	sameGroups(t, batch, &want, &got)
}

// onCPU computes what a batch's groups should be.
func onCPU(t testing.TB, batch *carbonara.Batch, result *carbonara.Result) {
	t.Helper()
	if err := carbonara.NewCPUResampler(1).Resample(context.Background(), batch, result); err != nil {
		t.Error(err)
	}
}

// lentCopy returns the batch in memory that the resampler lends, if it does.
func lentCopy(r *resample.Resampler, batch *carbonara.Batch) *carbonara.Batch {
	lent := new(carbonara.Batch)
	copyBatch(r, lent, batch, 16<<10)
	return lent
}

// copyBatch fills a batch with another, in memory that the resampler lends for so many measures at least.
func copyBatch(r *resample.Resampler, to, from *carbonara.Batch, measures int) {
	to.Reset(r)
	to.Grow(max(len(from.Values), measures))
	to.Timestamps, to.Values = append(to.Timestamps, from.Timestamps...), append(to.Values, from.Values...)
	to.Series = append(to.Series, from.Series...)
}

// sameGroups fails the test unless both results of a batch are the same bits.
func sameGroups(t *testing.T, batch *carbonara.Batch, want, got *carbonara.Result) {
	t.Helper()
	fatal.If(t, differs(batch, want, got))
}

// differs tells where two results of a batch are not the same bits.
func differs(batch *carbonara.Batch, want, got *carbonara.Result) error {
	for i := range batch.Series {
		for j, g := range batch.Series[i].Plan.Granularities {
			a, b := want.Groups(i, j), got.Groups(i, j)
			if !slices.Equal(a.Starts, b.Starts) || a.Granularity != b.Granularity ||
				!slices.Equal(a.Columns, b.Columns) {
				return fmt.Errorf("series %d at %v: groups start at %v, want %v", i, g, b.Starts, a.Starts)
			}
			for c, column := range a.Columns {
				for k, x := range a.Values[c] {
					y := b.Values[c][k]
					if math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
						return fmt.Errorf("series %d at %v, %v of group %d of %d: %v (%x), want %v (%x)", i, g,
							column, k, a.Len(), y, math.Float64bits(y), x, math.Float64bits(x))
					}
				}
			}
			if !slices.Equal(hugeMeans(a), hugeMeans(b)) {
				return fmt.Errorf("series %d at %v: means %v, want %v", i, g, hugeMeans(b), hugeMeans(a))
			}
			if err := openDiffers(batch.Series[i].Plan, a, b); err != nil {
				return fmt.Errorf("series %d at %v: %w", i, g, err)
			}
		}
	}
	return nil
}

func hugeMeans(g *carbonara.Groups) (means []float64) {
	g.HugeMeans(func(_ carbonara.Timestamp, _ carbonara.Column, mean float64) { means = append(means, mean) })
	return means
}

// openDiffers returns an error unless the last group is continued alike from both. The rounding error of a sum that is
// not finite means nothing.
func openDiffers(plan *carbonara.Plan, want, got *carbonara.Groups) error {
	if plan.HasPercentiles() {
		return nil
	}
	if want.Len() > 0 && (!want.Continues() || !got.Continues()) {
		return fmt.Errorf("the last group cannot be continued")
	}
	a, b := want.AppendOpen(nil), got.AppendOpen(nil)
	var sums []float64 // whose low parts follow the columns
	for c, column := range plan.Columns {
		if column.Base() == carbonara.ColumnSum && len(a) > 0 {
			sums = append(sums, a[c])
		}
	}
	for c, x := range a {
		y := b[c]
		if k := c - len(plan.Columns); k >= 0 && sums[k]-sums[k] != 0 {
			continue
		}
		if math.Float64bits(x) != math.Float64bits(y) && (x == x || y == y) {
			return fmt.Errorf("number %d of the open row: %v (%x), want %v (%x)", c, y, math.Float64bits(y), x,
				math.Float64bits(x))
		}
	}
	return nil
}

var allMoments = []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Sum,
	carbonara.Std, carbonara.Count, carbonara.First, carbonara.Last}

// withRates adds rate: of each that has it.
func withRates(methods []carbonara.Method) []carbonara.Method {
	for _, m := range slices.Clone(methods) {
		if !m.IsCounter() {
			methods = append(methods, m.Rate())
		}
	}
	return methods
}

// withCounters adds the methods of counters.
func withCounters(methods []carbonara.Method) []carbonara.Method {
	return append(slices.Clone(methods), carbonara.Increase, carbonara.Resets)
}

var orderMethods = append(slices.Clone(allMoments), carbonara.Median, carbonara.PercentileMethod(5),
	carbonara.PercentileMethod(95))

// shape draws measures: their number, distances, units and values.
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

func add(batch *carbonara.Batch, plan *carbonara.Plan, timestamps []carbonara.Timestamp,
	values []float64) *carbonara.Series {
	from := len(batch.Values)
	batch.Timestamps, batch.Values = append(batch.Timestamps, timestamps...), append(batch.Values, values...)
	batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: from, To: len(batch.Values)})
	return &batch.Series[len(batch.Series)-1]
}

// addContinued adds a series that goes on where its first cut measures ended.
func addContinued(t *testing.T, batch *carbonara.Batch, plan *carbonara.Plan, timestamps []carbonara.Timestamp,
	values []float64, cut int) {
	t.Helper()
	series := add(batch, plan, timestamps[cut:], values[cut:])
	if cut == 0 {
		return
	}
	var before carbonara.Result
	fatal.If(t, carbonara.NewCPUResampler(1).Resample(t.Context(),
		&carbonara.Batch{Timestamps: timestamps[:cut], Values: values[:cut],
			Series: []carbonara.Series{{Plan: plan, To: cut}}}, &before))
	series.Previous, series.HasPrevious = carbonara.Measure{Timestamp: timestamps[cut-1], Value: values[cut-1]}, true
	for j := range plan.Granularities {
		series.Open = before.Groups(0, j).AppendOpen(series.Open)
	}
}

func TestResamplerGolden(t *testing.T) {
	r := newResampler(t, 0)
	vectors, err := golden.Vectors()
	fatal.If(t, err)
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
	if cutest.Race {
		t.Skip("one goroutine, and long on the host")
	}
	r := newResampler(t, 0)
	rng := rand.New(rand.NewPCG(1, 2))
	plan := carbonara.NewPlan([]time.Duration{time.Second, 7 * time.Second, time.Minute, time.Hour},
		withRates(withCounters(orderMethods)))
	for _, n := range []int{0, 1, 2, 3, 31, 32, 33, 127, 128, 129, 255, 257, 1021, 2047, 2048, 2049, 6151, 8191, 8192,
		8193, 16385, 24593} {
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

// Sums that overflow, in groups of one batch and of two: the means are there.
func TestResamplerHugeSums(t *testing.T) {
	r := newResampler(t, 0)
	plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour}, withRates(allMoments))
	batch := &carbonara.Batch{}
	for i := range 20 {
		timestamps, values := make([]carbonara.Timestamp, 100), make([]float64, 100)
		for k := range values {
			timestamps[k] = carbonara.Timestamp(1_700_006_400e9 + 10e9*int64(k))
			values[k] = []float64{1.7e308, -1.7e308, 3, 1.7e308, math.Inf(1)}[(k/(1+i))%(4+i%2)]
		}
		addContinued(t, batch, plan, timestamps, values, i%3*7)
	}
	compare(t, r, batch)
	var result carbonara.Result
	onCPU(t, batch, &result)
	if n := len(hugeMeans(result.Groups(10, 0))); n < 5 {
		t.Errorf("%d means of infinite sums", n)
	}
}

// More runs than one block of a fused launch has lanes.
func TestResamplerManyRuns(t *testing.T) {
	r := newResampler(t, 0)
	r.FuseFrom(10)
	rng := rand.New(rand.NewPCG(13, 14))
	plan := carbonara.NewPlan([]time.Duration{5 * time.Second, time.Minute, 4 * time.Minute, 20 * time.Minute},
		withRates(withCounters(allMoments)))
	batch := &carbonara.Batch{}
	for range 150 {
		timestamps, values := shape{n: 50 + rng.IntN(100), step: 300 * time.Millisecond, unit: time.Millisecond,
			jitter: true, wild: rng.IntN(5) == 0}.series(rng)
		addContinued(t, batch, plan, timestamps, values, rng.IntN(2)*rng.IntN(50))
	}
	compare(t, r, batch)
}

// Many granularities that divide one another are fused.
func TestResamplerLevels(t *testing.T) {
	r := newResampler(t, 0)
	r.FuseFrom(10)
	nine := []time.Duration{time.Minute, 5 * time.Minute, 10 * time.Minute, 30 * time.Minute, time.Hour, 2 * time.Hour,
		6 * time.Hour, 12 * time.Hour, 24 * time.Hour}
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
		"counts":  {nine, withRates([]carbonara.Method{carbonara.Count})},
		"largest": {nine, []carbonara.Method{carbonara.Max.Rate()}},
		"order":   {nine[:6], orderMethods},
		"counter": {nine, withCounters(nil)},
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
					s := shape{n: 1 + rng.IntN(700), step: time.Duration(1+rng.IntN(6)) * time.Second / 4,
						jitter: seed < 2, gaps: rng.IntN(3) == 0,
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
		widths := []time.Duration{time.Second, 5 * time.Second, 7 * time.Second, time.Minute, 5 * time.Minute,
			time.Hour, 24 * time.Hour, 1, 1 << 20}
		var plans []*carbonara.Plan
		for range 1 + rng.IntN(3) {
			var granularities []time.Duration
			for range 1 + rng.IntN(4) {
				granularities = append(granularities, widths[rng.IntN(len(widths))])
			}
			methods := [][]carbonara.Method{allMoments, orderMethods, {carbonara.Max}, {carbonara.Median},
				{carbonara.Mean, carbonara.Sum}, {carbonara.Count}, withCounters(nil),
				withCounters(orderMethods)}[rng.IntN(8)]
			if rng.IntN(2) == 0 {
				methods = withRates(slices.Clone(methods))
			}
			plans = append(plans, carbonara.NewPlan(granularities, methods))
		}
		batch := &carbonara.Batch{}
		units := []time.Duration{1, time.Microsecond, time.Millisecond, time.Second}
		for range 1 + rng.IntN(12) {
			s := shape{n: int(math.Exp(rng.Float64() * 8)), step: time.Duration(1+rng.IntN(30)) * time.Second,
				jitter: rng.IntN(3) > 0, gaps: rng.IntN(3) == 0, unit: units[rng.IntN(4)], wild: rng.IntN(3) == 0}
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
		driver := devicetest.HostKernels(t)
		if driver == nil {
			t.Skip("faults are the fake driver's")
		}
		dev := devicetest.Open(t, device.Options{})
		r := resample.New([]*device.Device{dev}, resample.Options{Always: true, ChunkMeasures: 500, Workers: 2})
		rng := rand.New(rand.NewPCG(3, 4))
		plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour}, orderMethods)
		batch := &carbonara.Batch{}
		for range 8 {
			timestamps, values := shape{n: 400, step: 10 * time.Second, unit: 1}.series(rng)
			add(batch, plan, timestamps, values)
		}
		compare(t, r, batch)
		if !carbonara.Accelerates(r, plan, 3200, 1, 1) {
			t.Error("a device is always to be used, and does not accelerate")
		}
		driver.Fail("cuLaunchKernel", nth, cu.IllegalAddress)
		compare(t, r, batch)
		if dev.Err() == nil || carbonara.Accelerates(r, plan, 3200, 1, 1) {
			t.Error("the device is not dead")
		}
		compare(t, r, batch)
		driver.ExpectFaults()
	}
}

// Rows of a table as groups, with the median alone: value i of row r stands at r*width + i.
func TestResamplerRows(t *testing.T) {
	r := newResampler(t, 20_000)
	rng := rand.New(rand.NewPCG(17, 18))
	for _, width := range []int{1, 2, 3, 10, 16, 17, 100, 1000, 1024, 1025, 4096, 4097, 6000} {
		plan := carbonara.PlanOf([]time.Duration{time.Duration(width)},
			[]carbonara.Column{carbonara.PercentileColumn(50)})
		for _, gaps := range []bool{false, true} {
			batch := &carbonara.Batch{}
			for row := 0; row*width < 30_000 && row < 3000; {
				var timestamps []carbonara.Timestamp
				var values []float64
				for begun := row; row < begun+max(1, 5000/width); row++ {
					for i := range width {
						if gaps && rng.IntN(20) == 0 {
							continue
						}
						timestamps = append(timestamps, carbonara.Timestamp(row*width+i))
						values = append(values, math.Round(rng.NormFloat64()*100)/4)
					}
				}
				add(batch, plan, timestamps, values)
			}
			compare(t, r, batch)
		}
	}
}

// Many requests share a resampler; one that gives up does not disturb the others.
func TestResamplerConcurrently(t *testing.T) {
	r := newResampler(t, 900)
	rng := rand.New(rand.NewPCG(15, 16))
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, orderMethods)
	batches := make([]*carbonara.Batch, 8)
	for i := range batches {
		batches[i] = &carbonara.Batch{}
		for range 1 + i {
			timestamps, values := shape{n: 300 + 100*i, step: 10 * time.Second, unit: 1, jitter: i%2 > 0}.series(rng)
			add(batches[i], plan, timestamps, values)
		}
	}
	var done sync.WaitGroup
	for i, batch := range batches {
		done.Go(func() {
			for range 3 {
				compare(t, r, batch)
			}
		})
		done.Go(func() {
			ctx, cancel := context.WithCancel(t.Context())
			stop := time.AfterFunc(time.Duration(i)*time.Millisecond, cancel)
			defer stop.Stop()
			var result carbonara.Result
			defer result.Release()
			for range 3 {
				if err := r.Resample(ctx, batch, &result); err != nil && !errors.Is(err, context.Canceled) {
					t.Error(err)
				}
			}
			cancel()
			if err := r.Resample(ctx, batch, &result); !errors.Is(err, context.Canceled) {
				t.Errorf("after it was cancelled: %v", err)
			}
		})
	}
	done.Wait()
}

// The model decides, and a resampler without a device or a model is the CPU's.
func TestResamplerChoice(t *testing.T) {
	driver := devicetest.HostKernels(t)
	if driver == nil {
		t.Skip("launches are the fake driver's to count")
	}
	dev := devicetest.Open(t, device.Options{})
	r := resample.New([]*device.Device{dev}, resample.Options{Workers: 1})
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
	for _, f := range []struct {
		what   string
		model  resample.Model
		device bool
	}{
		{"faster", resample.Model{CPU: resample.Cost{Measure: 1}, Device: resample.Cost{Batch: 400}}, true},
		{"slower", resample.Model{CPU: resample.Cost{Measure: 1}, Device: resample.Cost{Batch: 1500}}, false},
		{"faster with percentiles", resample.Model{CPU: resample.Cost{Measure: 1, Order: 1},
			Device: resample.Cost{Batch: 1500}}, true},
		{"faster with moments", resample.Model{CPU: resample.Cost{Measure: 1, Moments: 3},
			Device: resample.Cost{Batch: 1500}}, true},
		{"slower with groups of six", resample.Model{CPU: resample.Cost{Measure: 1},
			Device: resample.Cost{Batch: 500, LongMoments: 100}}, false},
		{"slower with groups of six to order",
			resample.Model{CPU: resample.Cost{Measure: 1}, Device: resample.Cost{Batch: 500, LongOrder: 100}}, false},
	} {
		r.SetModel(f.model)
		if launched() != f.device {
			t.Errorf("the device is %s: used %v", f.what, !f.device)
		}
		plan := batch.Series[0].Plan
		if carbonara.Accelerates(r, plan, 1000, 167, 1) != f.device {
			t.Errorf("the device is %s: accelerates %v", f.what, !f.device)
		}
	}
	r.SetModel(resample.Model{CPU: resample.Cost{Measure: 1, Moments: 100, Order: 100},
		Device: resample.Cost{Batch: 1500}})
	counts := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Count})
	if carbonara.Accelerates(r, counts, 1000, 10, 1) || !carbonara.Accelerates(r, counts, 4000, 0, 1) {
		t.Error("counts are taken for moments")
	}
	if carbonara.Accelerates(r, counts, 2000, 0, 1) {
		t.Error("a batch is worth making for a device that is a quarter faster")
	}
	plain := batch
	for _, name := range []string{"sketch", "share_above(90)"} {
		method, err := carbonara.ParseMethod(name)
		fatal.If(t, err)
		batch = &carbonara.Batch{}
		add(batch, carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{method}), timestamps, values)
		if launched() || carbonara.Accelerates(r, batch.Series[0].Plan, 1<<20, 1, 1) {
			t.Errorf("the device is used for %s", name)
		}
	}
	batch = plain
	r.SetModel(resample.Model{CPU: resample.Cost{Measure: 1, Packed: 1},
		Device: resample.Cost{Batch: 1500, Measure: 1, Packed: -1}})
	if launched() {
		t.Error("the device is slower for what is not packed, but was used")
	}
	packed := &carbonara.Batch{}
	addPacked(t, packed, batch.Series[0].Plan, timestamps, values, 1000, 0, 1000)
	if batch = packed; !launched() {
		t.Error("the device is faster for what is packed, but was not used")
	}
	none := resample.New(nil, resample.Options{Always: true})
	compare(t, none, batch)
	if carbonara.Accelerates(none, counts, 1<<30, 1, 1) ||
		carbonara.Accelerates(carbonara.NewCPUResampler(1), counts, 1<<30, 1, 1) {
		t.Error("no device, but faster")
	}
	if _, err := none.Calibrate(t.Context()); !errors.Is(err, device.ErrUnavailable) {
		t.Error(err)
	}
}

// Timestamps that are not what a few of them say are read again.
func TestResamplerFooled(t *testing.T) {
	r := newResampler(t, 0)
	plan := carbonara.NewPlan([]time.Duration{time.Second, 5 * time.Second}, orderMethods)
	all := &carbonara.Batch{}
	for _, timestamps := range resample.Fooling {
		values := make([]float64, len(timestamps))
		for i := range values {
			values[i] = float64(i)
		}
		one := &carbonara.Batch{}
		add(one, plan, timestamps, values)
		compare(t, r, one)
		add(all, plan, timestamps, values)
	}
	compare(t, r, all)
}

// The fake driver's times mean nothing, but calibration has to find each number, and the processor's are known roughly.
func TestCalibrate(t *testing.T) {
	devicetest.HostKernels(t)
	r := resample.New([]*device.Device{devicetest.Open(t, device.Options{})}, resample.Options{Workers: 1})
	m, err := r.Calibrate(t.Context())
	fatal.If(t, err)
	for _, v := range []float64{m.CPU.Batch, m.CPU.LongMoments, m.CPU.LongOrder, m.Device.Moments, m.Device.Order,
		m.Device.LongMoments, m.Device.LongOrder} {
		if !(v >= 0) || math.IsInf(v, 0) {
			t.Errorf("%+v", m)
		}
	}
	if c := m.CPU; !(c.Measure > 0 && c.Moments > 0 && c.Order > 0 && c.Measure+c.Moments+c.Order < 10_000) {
		t.Errorf("%+v", m)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Calibrate(ctx); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
