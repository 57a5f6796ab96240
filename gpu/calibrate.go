package gpu

import (
	"context"
	"slices"
	"time"

	"gnocco/carbonara"
)

// Calibration measures both engines at two sizes, with and without percentiles, and packed. It takes a fraction of a second, so that
// nothing is kept from one start to the next.
const (
	calibrateSmall  = 2_000
	calibrateLarge  = 200_000
	calibrateEach   = 200  // measures a series
	calibratePacked = 1000 // of packed series, which are a raw series each
	calibrateRounds = 5
)

// Calibrate measures both engines, and makes r choose by what it found. Until then everything is done on the CPU. ErrUnavailable
// if there is no device.
func (r *Resampler) Calibrate(ctx context.Context) (Model, error) {
	var m Model
	if d, _ := r.open(ctx); d == nil {
		return m, ErrUnavailable
	}
	widths := []time.Duration{time.Minute}
	plain := []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Std}
	ordered := append(slices.Clone(plain), carbonara.Median, carbonara.PercentileMethod(95))
	onDevice := &Resampler{options: r.options, cpu: r.cpu, devices: r.devices, metrics: newResamplerMetrics(nil), walkFrom: r.walkFrom}
	onDevice.options.Always = true
	onDevice.calls.New = r.calls.New
	for _, engine := range []struct {
		carbonara.Resampler
		batch, measure, order, packed *float64
	}{{r.cpu, &m.CPUBatch, &m.CPUMeasure, &m.CPUOrder, &m.CPUPacked},
		{onDevice, &m.DeviceBatch, &m.DeviceMeasure, &m.DeviceOrder, &m.DevicePacked}} {
		small, err := timeOf(ctx, engine, calibrationBatch(calibrateSmall, calibrateEach, carbonara.NewPlan(widths, plain)))
		if err != nil {
			return m, err
		}
		large, err := timeOf(ctx, engine, calibrationBatch(calibrateLarge, calibrateEach, carbonara.NewPlan(widths, plain)))
		if err != nil {
			return m, err
		}
		order, err := timeOf(ctx, engine, calibrationBatch(calibrateLarge, calibrateEach, carbonara.NewPlan(widths, ordered)))
		if err != nil {
			return m, err
		}
		packed, err := timeOf(ctx, engine, packedBatch(calibrationBatch(calibrateLarge, calibratePacked, carbonara.NewPlan(widths, plain))))
		if err != nil {
			return m, err
		}
		*engine.measure = max(0, (large-small)/(calibrateLarge-calibrateSmall))
		*engine.batch = max(0, small-*engine.measure*calibrateSmall)
		*engine.order = max(0, (order-large)/calibrateLarge)
		*engine.packed = max((packed-large)/calibrateLarge, -*engine.measure)
	}
	r.SetModel(m)
	r.options.Logger.Info("resampler calibrated", "model", m)
	return m, nil
}

// timeOf returns the nanoseconds of the fastest of a few calls.
func timeOf(ctx context.Context, r carbonara.Resampler, batch *carbonara.Batch) (float64, error) {
	var result carbonara.Result
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

// calibrationBatch is series of so many measures each, 10 s apart but for some milliseconds.
func calibrationBatch(measures, each int, plan *carbonara.Plan) *carbonara.Batch {
	batch := &carbonara.Batch{}
	for i := range measures {
		if i%each == 0 {
			batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: i, To: min(i+each, measures)})
		}
		batch.Timestamps = append(batch.Timestamps, carbonara.Timestamp(1_700_000_000e9)+carbonara.Timestamp(i%each)*1e10+carbonara.Timestamp(i*7%1000)*1e6)
		batch.Values = append(batch.Values, float64(i*7919%10007)/100)
	}
	return batch
}

// packedBatch returns the same series packed.
func packedBatch(batch *carbonara.Batch) *carbonara.Batch {
	packed := &carbonara.Batch{}
	for _, s := range batch.Series {
		p := new(carbonara.Packed)
		if err := p.Parse(carbonara.AppendRaw(nil, 0, batch.Timestamps[s.From:s.To], batch.Values[s.From:s.To])); err != nil {
			panic(err) // it was encoded just now
		}
		packed.Series = append(packed.Series, carbonara.Series{Plan: s.Plan, To: p.Len(), Packed: p})
	}
	return packed
}
