package device

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/bench/report"
	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/query/aggregates"
)

// dynamicOperations are what a request may leave to a device.
var dynamicOperations = []struct{ name, text string }{
	{"resample-median", "(resample median 3600 (metric m mean))"},
	{"resample-95pct", "(resample 95pct 3600 (metric m mean))"},
	{"resample-mean", "(resample mean 3600 (metric m mean))"},
}

// inBatches makes requests leave everything to a CPUResampler, in batches, as if it were a device.
type inBatches struct{ *carbonara.CPUResampler }

func (inBatches) Accelerates(*carbonara.Plan, int, int, int) bool { return true }

// dynamic is dynamic aggregates, from series in memory to all columns of the answer, and resample= of one metric: the
// CPU as it is without a device; a device; and what the cost model chooses, over tables of many forms.
func (b *gpuBench) dynamic(ctx context.Context) error {
	chooses, err := b.chooser(ctx)
	if err != nil {
		return err
	}
	d := &dynamicBench{gpuBench: b, engines: []dynamicEngine{
		{"cpu-1", carbonara.NewCPUResampler(1)}, {"device-1", onDevice(1, b.device)}, {"model", chooses},
		{"cpu-all", inBatches{carbonara.NewCPUResampler(b.workers)}}, {"device-all", onDevice(b.workers, b.device)},
	}}
	values := min(b.what.Measures, 10_000_000)
	series := max(1, min(1000, values/10))
	for _, operation := range dynamicOperations {
		if err := d.table(ctx, operation.name, operation.text, series, values/series, false,
			len(d.engines)); err != nil {
			return err
		}
	}
	if err := d.table(ctx, dynamicOperations[0].name, dynamicOperations[0].text, series, values/series, true,
		len(d.engines)); err != nil {
		return err
	}
	for _, n := range b.what.HostSizes {
		for _, series := range []int{10, 100, 1000, 4096} {
			if n < 2*series {
				continue
			}
			for _, operation := range dynamicOperations[:2] {
				if err := d.table(ctx, operation.name, operation.text, series, n/series, false,
					dynamicChoice); err != nil {
					return err
				}
			}
		}
		for _, group := range []int{60, 4096, n} {
			for _, method := range []carbonara.Method{carbonara.Mean, carbonara.Median} {
				if err := d.one(ctx, method, n, group); err != nil {
					return err
				}
			}
		}
	}
	return b.Report.Note("the model's worst choice costs %.1f %% more than the better engine", d.worst*100)
}

// dynamicEngine is what requests resample on.
type dynamicEngine struct {
	name string
	carbonara.Resampler
}

// dynamicChoice is how many of the engines tell what a choice was worth: the CPU, a device, and who chooses.
const dynamicChoice = 3

type dynamicBench struct {
	*gpuBench
	engines []dynamicEngine
	worst   float64 // loss by a choice
}

// report runs do with the first engines, and writes the time of each and the cost of the third one's choice. do returns
// a sum of its results, which has to be the same for all.
func (d *dynamicBench) report(ctx context.Context, name string, measures, engines int,
	do func(carbonara.Resampler) (uint64, error)) error {
	var durations [8]time.Duration
	var want uint64
	for i, engine := range d.engines[:engines] {
		var got uint64
		var err error
		if durations[i], err = d.quickest(ctx, func() error {
			got, err = do(engine.Resampler)
			return err
		}); err != nil {
			return err
		}
		if i == 0 {
			want = got
		}
		if got != want {
			return fmt.Errorf("%s by %s differs from what the CPU gives", name, engine.name)
		}
		if err := d.Report.Add("GPUDynamic/"+name+"/engine="+engine.name, measures,
			report.Of(report.Milliseconds(durations[i]), "ms"),
			report.Of(float64(durations[i].Nanoseconds())/float64(measures), "ns/value")); err != nil {
			return err
		}
	}
	loss := max(0, float64(durations[2])/float64(min(durations[0], durations[1]))-1)
	d.worst = max(d.worst, loss)
	return d.Report.Add("GPUDynamicChoice/"+name, measures, report.Of(loss*100, "%-loss"))
}

