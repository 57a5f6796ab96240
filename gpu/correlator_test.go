package gpu_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gnocco/correlate"
	"gnocco/gpu"
	"gnocco/gpu/cu"
)

const correlationBound = 1e-12

// correlationTable makes columns that are in part copies of one another, by f of the row, the column, what is common and noise.
func correlationTable(seed uint64, columns, rows int, f func(random *rand.Rand, t, j int, signal, noise float64) float64) correlate.Values {
	random := rand.New(rand.NewPCG(seed, 1))
	common := make([]float64, rows)
	for t := range common {
		common[t] = random.NormFloat64()
	}
	values := make(correlate.Values, columns)
	for j := range values {
		values[j] = make([]float64, rows)
		share := random.Float64()
		for t := range values[j] {
			values[j][t] = f(random, t, j, share*common[t], random.NormFloat64())
		}
	}
	return values
}

// correlationShapes are data that devices have to get right; wide ones are for the CPU.
var correlationShapes = []struct {
	name string
	wide bool
	f    func(random *rand.Rand, t, j int, signal, noise float64) float64
}{
	{"random", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return signal + noise }},
	{"mean of 1e8 deviations", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e8 + signal + noise }},
	{"constants among", false, func(_ *rand.Rand, _, j int, signal, noise float64) float64 {
		if j%3 == 1 {
			return 0.1 * float64(j)
		}
		return signal + noise
	}},
	{"equal columns", false, func(_ *rand.Rand, t, j int, _, _ float64) float64 {
		return float64(j%2*2-1) * (0.1 + float64(t*t%997))
	}},
	{"nearly constant", false, func(random *rand.Rand, _, _ int, signal, noise float64) float64 {
		if random.IntN(200) == 0 {
			return 7 + 1e-9*(signal+noise)
		}
		return 7
	}},
	{"steps", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		return float64(t/1000*(j%3))*1e6 + signal + noise
	}},
	{"peaks where centres are looked for", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		if t%128 < 4 && j%2 == 0 {
			return 1e9 + signal
		}
		return signal + noise
	}},
	{"heavy tails", false, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 {
		return signal + noise*noise*noise*math.Exp(2*noise*noise)
	}},
	{"gaps", false, func(random *rand.Rand, _, j int, signal, noise float64) float64 {
		if j%3 != 0 && random.IntN(5) == 0 {
			return math.NaN()
		}
		return 1e8 + signal + noise
	}},
	{"late gaps", false, func(random *rand.Rand, t, j int, signal, noise float64) float64 {
		if j == 2 && t > 2500 && random.IntN(2) == 0 {
			return math.Inf(1)
		}
		return 50 + signal + noise
	}},
	{"shared rows far from the rest", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		switch {
		case j%2 == 0 && t%4 < 2:
			return 3e8 + signal + noise
		case j%2 == 0:
			return 0.1
		case t%4 < 2 || t%4 == 2 && j == 3:
			return signal + noise
		}
		return math.NaN()
	}},
	{"constant where shared", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		switch {
		case j == 0 && t%2 == 0:
			return 0.1
		case j == 0:
			return signal
		case t%2 == 0:
			return signal + noise
		}
		return math.NaN()
	}},
	{"few rows", false, func(_ *rand.Rand, t, j int, signal, noise float64) float64 {
		if t > 40+j {
			return math.NaN()
		}
		return signal + noise
	}},
	{"tiny", true, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e-290 * (signal + noise) }},
	{"huge", true, func(_ *rand.Rand, _, _ int, signal, noise float64) float64 { return 1e300 * (signal + noise) }},
}

// newCorrelator returns one on a device of its own, of the driver that hostKernels opened once a test.
func newCorrelator(t testing.TB, options gpu.CorrelatorOptions) *gpu.Correlator {
	t.Helper()
	options.Always = true
	return gpu.NewCorrelator([]*gpu.Device{open(t, gpu.Options{})}, options)
}

