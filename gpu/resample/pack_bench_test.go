package resample

import (
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const packMeasures = 128_000

// BenchmarkPack is what a core does before a chunk goes up: 128 series of 1,000 measures.
func BenchmarkPack(b *testing.B) {
	cutest.Open(b)
	dev, err := device.New(device.Options{})
	fatal.If(b, err)
	defer dev.Close()
	e, err := dev.Open(b.Context())
	fatal.If(b, err)
	r := New([]*device.Device{dev}, Options{Always: true})
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean, carbonara.Median})
	for _, timestamps := range []struct {
		name   string
		jitter carbonara.Timestamp
	}{{"regular", 0}, {"milliseconds", millisecond}, {"nanoseconds", 1}} {
		for _, memory := range []struct {
			name    string
			lender  carbonara.Resampler
			compact bool
		}{{"go", nil, true}, {"pinned", r, true}, {"pinned-as-it-is", r, false}} {
			b.Run("timestamps="+timestamps.name+"/memory="+memory.name, func(b *testing.B) {
				var batch carbonara.Batch
				batch.Reset(memory.lender)
				batch.Grow(packMeasures)
				var series []int
				for i := range packMeasures {
					if i%1000 == 0 {
						series = append(series, i/1000)
						batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: i, To: i + 1000})
					}
					batch.Timestamps = append(batch.Timestamps,
						stepsOf()[0]+carbonara.Timestamp(i%1000)*10*second+
							carbonara.Timestamp(i*7919%997)*timestamps.jitter)
					batch.Values = append(batch.Values, float64(i))
				}
				defer batch.Release()
				p := &chunk{program: &program{}, fuseFrom: fuseFrom, compact: memory.compact}
				defer p.release()
				for b.Loop() {
					fatal.If(b, p.load(e, &batch, plan, series))
				}
				if (p.from.memory != nil) != (memory.lender != nil) {
					b.Error("copied, or not, against what was meant")
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(p.n), "ns/measure")
			})
		}
	}
}
