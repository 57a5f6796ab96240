package correlate_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/correlate"
	gpucorrelate "github.com/gnocco-db/gnocco/gpu/correlate"
	"github.com/gnocco-db/gnocco/gpu/cu"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/tests/correlatetest"
)

// architectures returns the major numbers of the compute capabilities whose kernels the device takes. Those for 8 and 9
// are the same on the host.
func architectures(t testing.TB) []int {
	t.Helper()
	if devicetest.HostKernels(t) != nil {
		return []int{9, 7}
	}
	all, err := device.Find("")
	fatal.If(t, err)
	return architecturesOf(all[0])
}

func architecturesOf(dev device.Properties) []int {
	var majors []int
	for most := 9; most >= 7; most-- {
		if major := gpucorrelate.Architecture(dev, most); !slices.Contains(majors, major) {
			majors = append(majors, major)
		}
	}
	return majors
}

// eachArchitecture runs a test with the kernels of each.
func eachArchitecture(t *testing.T, f func(t *testing.T, major int)) {
	for _, major := range architectures(t) {
		t.Run(fmt.Sprintf("sm_%d0", major), func(t *testing.T) { f(t, major) })
	}
}

// newCorrelator returns one on a device of its own, of the driver that hostKernels opened once a test; major is 0 for
// the device's own kernels.
func newCorrelator(t testing.TB, major int, options gpucorrelate.Options) *gpucorrelate.Correlator {
	t.Helper()
	options.Always = true
	c := gpucorrelate.New([]*device.Device{devicetest.Open(t, device.Options{})}, options)
	c.Architecture(major)
	return c
}

// watched is a correlator that may leave to the CPU what is out of its range, and nothing else.
type watched struct {
	*gpucorrelate.Correlator
	t testing.TB
}

func (w watched) Correlate(ctx context.Context, source correlate.Source, o correlate.Options, s correlate.Selection,
	each func(correlate.Pair) error) (correlate.Result, error) {
	result, err := w.Correlator.Correlate(ctx, source, o, s, each)
	values, ok := source.(correlate.Values)
	if !ok {
		values = source.(correlatetest.Pieces).Values
	}
	if err == nil && (result.Engine == "") != outOfRange(values) {
		w.t.Errorf("computed by %q", result.Engine)
	}
	return result, err
}

// outOfRange reports whether squares of values leave the range of float64, or might.
func outOfRange(values correlate.Values) bool {
	for _, column := range values {
		for _, v := range column {
			if v = math.Abs(v); v > 0x1p480 && !math.IsInf(v, 1) || v < 0x1p-450 && v > 0 {
				return true
			}
		}
	}
	return false
}

// compareCorrelations holds a device's pairs to the CPU's.
func compareCorrelations(t *testing.T, c *gpucorrelate.Correlator, values correlate.Values, o correlate.Options,
	s correlate.Selection) {
	t.Helper()
	correlatetest.Compare(t, watched{c, t}, values, o, s)
}

// On the host, kernels without tensor cores are left to TestCorrelatorSizes: all but the products is the same.
func TestCorrelator(t *testing.T) {
	if cutest.Race {
		t.Skip("one goroutine, and long on the host")
	}
	eachArchitecture(t, func(t *testing.T, major int) {
		if major == 7 && devicetest.HostKernels(t) != nil {
			t.Skip("takes long on the host")
		}
		correlatetest.Engine(t, watched{newCorrelator(t, major, gpucorrelate.Options{ChunkBytes: 8 * 7 * 2048}), t})
	})
}

// Which kernels a device takes. Some of compute capability 8 have less shared memory than tensor cores' products take.
func TestCorrelatorArchitecture(t *testing.T) {
	f := func(major, sharedBytes, most, want int) {
		t.Helper()
		if got := gpucorrelate.Architecture(device.Properties{Major: major, SharedBytesPerBlock: sharedBytes},
			most); got != want {
			t.Errorf("compute capability %d, %d bytes, kernels up to %d: got those for %d, want %d", major,
				sharedBytes, most, got, want)
		}
	}
	f(7, 96<<10, 0, 7)
	f(8, 163<<10, 0, 8)
	f(8, 99<<10, 0, 7)
	f(9, 227<<10, 0, 9)
	f(9, 227<<10, 8, 8)
	f(9, 227<<10, 7, 7)
	f(10, 227<<10, 0, 9)
	f(12, 99<<10, 0, 7)
}

