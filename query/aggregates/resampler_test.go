package aggregates_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/gpu/device"
	"github.com/gnocco-db/gnocco/gpu/resample"
	"github.com/gnocco-db/gnocco/query/aggregates"
	"github.com/gnocco-db/gnocco/tests/cutest"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// together is a resampler that wants large batches; the processor computes its results.
type together struct {
	*carbonara.CPUResampler
	batches, series, measures int
}

func newTogether() *together { return &together{CPUResampler: carbonara.NewCPUResampler(1)} }

func (r *together) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	r.batches++
	r.series += len(batch.Series)
	r.measures += len(batch.Values)
	return r.CPUResampler.Resample(ctx, batch, result)
}

func (*together) Accelerates(_ *carbonara.Plan, measures, groups, _ int) bool {
	if groups > measures {
		panic("more groups than measures")
	}
	return true
}

// onDevice returns the resampler of the fake driver's device with the kernels compiled for the host, which does
// everything there.
func onDevice(t *testing.T) (r *resample.Resampler, batches func() float64) {
	t.Helper()
	driver := cutest.Open(t)
	driver.LoadKernels(cutest.BuildKernels(t))
	driver.SetMemory(1 << 30)
	dev, err := device.New(device.Options{})
	fatal.If(t, err)
	registry := prometheus.NewRegistry()
	count := func(name string) (sum float64) {
		families, err := registry.Gather()
		fatal.If(t, err)
		for _, family := range families {
			for _, m := range family.Metric {
				if family.GetName() == "gnocco_resampler_"+name+"_total" && !onCPU(m) {
					sum += m.GetCounter().GetValue()
				}
			}
		}
		return sum
	}
	t.Cleanup(func() {
		if n := count("fallbacks"); n != 0 {
			t.Errorf("%v pieces were done by the CPU", n)
		}
		if err := dev.Err(); err != nil {
			t.Error(err)
		}
		if err := dev.Close(); err != nil {
			t.Error(err)
		}
	})
	r = resample.New([]*device.Device{dev}, resample.Options{Always: true, Workers: 1, Registerer: registry})
	return r, func() float64 { return count("batches") }
}

func onCPU(m *dto.Metric) bool { return len(m.Label) == 1 && m.Label[0].GetValue() == "cpu" }

func TestGoldenOnADevice(t *testing.T) {
	r, batches := onDevice(t)
	readGolden(t).check(t, r, (*goldenCase).regroups)
	if n := batches(); n < 100 {
		t.Errorf("%v batches", n)
	}
}

// randomTable is of series with gaps; extreme has values whose sums overflow and whose halves are not exact.
func randomTable(rng *rand.Rand, columns, rows int, gaps, extreme bool) []aggregates.Series {
	all := make([]aggregates.Series, columns)
	for j := range all {
		for i := range rows {
			v := math.Round(rng.NormFloat64()*1e3) / 8
			switch rng.IntN(10) {
			case 0:
				v = math.Copysign(0, float64(rng.IntN(2))-0.5)
			case 1:
				v = float64(rng.IntN(3))
			case 2:
				if gaps && rng.IntN(2) == 0 {
					continue
				}
				if gaps {
					v = math.NaN()
				}
			case 3, 4:
				if extreme {
					v = []float64{math.MaxFloat64, -math.MaxFloat64, math.Inf(1), math.Inf(-1),
						math.SmallestNonzeroFloat64, 1e-308, 0x1p-1021, 0x1.8p+1022}[rng.IntN(8)]
				}
			}
			all[j].Starts = append(all[j].Starts, carbonara.Timestamp(i)*60e9)
			all[j].Values = append(all[j].Values, v)
		}
	}
	return all
}

// bitsOf evaluates, and writes every bit of the answer.
func bitsOf(t *testing.T, text string, resampler carbonara.Resampler, all []aggregates.Series) string {
	t.Helper()
	operation, err := aggregates.Parse(text)
	fatal.If(t, err)
	fill, _ := aggregates.ParseFill("null")
	result, err := aggregates.Evaluate(t.Context(), operation, &aggregates.Table{Granularity: 60e9, Series: all},
		&aggregates.Options{Fill: fill, Resampler: resampler})
	fatal.If(t, err)
	var b strings.Builder
	var values []float64
	for k := range result.Columns() {
		j := (k*7 + 3) % result.Columns() // in any order
		if result.Columns()%7 == 0 {
			j = k
		}
		if values, err = result.Column(j, values); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "\n%d:", j)
		for i, v := range values {
			if v != v {
				v = math.NaN() // all are alike
			}
			fmt.Fprintf(&b, " %d=%x", result.Times[i]/1e9, math.Float64bits(v))
		}
	}
	return b.String()
}

