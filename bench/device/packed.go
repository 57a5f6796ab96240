package device

import (
	"context"
	"math/rand/v2"
	"time"

	"github.com/gnocco-db/gnocco/bench/pattern"
	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
)

// packed is raw series as the archive has them, gauges of two decimals every ten seconds or so, in whole seconds: their
// bytes go to the device, which makes columns of them, beside columns that are there already, and beside the CPU, which
// decodes the same bytes. Narrow groups bring back more bytes than they send.
func (b *gpuBench) packed(ctx context.Context) error {
	n := min(b.what.Measures, packedMeasures)
	columns, packed, bytes, err := packedBatches(n)
	if err != nil {
		return err
	}
	if err := b.Report.Add("GPUPacked/stored", n, report.Of(float64(bytes)/float64(n), "bytes/measure")); err != nil {
		return err
	}
	for _, granularity := range []struct {
		name  string
		width time.Duration
	}{{"60s", time.Minute}, {"3600s", time.Hour}} {
		plan := carbonara.NewPlan([]time.Duration{granularity.width}, gpuSix)
		setPlan(columns, plan)
		setPlan(packed, plan)
		name := "GPUPacked/granularity=" + granularity.name
		if err := b.packedTrips(ctx, name, n, columns, packed); err != nil {
			return err
		}
		if err := b.packedEngines(ctx, name, n, packed); err != nil {
			return err
		}
		part := &carbonara.Batch{Series: packed.Series[:min(20, len(packed.Series))]}
		if err := sameGroups(ctx, part, carbonara.NewCPUResampler(b.workers), onDevice(1, b.device)); err != nil {
			return err
		}
	}
	return nil
}

// packedTrips is from pinned memory to pinned memory, and the kernels of it.
func (b *gpuBench) packedTrips(ctx context.Context, name string, n int, columns, packed *carbonara.Batch) error {
	for _, from := range []struct {
		name  string
		batch *carbonara.Batch
	}{{"archive", packed}, {"columns", columns}} {
		p, err := measureParts(ctx, b.device, from.batch, b.what.Rounds, nil)
		if err != nil {
			return err
		}
		trip, err := measureTrip(ctx, b.device, from.batch, 0, b.what.Rounds)
		if err != nil {
			return err
		}
		t := report.Quantile(trip.times, 0.5)
		figures := []report.Figure{report.Of(report.Milliseconds(t), "ms"),
			report.Of(report.Milliseconds(p.kernels), "ms-kernel"),
			report.Of(float64(trip.uploaded)/float64(n), "bytes-up/measure"),
			report.Of(float64(trip.downloaded)/float64(n), "bytes-down/measure"),
			report.Of(float64(trip.uploaded)/1e9/t.Seconds(), "GB/s-up")}
		if from.batch == packed {
			figures = append(figures, report.Of(report.Milliseconds(p.unpack), "ms-unpack"),
				report.Of(float64(p.unpacked)/1e9/max(p.unpack.Seconds(), 1e-9), "GB/s-unpack"))
		}
		if err := b.Report.Add(name+"/from="+from.name, n, figures...); err != nil {
			return err
		}
	}
	return nil
}

// packedEngines is from the archive's bytes to groups in the host's memory.
func (b *gpuBench) packedEngines(ctx context.Context, name string, n int, packed *carbonara.Batch) error {
	var result carbonara.Result
	defer result.Release()
	for _, engine := range []hostEngine{{"cpu-1", carbonara.NewCPUResampler(1), false},
		{"cpu-all", carbonara.NewCPUResampler(b.workers), false}, // there are no columns to pin
		{"device-1", onDevice(1, b.device), false}, {"device-all", onDevice(b.workers, b.device), false}} {
		t, err := b.fastest(ctx, engine, packed, &result)
		if err != nil {
			return err
		}
		if err := b.Report.Add(name+"/engine="+engine.name, n, report.Of(report.Milliseconds(t), "ms"),
			report.Of(float64(t.Nanoseconds())/float64(n), "ns/measure")); err != nil {
			return err
		}
	}
	return nil
}

// packedMeasures is as many as are packed at most: that takes the host a while.
const packedMeasures = 10_000_000

// packedBatches returns so many measures as columns and as raw series of the archive, and how many bytes these have.
func packedBatches(measures int) (columns, packed *carbonara.Batch, bytes int, err error) {
	columns, packed = &carbonara.Batch{}, &carbonara.Batch{}
	rng := rand.New(rand.NewPCG(1, 2))
	for from := 0; from < measures; from += gpuEach {
		to := min(from+gpuEach, measures)
		t := carbonara.Timestamp(1_700_000_000e9)
		for range to - from {
			t += carbonara.Timestamp(8+rng.IntN(5)) * carbonara.Timestamp(time.Second)
			columns.Timestamps = append(columns.Timestamps, t)
		}
		columns.Values = pattern.Gauge.Append(columns.Values, to-from, rng)
		columns.Series = append(columns.Series, carbonara.Series{From: from, To: to})
		raw := carbonara.AppendRaw(nil, 0, columns.Timestamps[from:to], columns.Values[from:to])
		bytes += len(raw)
		p := new(carbonara.Packed)
		if err := p.Parse(raw); err != nil {
			return nil, nil, 0, err
		}
		packed.Series = append(packed.Series, carbonara.Series{To: p.Len(), Packed: p})
	}
	return columns, packed, bytes, nil
}