// Every shape over several panels.
func TestCorrelatorPanels(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	devicetest.HostKernels(t)
	c := newCorrelator(t, 0, gpucorrelate.Options{})
	for i, shape := range correlatetest.Shapes {
		t.Run(shape.Name, func(t *testing.T) {
			compareCorrelations(t, c, shape.Values(uint64(i), 131, 100), correlate.Options{}, correlate.Selection{})
		})
	}
}

// Columns up to three panels, rows up to three segments, with and without gaps.
func TestCorrelatorSizes(t *testing.T) {
	eachArchitecture(t, func(t *testing.T, major int) {
		c := newCorrelator(t, major, gpucorrelate.Options{})
		sizes := [][2]int{{2, 2}, {5, 2049}, {129, 16}, {257, 31}, {3, 2047}, {2, 6151}, {128, 33}}
		if testing.Short() {
			sizes = sizes[:4]
		}
		for _, size := range sizes {
			t.Run(fmt.Sprintf("columns=%d/rows=%d", size[0], size[1]), func(t *testing.T) {
				for _, name := range []string{"mean of 1e8 deviations", "gaps"} {
					values := correlatetest.Shaped(name).Values(uint64(size[0]), size[0], size[1])
					compareCorrelations(t, c, values, correlate.Options{}, correlate.Selection{})
				}
			})
		}
	})
}

// Lags reach back beyond chunks and beyond all rows.
func TestCorrelatorLags(t *testing.T) {
	devicetest.HostKernels(t)
	type shape struct {
		name                  string
		rows, lag, chunkBytes int
	}
	shapes := []shape{
		{"random", 40, 20, 4 * 8 * 16}, // chunks of 16 rows are shorter than the lag
		{"gaps", 40, 20, 4 * 8 * 16},
		{"random", 5, 7, 1 << 20}, // all rows are
		{"gaps", 5, 7, 1 << 20},
	}
	if !testing.Short() {
		shapes = append(shapes, shape{"late gaps", 2600, 1, 1 << 20}, shape{"mean of 1e8 deviations", 2500, 2, 1 << 20},
			shape{"constant where shared", 2500, 1, 1 << 20})
	}
	for _, c := range shapes {
		t.Run(fmt.Sprintf("%s/rows=%d/lag=%d", c.name, c.rows, c.lag), func(t *testing.T) {
			values := correlatetest.Shaped(c.name).Values(3, 4, c.rows)
			copy(values[3][min(2, c.rows):], values[1]) // follows by two rows
			compareCorrelations(t, newCorrelator(t, 0, gpucorrelate.Options{ChunkBytes: c.chunkBytes}), values,
				correlate.Options{MaxLag: c.lag, MinOverlap: 3}, correlate.Selection{})
		})
	}
}

