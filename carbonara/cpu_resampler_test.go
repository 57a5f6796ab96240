package carbonara_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var sixMethods = []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Sum,
	carbonara.Std, carbonara.Count}

// randomSeries returns n measures, ascending, with gaps and now and then a NaN or infinity.
func randomSeries(rng *rand.Rand, n int) ([]carbonara.Timestamp, []float64) {
	timestamps, values := make([]carbonara.Timestamp, n), make([]float64, n)
	t := carbonara.Timestamp(rng.Int64N(1e18))
	for i := range n {
		t += carbonara.Timestamp(1 + rng.ExpFloat64()*float64(7*time.Second))
		timestamps[i], values[i] = t, math.Round(rng.NormFloat64()*1e4)/100
		switch rng.IntN(200) {
		case 0:
			values[i] = math.NaN()
		case 1:
			values[i] = math.Inf(1)
		}
	}
	return timestamps, values
}

func resample(t testing.TB, workers int, batch *carbonara.Batch) *carbonara.Result {
	t.Helper()
	var result carbonara.Result
	fatal.If(t, carbonara.NewCPUResampler(workers).Resample(context.Background(), batch, &result))
	return &result
}

func sameBits(a, b []float64) bool {
	return slices.EqualFunc(a, b, func(x, y float64) bool {
		return math.Float64bits(x) == math.Float64bits(y) || x != x && y != y
	})
}

func TestResamplerContinuesOpenGroupsBitForBit(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	methods := append(slices.Clone(sixMethods), carbonara.First, carbonara.Last)
	for _, m := range slices.Clone(methods) {
		methods = append(methods, m.Rate())
	}
	plan := carbonara.NewPlan([]time.Duration{7 * time.Second, time.Minute, time.Hour}, methods)
	for round := range 200 {
		timestamps, values := randomSeries(rng, 1+rng.IntN(300))
		whole := resample(t, 1, &carbonara.Batch{Timestamps: timestamps, Values: values,
			Series: []carbonara.Series{{Plan: plan, To: len(values)}}})
		var parts [3]carbonara.Groups
		var scratch carbonara.Groups
		series := carbonara.Series{Plan: plan}
		for from := 0; from < len(values); {
			to := min(len(values), from+1+rng.IntN(40))
			series.From, series.To = from, to
			result := resample(t, 1, &carbonara.Batch{Timestamps: timestamps, Values: values,
				Series: []carbonara.Series{series}})
			series.Open = nil
			for j := range parts {
				groups := result.Groups(0, j)
				if from == 0 {
					parts[j].Reset(groups.Granularity, groups.Columns)
				}
				parts[j].Overlay(0, groups, &scratch)
				series.Open = groups.AppendOpen(series.Open)
			}
			series.Previous, series.HasPrevious = carbonara.Measure{Timestamp: timestamps[to-1],
				Value: values[to-1]}, true
			from = to
		}
		for j := range parts {
			want := whole.Groups(0, j)
			if !slices.Equal(parts[j].Starts, want.Starts) {
				t.Fatalf("round %d: granularity %v: groups start at %v, want %v", round, want.Granularity,
					parts[j].Starts, want.Starts)
			}
			for c, column := range want.Columns {
				if !sameBits(parts[j].Values[c], want.Values[c]) {
					t.Fatalf("round %d: granularity %v column %v:\n got %v\nwant %v", round, want.Granularity, column,
						parts[j].Values[c], want.Values[c])
				}
			}
		}
	}
}

func TestResamplerIsTheSameForAnyNumberOfWorkers(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	plan := carbonara.NewPlan([]time.Duration{time.Second, time.Minute},
		append(slices.Clone(sixMethods), carbonara.Median, carbonara.PercentileMethod(95).Rate()))
	var batch carbonara.Batch
	for range 50 {
		timestamps, values := randomSeries(rng, rng.IntN(3000))
		batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: len(batch.Values),
			To: len(batch.Values) + len(values)})
		batch.Timestamps, batch.Values = append(batch.Timestamps, timestamps...), append(batch.Values, values...)
	}
	one, four := resample(t, 1, &batch), resample(t, 4, &batch)
	for i := range batch.Series {
		for j := range plan.Granularities {
			a, b := one.Groups(i, j), four.Groups(i, j)
			if !slices.Equal(a.Starts, b.Starts) {
				t.Fatalf("series %d: groups differ", i)
			}
			for c := range a.Columns {
				if !sameBits(a.Values[c], b.Values[c]) {
					t.Fatalf("series %d column %v differs", i, a.Columns[c])
				}
			}
		}
	}
}

