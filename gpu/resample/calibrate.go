package resample

import (
	"cmp"
	"context"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
)

// Calibration measures both engines by a handful of batches, in borrowed memory as the workers' are. It takes a
// fraction of a second, so that nothing is kept from one start to the next.
const (
	calibrateSmall  = 2_000 // measures, in groups of six
	calibrateLarge  = 200_000
	calibrateLong   = 50_000 // measures of one group
	calibrateEach   = 200    // measures a series
	calibratePacked = 1_000  // of packed series, which are a raw series each
	calibrateRounds = 5
)

// Calibrate measures both engines, and makes r choose by the result. Until then the CPU does everything. ErrUnavailable
// if there is no device.
func (r *Resampler) Calibrate(ctx context.Context) (Model, error) {
	var m Model
	d, _ := r.open(ctx)
	if d == nil {
		return m, cmp.Or(ctx.Err(), device.ErrUnavailable)
	}
	onDevice := &Resampler{
		options: r.options, cpu: r.cpu, devices: []*resamplerDevice{d},
		instruments: newInstruments(nil), fuseFrom: r.fuseFrom,
	}
	onDevice.options.Always = true
	onDevice.calls.New = r.calls.New
	var err error
	if m.CPU, err = costOf(ctx, r.cpu, onDevice); err != nil {
		return m, err
	}
	if m.Device, err = costOf(ctx, onDevice, onDevice); err != nil {
		return m, err
	}
	if m.Busy, err = onDevice.busyShare(ctx); err != nil {
		return m, err
	}
	if err := d.Err(); err != nil { // the CPU has gone on
		return m, err
	}
	r.SetModel(m)
	r.options.Logger.Info("resampler calibrated", "model", m)
	return m, nil
}

// costOf measures an engine by batches in memory of the allocator: each has one thing more than another.
func costOf(ctx context.Context, engine, allocator carbonara.Resampler) (c Cost, err error) {
	var batch carbonara.Batch
	defer batch.Release()
	counts := []carbonara.Method{carbonara.Count}
	moments := []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Std}
	order := []carbonara.Method{carbonara.Median, carbonara.PercentileMethod(95)}
	fill := func(measures, each int, granularity time.Duration, methods []carbonara.Method) *carbonara.Batch {
		batch.Reset(allocator)
		fillCalibration(&batch, measures, each, carbonara.NewPlan([]time.Duration{granularity}, methods))
		return &batch
	}
	timed := func(batch *carbonara.Batch) (nanoseconds float64) {
		if err == nil {
			nanoseconds, err = timeOf(ctx, engine, batch)
		}
		return nanoseconds
	}
	took := func(measures int, methods []carbonara.Method) float64 {
		return timed(fill(measures, calibrateEach, time.Minute, methods))
	}
	tookLong := func(methods []carbonara.Method) float64 {
		return timed(fill(calibrateLong, calibrateLong, 1<<60, methods))
	}
	small, large := took(calibrateSmall, counts), took(calibrateLarge, counts)
	c.Measure = max(0, (large-small)/(calibrateLarge-calibrateSmall))
	c.Batch = max(0, small-c.Measure*calibrateSmall)
	c.Moments = max(0, (took(calibrateLarge, moments)-large)/calibrateLarge)
	percentiles := float64(len(order))
	c.Order = max(0, (took(calibrateLarge, order)-large)/calibrateLarge/percentiles)
	unpacked := fill(calibrateLarge, calibratePacked, time.Minute, counts)
	c.Packed = max((timed(packedBatch(unpacked))-timed(unpacked))/calibrateLarge, -c.Measure)
	long := tookLong(counts)
	c.LongMoments = max(0, (tookLong(moments)-long)/calibrateLong-c.Moments)
	c.LongOrder = max(0, (tookLong(order)-long)/calibrateLong/percentiles-c.Order)
	return c, err
}

// busyShare measures the part of a batch's time in which the device works.
func (r *Resampler) busyShare(ctx context.Context) (float64, error) {
	var batch carbonara.Batch
	defer batch.Release()
	batch.Reset(r)
	fillCalibration(&batch, calibrateLarge, calibrateEach,
		carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean, carbonara.Median}))
	started, before := time.Now(), r.busy.Load()
	_, err := timeOf(ctx, r, &batch)
	return min(1, float64(r.busy.Load()-before)/float64(time.Since(started))), err
}

// timeOf returns the nanoseconds of the fastest of a few calls.
func timeOf(ctx context.Context, r carbonara.Resampler, batch *carbonara.Batch) (float64, error) {
	var result carbonara.Result
	defer result.Release()
	best := time.Duration(1<<63 - 1)
	for range calibrateRounds {
		started := time.Now()
		if err := r.Resample(ctx, batch, &result); err != nil {
			return 0, err
		}
		best = min(best, time.Since(started))
	}
	return float64(best.Nanoseconds()), nil
}

// fillCalibration makes the batch series of that many measures each, 10 s apart but for some milliseconds.
func fillCalibration(batch *carbonara.Batch, measures, each int, plan *carbonara.Plan) {
	batch.Grow(measures)
	for i := range measures {
		if i%each == 0 {
			batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: i, To: min(i+each, measures)})
		}
		milliseconds := carbonara.Timestamp(i * 7 % 1000)
		t := carbonara.Timestamp(1_700_000_000e9) + carbonara.Timestamp(i%each)*1e10 + milliseconds*1e6
		batch.Timestamps = append(batch.Timestamps, t)
		batch.Values = append(batch.Values, float64(i*7919%10007)/100)
	}
}

// packedBatch returns the same series packed.
func packedBatch(batch *carbonara.Batch) *carbonara.Batch {
	packed := &carbonara.Batch{}
	for _, s := range batch.Series {
		p := new(carbonara.Packed)
		if err := p.Parse(carbonara.AppendRaw(nil, 0, batch.Timestamps[s.From:s.To],
			batch.Values[s.From:s.To])); err != nil {
			panic(err) // it was encoded just now
		}
		packed.Series = append(packed.Series, carbonara.Series{Plan: s.Plan, To: p.Len(), Packed: p})
	}
	return packed
}