// correlated runs an engine.
func correlated(t *testing.T, e correlate.Engine, source correlate.Source, o correlate.Options, s correlate.Selection) ([]correlate.Pair, correlate.Result) {
	t.Helper()
	var pairs []correlate.Pair
	result, err := e.Correlate(t.Context(), source, o, s, func(p correlate.Pair) error {
		pairs = append(pairs, p)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return pairs, result
}

// compareCorrelations holds a device's pairs to the CPU's. Of lags that are as strong, within the bound, either may be chosen.
func compareCorrelations(t *testing.T, c *gpu.Correlator, values correlate.Values, o correlate.Options, s correlate.Selection, wide bool) {
	t.Helper()
	want, cpu := correlated(t, correlate.CPU{}, values, o, s)
	got, device := correlated(t, c, values, o, s)
	if (device.Engine != "") == wide {
		t.Errorf("computed by %q", device.Engine)
	}
	if len(got) != len(want) || device.Rows != cpu.Rows || fmt.Sprint(device.Constant) != fmt.Sprint(cpu.Constant) || device.Eligible != cpu.Eligible {
		t.Fatalf("got %d pairs, %+v; want %d, %+v", len(got), device, len(want), cpu)
	}
	for k, p := range want {
		q := got[k]
		if p.I != q.I || p.J != q.J || math.IsNaN(p.R) != math.IsNaN(q.R) || math.Abs(p.Strength()-q.Strength()) > correlationBound ||
			p.Lag == q.Lag && (math.Abs(p.R-q.R) > correlationBound || p.Overlap != q.Overlap) || math.Abs(q.R) > 1 {
			t.Fatalf("got %+v, want %+v (%g off)", q, p, q.R-p.R)
		}
		if p.Lag != q.Lag && p.Strength() >= 0 {
			t.Logf("another lag: got %+v, want %+v", q, p)
		}
	}
}

func TestCorrelatorShapes(t *testing.T) {
	hostKernels(t)
	for i, shape := range correlationShapes {
		t.Run(shape.name, func(t *testing.T) {
			c := newCorrelator(t, gpu.CorrelatorOptions{ChunkBytes: 8 * 5 * 2048})
			compareCorrelations(t, c, correlationTable(uint64(i), 5, 4099, shape.f), correlate.Options{}, correlate.Selection{}, shape.wide)
			if !testing.Short() {
				compareCorrelations(t, c, correlationTable(uint64(i), 131, 100, shape.f), correlate.Options{}, correlate.Selection{}, shape.wide)
			}
		})
	}
}

// Columns up to three panels, rows up to three segments, with and without gaps, also without tensor cores.
func TestCorrelatorSizes(t *testing.T) {
	hostKernels(t)
	for _, plain := range []bool{false, true} {
		c := newCorrelator(t, gpu.CorrelatorOptions{Plain: plain})
		for _, size := range [][2]int{{2, 2}, {3, 2047}, {5, 2049}, {2, 6151}, {128, 33}, {129, 16}, {257, 31}} {
			t.Run(fmt.Sprintf("plain=%v/columns=%d/rows=%d", plain, size[0], size[1]), func(t *testing.T) {
				for _, k := range []int{1, 8} {
					values := correlationTable(uint64(size[0]), size[0], size[1], correlationShapes[k].f)
					compareCorrelations(t, c, values, correlate.Options{}, correlate.Selection{}, false)
				}
			})
		}
	}
}

func TestCorrelatorLags(t *testing.T) {
	hostKernels(t)
	for _, k := range []int{0, 1, 5, 8, 9, 11} {
		t.Run(correlationShapes[k].name, func(t *testing.T) {
			for _, c := range []struct{ rows, lag, chunkBytes int }{
				{2500, 2, 1 << 20},
				{40, 20, 4 * 8 * 16}, // chunks of 16 rows are shorter than the lag
				{5, 7, 1 << 20},      // all rows are
			} {
				if c.lag > 3 && k != 0 && k != 8 {
					continue
				}
				values := correlationTable(3, 4, c.rows, correlationShapes[k].f)
				copy(values[3][min(2, c.rows):], values[1]) // follows by two rows
				compareCorrelations(t, newCorrelator(t, gpu.CorrelatorOptions{ChunkBytes: c.chunkBytes}), values,
					correlate.Options{MaxLag: c.lag, MinOverlap: 3}, correlate.Selection{}, false)
			}
		})
	}
}

func TestCorrelatorSelections(t *testing.T) {
	hostKernels(t)
	for _, k := range []int{0, 2, 3, 8} {
		values := correlationTable(5, 150, 200, correlationShapes[k].f)
		for _, s := range []correlate.Selection{{MinAbs: 0.3}, {MinAbs: 1}, {Top: 1}, {Top: 100}, {Top: 1 << 20}, {TopPerColumn: 1}, {TopPerColumn: 7},
			{TopPerColumn: 500}, {MinAbs: 0.2, Top: 50}, {MinAbs: 0.2, TopPerColumn: 3}, {Top: 20, TopPerColumn: 3}} {
			if k == 3 && (s.Top > 0 && s.Top < 1<<20 || s.TopPerColumn > 0) {
				// All are as strong but for the last digits, so that which are strongest is chance.
				continue
			}
			t.Run(fmt.Sprintf("%s/%+v", correlationShapes[k].name, s), func(t *testing.T) {
				compareCorrelations(t, newCorrelator(t, gpu.CorrelatorOptions{}), values, correlate.Options{}, s, false)
			})
		}
	}
}

// Bands that do not fit beside each other, and several devices, give the same bits.
func TestCorrelatorBandsAndDevices(t *testing.T) {
	driver := hostKernels(t)
	if driver == nil {
		t.Skip("the driver is a real one")
	}
	driver.SetDevices(3)
	for k, memory := range map[int]int64{1: 10 << 20, 8: 28 << 20} {
		values := correlationTable(6, 520, 40, correlationShapes[k].f)
		one := gpu.NewCorrelator([]*gpu.Device{open(t, gpu.Options{})}, gpu.CorrelatorOptions{Always: true})
		want, _ := correlated(t, one, values, correlate.Options{}, correlate.Selection{})
		many := gpu.NewCorrelator([]*gpu.Device{open(t, gpu.Options{Ordinal: 0}), open(t, gpu.Options{Ordinal: 1}), open(t, gpu.Options{Ordinal: 2})}, gpu.CorrelatorOptions{Always: true})
		got, _ := correlated(t, many, values, correlate.Options{}, correlate.Selection{})
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: three devices give other pairs", correlationShapes[k].name)
		}
		top := correlate.Selection{TopPerColumn: 3}
		wantTop, wantResult := correlated(t, one, values, correlate.Options{}, top)
		gotTop, gotResult := correlated(t, many, values, correlate.Options{}, top)
		if fmt.Sprint(gotTop) != fmt.Sprint(wantTop) || gotResult.Eligible != wantResult.Eligible {
			t.Errorf("%s: three devices give another top", correlationShapes[k].name)
		}
		// Half of it is for pairs: fewer rows of tiles than all, with gaps.
		few := gpu.NewCorrelator([]*gpu.Device{open(t, gpu.Options{MemoryBytes: memory})}, gpu.CorrelatorOptions{Always: true, ChunkBytes: 1 << 20})
		got, result := correlated(t, few, values, correlate.Options{}, correlate.Selection{})
		if fmt.Sprint(got) != fmt.Sprint(want) || result.Passes < 2 || result.Engine == "" {
			t.Errorf("%s: several passes give other pairs: %+v", correlationShapes[k].name, result)
		}
	}
}

// A device that fails at any call leaves the work to the CPU, and no pair is handed out twice.
func TestCorrelatorFallsBack(t *testing.T) {
	values := correlationTable(7, 140, 50, correlationShapes[0].f)
	want, _ := correlated(t, correlate.CPU{}, values, correlate.Options{}, correlate.Selection{})
	for _, name := range []string{"cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemAlloc_v2", "cuModuleLoadDataEx", "cuEventRecord"} {
		for nth := 1; nth <= 5; nth++ {
			t.Run(fmt.Sprintf("%s/%d", name, nth), func(t *testing.T) {
				driver := hostKernels(t)
				if driver == nil {
					t.Skip("the driver is a real one")
				}
				c := newCorrelator(t, gpu.CorrelatorOptions{ChunkBytes: 1 << 15})
				driver.Fail(name, nth, cu.Result(700))
				got, _ := correlated(t, c, values, correlate.Options{}, correlate.Selection{})
				if len(got) != len(want) {
					t.Fatalf("%d pairs, want %d", len(got), len(want))
				}
				for k, p := range got {
					if p.I != want[k].I || p.J != want[k].J || math.Abs(p.R-want[k].R) > correlationBound {
						t.Fatalf("got %+v, want %+v", p, want[k])
					}
				}
			})
		}
	}
}

func TestCorrelatorEndsWithItsContext(t *testing.T) {
	hostKernels(t)
	c := newCorrelator(t, gpu.CorrelatorOptions{})
	ctx, cancel := context.WithCancel(t.Context())
	values := correlationTable(1, 4, 50, correlationShapes[0].f)
	_, err := c.Correlate(ctx, values, correlate.Options{}, correlate.Selection{}, func(correlate.Pair) error {
		cancel()
		return ctx.Err()
	})
	if !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
}

// Small work is left to the CPU.
func TestCorrelatorChooses(t *testing.T) {
	c := gpu.NewCorrelator(nil, gpu.CorrelatorOptions{Always: true})
	if _, result := correlated(t, c, correlate.Values{{1, 2}, {2, 1}}, correlate.Options{}, correlate.Selection{}); result.Engine != "" {
		t.Errorf("computed by %q", result.Engine)
	}
	hostKernels(t)
	c = gpu.NewCorrelator([]*gpu.Device{open(t, gpu.Options{})}, gpu.CorrelatorOptions{})
	if _, result := correlated(t, c, correlate.Values{{1, 2}, {2, 1}}, correlate.Options{}, correlate.Selection{}); result.Engine != "" {
		t.Errorf("computed by %q", result.Engine)
	}
}