func TestResamplerAllocatesNothingWhenWarm(t *testing.T) {
	batch := benchmarkBatch(100, 60, carbonara.NewPlan([]time.Duration{time.Minute, time.Hour},
		append(slices.Clone(sixMethods), carbonara.Median)))
	r := carbonara.NewCPUResampler(1)
	var result carbonara.Result
	ctx := context.Background()
	if n := testing.AllocsPerRun(20, func() {
		fatal.If(t, r.Resample(ctx, batch, &result))
	}); n != 0 {
		t.Errorf("%v allocations a call", n)
	}
}

func benchmarkBatch(series, measures int, plan *carbonara.Plan) *carbonara.Batch {
	rng := rand.New(rand.NewPCG(5, 6))
	batch := &carbonara.Batch{}
	for range series {
		batch.Series = append(batch.Series, carbonara.Series{Plan: plan, From: len(batch.Values),
			To: len(batch.Values) + measures})
		t := carbonara.Timestamp(1_700_000_000e9)
		for range measures {
			batch.Timestamps = append(batch.Timestamps, t)
			batch.Values = append(batch.Values, math.Round(rng.NormFloat64()*1e4)/100)
			t += carbonara.Timestamp(10 * time.Second)
		}
	}
	return batch
}

func BenchmarkResample(b *testing.B) {
	granularities := []time.Duration{time.Minute, time.Hour, 24 * time.Hour}
	percentiles := append(slices.Clone(sixMethods), carbonara.Median, carbonara.PercentileMethod(95))
	for _, c := range []struct {
		name             string
		series, measures int
		methods          []carbonara.Method
	}{
		{"methods=six", 10000, 1, sixMethods},
		{"methods=six", 1000, 60, sixMethods},
		{"methods=six", 100, 3600, sixMethods},
		{"methods=six+percentiles", 100, 3600, percentiles},
	} {
		b.Run(fmt.Sprintf("%s/series=%d/measures=%d", c.name, c.series, c.measures), func(b *testing.B) {
			batch := benchmarkBatch(c.series, c.measures, carbonara.NewPlan(granularities, c.methods))
			r := carbonara.NewCPUResampler(1)
			var result carbonara.Result
			b.SetBytes(int64(len(batch.Values)) * 16)
			b.ReportAllocs()
			for b.Loop() {
				fatal.If(b, r.Resample(context.Background(), batch, &result))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(batch.Values)), "ns/measure")
		})
	}
}

// Groups that are asked for since some time are those that are made without it.
func TestResamplerLeavesOutGroupsBefore(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 5))
	methods := append(slices.Clone(sixMethods), carbonara.First, carbonara.Last, carbonara.PercentileMethod(95))
	for _, m := range slices.Clone(methods) {
		methods = append(methods, m.Rate())
	}
	methods = append(methods, carbonara.Increase, carbonara.Resets, carbonara.SketchMethod)
	plan := carbonara.NewPlan([]time.Duration{7 * time.Second, time.Minute, time.Hour}, methods)
	for range 100 {
		timestamps, values := randomSeries(rng, 1+rng.IntN(300))
		series := carbonara.Series{Plan: plan, To: len(values), HasPrevious: rng.IntN(2) == 0}
		of := func() *carbonara.Result {
			return resample(t, 1, &carbonara.Batch{Timestamps: timestamps, Values: values,
				Series: []carbonara.Series{series}})
		}
		whole := of()
		series.Since = timestamps[rng.IntN(len(timestamps))] - carbonara.Timestamp(rng.IntN(2))
		since := of()
		for j, g := range plan.Granularities {
			all, got := whole.Groups(0, j), since.Groups(0, j)
			want := all.Slice(all.Search(series.Since.Floor(g)), all.Len())
			for row := range want.Len() {
				if row >= got.Len() || got.Sketch(row) != want.Sketch(row) {
					t.Fatalf("%v since %v: sketch %d of %d differs", g, series.Since, row, got.Len())
				}
			}
			copy(got.Column(carbonara.ColumnSketch), want.Column(carbonara.ColumnSketch)) // places of sketches
			requireSameGroups(t, fmt.Sprintf("%v since %v", g, series.Since), got, &want)
		}
	}
}