// table evaluates an operation on series of a minute's aggregates.
func (d *dynamicBench) table(ctx context.Context, name, text string, series, rows int, gaps bool, engines int) error {
	operation, err := aggregates.Parse(text)
	if err != nil {
		return err
	}
	table := dynamicTable(series, rows, gaps)
	fill, _ := aggregates.ParseFill("null")
	var values []float64
	name = fmt.Sprintf("operation=%s/series=%d/rows=%d/gaps=%v", name, series, rows, gaps)
	return d.report(ctx, name, series*rows, engines, func(r carbonara.Resampler) (sum uint64, err error) {
		result, err := aggregates.Evaluate(ctx, operation, table, &aggregates.Options{Fill: fill, Resampler: r})
		if err != nil {
			return 0, err
		}
		for j := range result.Columns() {
			if values, err = result.Column(j, values); err != nil {
				return 0, err
			}
			sum = addBits(sum, values)
		}
		return sum, nil
	})
}

// one resamples one series to groups of so many rows, as resample= does.
func (d *dynamicBench) one(ctx context.Context, method carbonara.Method, rows, group int) error {
	s := &dynamicTable(1, rows, false).Series[0]
	var groups aggregates.Regrouping
	var result carbonara.Result
	defer result.Release()
	var starts []carbonara.Timestamp
	var values []float64
	name := fmt.Sprintf("operation=one-%v/group=%d/rows=%d", method, group, rows)
	return d.report(ctx, name, rows, dynamicChoice, func(r carbonara.Resampler) (uint64, error) {
		groups.Set(s.Starts, func(t carbonara.Timestamp) int64 { return int64(t) / (int64(group) * 60e9) })
		batch := carbonara.Batch{Timestamps: groups.Times, Values: s.Values,
			Series: []carbonara.Series{{Plan: groups.Plan(method), To: rows}}}
		if err := r.Resample(ctx, &batch, &result); err != nil {
			return 0, err
		}
		starts, values = result.Groups(0, 0).Aggregate(method, starts[:0], values[:0])
		return addBits(0, values), nil
	})
}

// dynamicTable is series of a minute's aggregates from 1970 on; of those with gaps, one of 50 is missing, at other
// times in each.
func dynamicTable(series, rows int, gaps bool) *aggregates.Table {
	all := &aggregates.Table{Granularity: time.Minute, Series: make([]aggregates.Series, series)}
	batch := regularBatch(nil, series*rows, rows, time.Minute, 0)
	for i := range rows {
		batch.Timestamps[i] = carbonara.Timestamp(i) * 60e9
	}
	for j := range all.Series {
		s := &all.Series[j]
		s.Starts, s.Values = batch.Timestamps[:rows], batch.Values[j*rows:][:rows]
		for i := range s.Values {
			if gaps && (i+j*7)%50 == 49 {
				s.Values[i] = math.NaN()
			}
		}
	}
	return all
}

// addBits adds values to a sum that tells them apart, and their order.
func addBits(sum uint64, values []float64) uint64 {
	for _, v := range values {
		if v != v {
			v = math.NaN() // all are alike
		}
		sum = sum*1_000_003 + math.Float64bits(v)
	}
	return sum
}

// quickest returns the time of the fastest of some calls, a quarter of a second of them or so, after one to warm up.
func (b *gpuBench) quickest(ctx context.Context, do func() error) (time.Duration, error) {
	var times []time.Duration
	limit := time.Duration(b.what.Rounds) * 40 * time.Millisecond
	for i, begin := 0, time.Now(); i <= 1 || i <= 10*b.what.Rounds && time.Since(begin) < limit; i++ {
		started := time.Now()
		if err := do(); err != nil {
			return 0, err
		}
		if err := ctx.Err(); err != nil {
			return 0, err
		}
		if i > 0 {
			times = append(times, time.Since(started))
		}
	}
	return slices.Min(times), nil
}