// Many columns computed at once have the bits of each computed alone, on every resampler.
func TestResamplersGiveTheSameBits(t *testing.T) {
	dev, _ := onDevice(t)
	for seed, f := range []struct{ columns, rows int }{{1, 1}, {1, 50}, {2, 7}, {3, 100}, {8, 33}, {9, 64}, {40, 120},
		{101, 13}, {1200, 3}} {
		for kind := range 4 {
			rng := rand.New(rand.NewPCG(31, uint64(seed)))
			table := randomTable(rng, f.columns, f.rows, kind&1 > 0, kind&2 > 0)
			for _, operation := range []string{
				"(aggregate median (metric m mean))", "(aggregate rate:median (metric m mean))",
				"(resample median 420 (metric m mean))",
				"(resample std 300 (metric m mean))", "(resample rate:mean 300 (metric m mean))",
				"(aggregate median (resample mean 180 (metric m mean)))",
			} {
				what := fmt.Sprintf("%s of %d columns, %d rows, kind %d", operation, f.columns, f.rows, kind)
				want, counting := bitsOf(t, operation, nil, table), newTogether()
				if got := bitsOf(t, operation, counting, table); got != want {
					t.Errorf("%s, together: %s\nwant %s", what, got, want)
				}
				if counting.batches > 2 || (counting.batches > 0) != strings.Contains(operation, "resample") {
					t.Errorf("%s: %d batches", what, counting.batches)
				}
				if f.columns*f.rows > 2000 && kind != 1 {
					continue
				}
				if got := bitsOf(t, operation, dev, table); got != want {
					t.Errorf("%s, on a device: %s\nwant %s", what, got, want)
				}
			}
		}
	}
}

// Memory is bounded: a table that is larger than a batch goes in several.
func TestLargeTables(t *testing.T) {
	if testing.Short() {
		t.Skip("-short: make test SHORT= runs it")
	}
	rng := rand.New(rand.NewPCG(41, 42))
	table := randomTable(rng, 100, 1000, true, false)
	for j := range 10_000 - len(table) {
		table = append(table, table[j%100])
	}
	for _, operation := range []string{"(aggregate median (resample median 3600 (metric m mean)))",
		"(aggregate sum (resample 95pct 3600 (metric m mean)))"} {
		counting := newTogether()
		if got, want := bitsOf(t, operation, counting, table), bitsOf(t, operation, nil, table); got != want {
			t.Errorf("%s: %s\nwant %s", operation, got, want)
		}
		if counting.batches != 3 || counting.measures > 10_000_000 || counting.series < 100 {
			t.Errorf("%s: %+v", operation, counting)
		}
	}
}

// An error of the resampler is the evaluation's, and a request that is given up ends.
func TestResamplerErrors(t *testing.T) {
	table := randomTable(rand.New(rand.NewPCG(1, 2)), 5, 50, false, false)
	for _, text := range []string{"(aggregate median (resample median 420 (metric m mean)))",
		"(resample median 420 (metric m mean))"} {
		operation, err := aggregates.Parse(text)
		fatal.If(t, err)
		ctx, cancel := context.WithCancel(t.Context())
		options := aggregates.Options{Fill: aggregates.DropNA,
			Resampler: &giveUp{together: *newTogether(), cancel: cancel}}
		result, err := aggregates.Evaluate(ctx, operation, &aggregates.Table{Granularity: 60e9, Series: table},
			&options)
		if err == nil {
			_, err = result.Column(0, nil)
		}
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

// giveUp cancels what it is asked for.
type giveUp struct {
	together
	cancel func()
}

func (r *giveUp) Resample(ctx context.Context, batch *carbonara.Batch, result *carbonara.Result) error {
	r.cancel()
	return r.together.Resample(ctx, batch, result)
}

// The cost of large batches without a device that makes up for it.
func BenchmarkTogether(b *testing.B) {
	const columns, rows = 1000, 4000
	table := aggregates.Table{Granularity: 60e9, Series: randomTable(rand.New(rand.NewPCG(51, 52)), columns,
		rows, false, false)}
	for _, text := range []string{"(aggregate median (metric m mean))", "(resample median 3600 (metric m mean))",
		"(resample mean 3600 (metric m mean))"} {
		for name, resampler := range map[string]carbonara.Resampler{"apart": nil, "together": newTogether()} {
			b.Run("operation="+strings.ReplaceAll(strings.Trim(text, "()"), " ", "_")+"/columns="+name,
				func(b *testing.B) {
					operation, err := aggregates.Parse(text)
					fatal.If(b, err)
					var values []float64
					for b.Loop() {
						result, err := aggregates.Evaluate(b.Context(), operation, &table,
							&aggregates.Options{Fill: aggregates.DropNA, Resampler: resampler})
						for j := range result.Columns() {
							if err == nil {
								values, err = result.Column(j, values)
							}
						}
						fatal.If(b, err)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*columns*rows), "ns/value")
				})
		}
	}
}