// Bands that do not fit beside each other, and several devices, give the same bits.
func TestCorrelatorBandsAndDevices(t *testing.T) {
	driver := devicetest.HostKernels(t)
	if driver == nil {
		t.Skip("the driver is a real one")
	}
	driver.SetDevices(3)
	memories := map[string]int64{"mean of 1e8 deviations": 10 << 20, "gaps": 28 << 20}
	if testing.Short() {
		delete(memories, "mean of 1e8 deviations")
	}
	for name, memory := range memories {
		values := correlatetest.Shaped(name).Values(6, 520, 40)
		one := gpucorrelate.New([]*device.Device{devicetest.Open(t, device.Options{})},
			gpucorrelate.Options{Always: true})
		want, _ := correlatetest.Pairs(t, one, values, correlate.Options{}, correlate.Selection{})
		many := gpucorrelate.New([]*device.Device{devicetest.Open(t, device.Options{Ordinal: 0}),
			devicetest.Open(t, device.Options{Ordinal: 1}), devicetest.Open(t, device.Options{Ordinal: 2})},
			gpucorrelate.Options{Always: true})
		got, _ := correlatetest.Pairs(t, many, values, correlate.Options{}, correlate.Selection{})
		if !correlatetest.Same(got, want) {
			t.Errorf("%s: three devices give other pairs", name)
		}
		top := correlate.Selection{TopPerColumn: 3}
		wantTop, wantResult := correlatetest.Pairs(t, one, values, correlate.Options{}, top)
		gotTop, gotResult := correlatetest.Pairs(t, many, values, correlate.Options{}, top)
		if !correlatetest.Same(gotTop, wantTop) || gotResult.Eligible != wantResult.Eligible {
			t.Errorf("%s: three devices give another top", name)
		}
		// Half of it is for pairs: fewer rows of tiles than all, with gaps.
		few := gpucorrelate.New([]*device.Device{devicetest.Open(t, device.Options{MemoryBytes: memory})},
			gpucorrelate.Options{Always: true, ChunkBytes: 1 << 20})
		got, result := correlatetest.Pairs(t, few, values, correlate.Options{}, correlate.Selection{})
		if !correlatetest.Same(got, want) || result.Passes < 2 || result.Engine == "" {
			t.Errorf("%s: several passes give other pairs: %+v", name, result)
		}
	}
}

// A device that fails at any call leaves the work to the CPU, and no pair is handed out twice.
func TestCorrelatorFallsBack(t *testing.T) {
	values := correlatetest.Shaped("random").Values(7, 140, 50)
	want, _ := correlatetest.Pairs(t, correlate.CPU{}, values, correlate.Options{}, correlate.Selection{})
	for _, name := range []string{"cuLaunchKernel", "cuMemcpyHtoDAsync_v2", "cuMemcpyDtoHAsync_v2", "cuMemAlloc_v2",
		"cuModuleLoadDataEx", "cuEventRecord"} {
		for nth := 1; nth <= 5; nth++ {
			t.Run(fmt.Sprintf("%s/%d", name, nth), func(t *testing.T) {
				driver := devicetest.HostKernels(t)
				if driver == nil {
					t.Skip("the driver is a real one")
				}
				registry := prometheus.NewRegistry()
				c := newCorrelator(t, 0, gpucorrelate.Options{ChunkBytes: 1 << 15, Registerer: registry})
				driver.Fail(name, nth, cu.Result(700))
				got, result := correlatetest.Pairs(t, c, values, correlate.Options{}, correlate.Selection{})
				if fallbacks := devicetest.Gather(t, registry)["gnocco_correlator_fallbacks_total"]; (fallbacks == 1) != (result.Engine == "") {
					t.Errorf("computed by %q, %v fallbacks counted", result.Engine, fallbacks)
				}
				if len(got) != len(want) {
					t.Fatalf("%d pairs, want %d", len(got), len(want))
				}
				for k, p := range got {
					if p.I != want[k].I || p.J != want[k].J || math.Abs(p.R-want[k].R) > correlatetest.Bound {
						t.Fatalf("got %+v, want %+v", p, want[k])
					}
				}
			})
		}
	}
}

// Small work is left to the CPU.
func TestCorrelatorChooses(t *testing.T) {
	c := gpucorrelate.New(nil, gpucorrelate.Options{Always: true})
	if _, result := correlatetest.Pairs(t, c, correlate.Values{{1, 2}, {2, 1}}, correlate.Options{},
		correlate.Selection{}); result.Engine != "" {
		t.Errorf("computed by %q", result.Engine)
	}
	devicetest.HostKernels(t)
	c = gpucorrelate.New([]*device.Device{devicetest.Open(t, device.Options{})}, gpucorrelate.Options{})
	if _, result := correlatetest.Pairs(t, c, correlate.Values{{1, 2}, {2, 1}}, correlate.Options{},
		correlate.Selection{}); result.Engine != "" {
		t.Errorf("computed by %q", result.Engine)
	}
}
