package gpu

import (
	"context"
	"slices"
	"time"

	"gnocco/carbonara"
)

// Calibration measures both engines at two sizes, with and without percentiles, on measures in lent memory as the workers' are. It takes a fraction of a second, so that
// nothing is kept from one start to the next.
const (
	calibrateSmall  = 2_000
	calibrateLarge  = 200_000
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
	var batch carbonara.Batch
	defer batch.Release()
	for _, engine := range []struct {
		carbonara.Resampler
		batch, measure, order *float64
	}{{r.cpu, &m.CPUBatch, &m.CPUMeasure, &m.CPUOrder}, {onDevice, &m.DeviceBatch, &m.DeviceMeasure, &m.DeviceOrder}} {
		var times [3]float64
		for i, c := range []struct {
			measures int
			methods  []carbonara.Method
		}{{calibrateSmall, plain}, {calibrateLarge, plain}, {calibrateLarge, ordered}} {
			batch.Reset(onDevice)
			fillCalibration(&batch, c.measures, carbonara.NewPlan(widths, c.methods))
			var err error
			if times[i], err = timeOf(ctx, engine, &batch); err != nil {
				return m, err
			}
		}
		small, large, order := times[0], times[1], times[2]
		*engine.measure = max(0, (large-small)/(calibrateLarge-calibrateSmall))
		*engine.batch = max(0, small-*engine.measure*calibrateSmall)
		*engine.order = max(0, (order-large)/calibrateLarge)
	}
	r.SetModel(m)
	r.options.Logger.Info("resampler calibrated", "model", m)
	return m, nil
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

// fillCalibration makes the batch series of 200 measures, 10 s apart but for some milliseconds.
func fillCalibration(batch *carbonara.Batch, measures int, plan *carbonara.Plan) {
	batch.Grow(measures)
	for i := range measures {
		if i%200 == 0 {
			batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: i, To: min(i+200, measures)})
		}
		batch.Timestamps = append(batch.Timestamps, carbonara.Timestamp(1_700_000_000e9)+carbonara.Timestamp(i%200)*1e10+carbonara.Timestamp(i*7%1000)*1e6)
		batch.Values = append(batch.Values, float64(i*7919%10007)/100)
	}
}
