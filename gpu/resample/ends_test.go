package resample_test

import (
	"math"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/tests/devicetest"
	"github.com/gnocco-db/gnocco/tests/fatal"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
)

// Measures from the first to the last nanosecond that there is: the number of groups between them is out of range.
func TestResamplerEnds(t *testing.T) {
	r := newResampler(t, 0)
	const last = carbonara.Timestamp(math.MaxInt64)
	for _, ends := range [][2]carbonara.Timestamp{{0, last}, {1, last}, {0, last - 1}, {0, 0}, {last, last}} {
		for _, widths := range [][]time.Duration{{1}, {2}, {1, 2, 1 << 40}, {math.MaxInt64}} {
			for _, between := range []int{0, 1, 2_000} {
				timestamps := []carbonara.Timestamp{ends[0]}
				for i := range between {
					if at := ends[0] + carbonara.Timestamp(i+1)*1_000_003; at > ends[0] && at < ends[1] {
						timestamps = append(timestamps, at)
					}
				}
				if ends[1] > ends[0] {
					timestamps = append(timestamps, ends[1])
				}
				values := make([]float64, len(timestamps))
				for i := range values {
					values[i] = float64(i%7) + 0.5
				}
				batch := &carbonara.Batch{}
				add(batch, carbonara.NewPlan(widths, orderMethods), timestamps, values)
				compare(t, r, batch)
			}
		}
	}
}

// Series that are not as they must be are the CPU's, and counted: they fail nobody.
func TestResamplerBrokenInvariant(t *testing.T) {
	devicetest.HostKernels(t)
	registry := prometheus.NewRegistry()
	r := resample.New([]*device.Device{devicetest.Open(t, device.Options{})},
		resample.Options{Always: true, Workers: 2, ChunkMeasures: 3, Registerer: registry})
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, orderMethods)
	batch := &carbonara.Batch{}
	add(batch, plan, []carbonara.Timestamp{-5e9, 5e9, 70e9}, []float64{1, 2, 3}) // before 1970
	add(batch, plan, []carbonara.Timestamp{5e9, 6e9, 70e9}, []float64{1, 2, 3})
	var want, got carbonara.Result
	defer got.Release()
	onCPU(t, batch, &want)
	fatal.If(t, r.Resample(t.Context(), batch, &got))
	sameGroups(t, batch, &want, &got)
	if n := devicetest.Gather(t, registry)["gnocco_resampler_fallbacks_total"]; n != 1 {
		t.Errorf("%v chunks were done by the CPU, want 1", n)
	}
}
