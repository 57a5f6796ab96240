package carbonara_test

import (
	"context"
	"fmt"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
)

// Two hours of measures, one each ten seconds, become means and maxima of a minute and of an hour.
func Example() {
	start := carbonara.FromTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	batch := new(carbonara.Batch)
	for i := range 720 {
		batch.Timestamps = append(batch.Timestamps, start.Add(time.Duration(i)*10*time.Second))
		batch.Values = append(batch.Values, float64(i))
	}
	plan := carbonara.NewPlan([]time.Duration{time.Minute, time.Hour},
		[]carbonara.Method{carbonara.Mean, carbonara.Max})
	batch.Series = append(batch.Series, carbonara.Series{Plan: plan, To: len(batch.Values)})

	resampler, result := carbonara.NewCPUResampler(1), new(carbonara.Result)
	if err := resampler.Resample(context.Background(), batch, result); err != nil {
		panic(err)
	}
	for j, granularity := range plan.Granularities { // of series 0
		groups := result.Groups(0, j)
		starts, means := groups.Aggregate(carbonara.Mean, nil, nil)
		_, maxima := groups.Aggregate(carbonara.Max, nil, nil)
		last := len(starts) - 1
		fmt.Printf("%v: %d groups, the last at %s has mean %g and max %g\n", granularity, groups.Len(),
			starts[last].Time().Format(time.TimeOnly), means[last], maxima[last])
	}
	// Output:
	// 1m0s: 120 groups, the last at 01:59:00 has mean 716.5 and max 719
	// 1h0m0s: 2 groups, the last at 01:00:00 has mean 539.5 and max 719
}

// A split holds up to 3,600 groups. Decoding can skip columns and groups that are not wanted.
func ExampleAppendSplit() {
	start := carbonara.FromTime(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))
	groups := carbonara.Groups{Granularity: time.Minute,
		Columns: []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}, Values: make([][]float64, 2)}
	for i := range 1440 {
		groups.Starts = append(groups.Starts, start.Add(time.Duration(i)*time.Minute))
		groups.Values[0] = append(groups.Values[0], 6)
		groups.Values[1] = append(groups.Values[1], 6*float64(20+i%10))
	}
	key := carbonara.SplitKeyOf(start, time.Minute)
	encoded := carbonara.AppendSplit(nil, key, &groups)
	fmt.Println("less than a byte per group:", len(encoded) < groups.Len())

	var decoded carbonara.Groups
	noon := start.Add(12 * time.Hour)
	err := carbonara.DecodeSplit(encoded, key, groups.Columns, noon, noon.Add(3*time.Minute), &decoded)
	if err != nil {
		panic(err) // wraps carbonara.ErrCorrupt
	}
	starts, means := decoded.Aggregate(carbonara.Mean, nil, nil)
	for i, start := range starts {
		fmt.Println(start.Time().Format(time.TimeOnly), means[i])
	}
	// Output:
	// less than a byte per group: true
	// 12:00:00 20
	// 12:01:00 21
	// 12:02:00 22
}
