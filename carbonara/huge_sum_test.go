package carbonara_test

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

const huge = 1.7e308

// hugeCases are measures of a group whose sum float64 does not hold, at the end or on the way.
var hugeCases = []struct {
	values         []float64
	mean, sum, std float64
}{
	{repeated([]float64{huge}, 6), huge, math.Inf(1), 0},
	{repeated([]float64{-huge}, 6), -huge, math.Inf(-1), 0},
	{[]float64{huge, huge, -huge, -huge, 3}, 0.6, 3, math.Inf(1)},
	{[]float64{huge, huge, -huge}, huge / 3, huge, math.Inf(1)},
	{[]float64{5, huge, huge, huge, huge}, 4 * (huge / 5), math.Inf(1), math.Inf(1)},
}

func requireHuge(t *testing.T, what string, g *carbonara.Groups, mean, sum float64) {
	t.Helper()
	if got := aggregateOf(t, g, carbonara.Sum); got != sum && math.Abs(got-sum) > 1e290 {
		t.Errorf("%s: sum %v, want %v", what, got, sum)
	}
	if got := aggregateOf(t, g, carbonara.Mean); math.Abs(got-mean) > max(1e-15*math.Abs(mean), 1e290) {
		t.Errorf("%s: mean %v, want %v", what, got, mean)
	}
}

// The mean of finite measures is finite, in one batch or in several.
func TestMeansOfHugeSums(t *testing.T) {
	for _, c := range hugeCases {
		whole := groupOf(t, c.values)
		requireHuge(t, "one batch", whole, c.mean, c.sum)
		if got := aggregateOf(t, whole, carbonara.Std); got != c.std {
			t.Errorf("std of %v: %v, want %v", c.values, got, c.std)
		}
		for cut := 1; cut < len(c.values); cut++ {
			for second := cut + 1; second <= len(c.values); second++ {
				cuts := []int{cut, second}[:1+min(1, len(c.values)-second)]
				g := groupOf(t, c.values, cuts...)
				for _, m := range []carbonara.Method{carbonara.Sum, carbonara.Mean, carbonara.Std} {
					got, want := aggregateOf(t, g, m), aggregateOf(t, whole, m)
					if math.Float64bits(got) != math.Float64bits(want) {
						t.Errorf("%v in batches that end at %v: %v, in one %v", m, cuts, got, want)
					}
				}
			}
		}
	}
	g := groupOf(t, []float64{huge, math.Inf(1), huge}, 2)
	if got := aggregateOf(t, g, carbonara.Mean); !math.IsInf(got, 1) {
		t.Errorf("mean with an infinity: %v", got)
	}
	g = groupOf(t, repeated([]float64{-huge, 0}, 5))
	if got := aggregateOf(t, g, carbonara.Sum.Rate()); got != huge {
		t.Errorf("sum of differences: %v", got)
	}
}

// hugeGroups returns a group for each of values, of as many measures each.
func hugeGroups(t *testing.T, measures int, values ...float64) *carbonara.Groups {
	t.Helper()
	batch := &carbonara.Batch{}
	for i, v := range values {
		for j := range measures {
			at := carbonara.Timestamp(1_700_006_400e9) + carbonara.Timestamp(i)*60e9 + carbonara.Timestamp(j)*1e9
			batch.Timestamps, batch.Values = append(batch.Timestamps, at), append(batch.Values, v)
		}
	}
	plan := carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean, carbonara.Std})
	batch.Series = []carbonara.Series{{Plan: plan, To: len(batch.Values)}}
	return resample(t, 1, batch).Groups(0, 0)
}

func requireMeans(t *testing.T, what string, g *carbonara.Groups, want ...float64) {
	t.Helper()
	if _, got := g.Aggregate(carbonara.Mean, nil, nil); !slices.Equal(got, want) {
		t.Errorf("%s: means %v, want %v", what, got, want)
	}
}

func decoded(t *testing.T, src []byte, key carbonara.SplitKey, columns []carbonara.Column) *carbonara.Groups {
	t.Helper()
	g := new(carbonara.Groups)
	fatal.If(t, carbonara.DecodeSplit(src, key, columns, 0, carbonara.MaxTimestamp, g))
	return g
}

// Splits keep scaled sums, of few groups and of many, and a later operand replaces them. Those without take no byte.
func TestSplitsKeepScaledSums(t *testing.T) {
	for _, n := range []int{1, 200} {
		var values []float64
		for i := range n {
			values = append(values, []float64{huge, -huge, 1}[i%3])
		}
		g := hugeGroups(t, 6, values...)
		key := carbonara.SplitKeyOf(g.Starts[0], time.Minute)
		split := carbonara.AppendSplit(nil, key, g)
		requireMeans(t, "split", decoded(t, split, key, g.Columns), values...)

		later := hugeGroups(t, 6, -huge)
		operands := [][]byte{split, carbonara.AppendSplit(nil, key, later)}
		merged, err := carbonara.MergeSplits(nil, key, operands)
		fatal.If(t, err)
		changed := append([]float64{-huge}, values[1:]...)
		requireMeans(t, "merged", decoded(t, merged, key, g.Columns), changed...)
		var scratch carbonara.Groups
		g.Overlay(0, later, &scratch)
		requireMeans(t, "overlay", g, changed...)
		g.Overlay(0, hugeGroups(t, 1, math.Inf(1)), &scratch)
		requireMeans(t, "overlay of an infinity", g, append([]float64{math.Inf(1)}, values[1:]...)...)
		g.Delete(0, 1)
		requireMeans(t, "deleted", g, values[1:]...)

		small := hugeGroups(t, 6, repeated([]float64{1}, n)...)
		info, err := carbonara.SplitInfo(carbonara.AppendSplit(nil, key, small))
		fatal.If(t, err)
		if len(info.Columns) != len(g.Columns) {
			t.Errorf("groups of small sums have the columns %v", info.Columns)
		}
	}
}

// Groups of groups, and of several metrics, have the mean of all their measures.
func TestCombinedHugeSums(t *testing.T) {
	for _, c := range []struct {
		measures int
		values   []float64
		mean     float64
	}{
		{6, []float64{huge, huge, huge}, huge},
		{6, []float64{huge, -huge}, 0},
		{1, []float64{huge, huge, huge, huge}, huge},
		{6, []float64{huge, huge, -huge}, huge / 3},
	} {
		fine := hugeGroups(t, c.measures, c.values...)
		var hour, day carbonara.Groups
		fatal.If(t, carbonara.Coarsen(&hour, fine, time.Hour))
		fatal.If(t, carbonara.Coarsen(&day, &hour, 24*time.Hour))
		var sources []*carbonara.Groups
		for _, v := range c.values {
			sources = append(sources, hugeGroups(t, c.measures, v))
		}
		var merged carbonara.Groups
		fatal.If(t, carbonara.Merge(&merged, sources))
		for _, g := range []*carbonara.Groups{&hour, &day, &merged} {
			got := aggregateOf(t, g, carbonara.Mean)
			if math.Abs(got-c.mean) > 1e-15*math.Abs(c.mean) {
				t.Errorf("%v measures of each of %v: mean %v, want %v", c.measures, c.values, got, c.mean)
			}
		}
	}
}
