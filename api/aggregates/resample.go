package aggregates

import (
	"time"

	"gnocco/carbonara"
)

// groupWidth is the width of a group in the resampler's time: more rows than fit into memory.
const groupWidth = time.Duration(1) << 32

// resample aggregates the rows of each group anew, column by column. The resampler knows groups of equal width only,
// so it gets a time of its own, in which row i of the n-th group stands at n * groupWidth + i: that serves calendars,
// too.
func (e *evaluator) resample(n *node) (*columns, error) {
	in, err := e.columns(n.operands[0])
	if err != nil {
		return nil, err
	}
	out := *in
	out.granularity, out.times, out.boolean = n.width, regroupedTimes(n, in.times), false
	batch := carbonara.Batch{
		Timestamps: make([]carbonara.Timestamp, len(in.times)),
		Values:     make([]float64, len(in.times)),
		Series: []carbonara.Series{{
			Plan: carbonara.NewPlan([]time.Duration{groupWidth}, []carbonara.Method{n.method}), To: len(in.times),
		}},
	}
	group, number := carbonara.Timestamp(-1), int64(-1)
	for i, t := range in.times {
		if next := n.grouping.Group(t); next != number {
			group, number = group+1, next
		}
		batch.Timestamps[i] = group*carbonara.Timestamp(groupWidth) + carbonara.Timestamp(i)
	}
	resampler, result := carbonara.NewCPUResampler(1), new(carbonara.Result)
	var starts []carbonara.Timestamp
	out.read = func(j int, dst []float64) error {
		if err := in.read(j, batch.Values); err != nil || len(dst) == 0 {
			return err
		}
		if err := resampler.Resample(e.ctx, &batch, result); err != nil {
			return err
		}
		var values []float64
		starts, values = result.Groups(0, 0).Aggregate(n.method, starts[:0], dst[:0])
		if len(values) != len(dst) {
			panic("aggregates: a resampled column has other rows than its neighbours")
		}
		return nil
	}
	return &out, nil
}

// regroupedTimes returns the starts of the groups that have an aggregate: which ones depends on the rows alone, not on
// their values. A rate needs a row before, std two rows.
func regroupedTimes(n *node, times []carbonara.Timestamp) []carbonara.Timestamp {
	least := 1
	if n.method.Base() == carbonara.Std {
		least = 2
	}
	if n.method.IsRate() {
		times = withoutFirst(times)
	}
	var starts []carbonara.Timestamp
	for i := 0; i < len(times); {
		number, first := n.grouping.Group(times[i]), i
		for i < len(times) && n.grouping.Group(times[i]) == number {
			i++
		}
		if i-first >= least {
			starts = append(starts, n.grouping.Start(number))
		}
	}
	return starts
}
