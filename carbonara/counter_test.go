package carbonara_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var counterMethods = []carbonara.Method{carbonara.Increase, carbonara.Resets}

// counterSeries returns the scrapes of a counter that is reset now and then, and not always scraped.
func counterSeries(rng *rand.Rand, n int) (timestamps []carbonara.Timestamp, values []float64) {
	at, v := carbonara.Timestamp(1_700_000_000e9), float64(rng.IntN(100))
	for range n {
		at += 15e9 + carbonara.Timestamp(rng.IntN(200))*1e6
		if rng.IntN(40) == 0 {
			at += carbonara.Timestamp(rng.IntN(600)) * 1e9
		}
		if v += float64(rng.IntN(50)); rng.IntN(30) == 0 {
			v = float64(rng.IntN(20))
		}
		timestamps, values = append(timestamps, at), append(values, v)
	}
	return timestamps, values
}

// increases is what a counter's groups should answer, from its measures alone.
func increases(timestamps []carbonara.Timestamp, values []float64, granularity time.Duration) (
	starts []carbonara.Timestamp, increase, resets []float64) {
	for i, t := range timestamps {
		start := t.Floor(granularity)
		if n := len(starts); n == 0 || starts[n-1] != start {
			starts, increase, resets = append(starts, start), append(increase, 0), append(resets, 0)
		}
		n := len(starts) - 1
		switch {
		case i == 0:
		case values[i] < values[i-1]:
			increase[n] += values[i]
			resets[n]++
		default:
			increase[n] += values[i] - values[i-1]
		}
	}
	return starts, increase, resets
}

func requireCounter(t *testing.T, what string, g *carbonara.Groups, timestamps []carbonara.Timestamp,
	values []float64) {
	t.Helper()
	wantStarts, wantIncrease, wantResets := increases(timestamps, values, g.Granularity)
	for i, want := range [][]float64{wantIncrease, wantResets} {
		starts, got := g.Aggregate(counterMethods[i], nil, nil)
		if !slices.Equal(starts, wantStarts) || !slices.Equal(got, want) {
			t.Fatalf("%s: %s of %v: got %v %v, want %v %v", what, counterMethods[i], g.Granularity, starts, got,
				wantStarts, want)
		}
	}
}

// The groups of a counter answer its increase and resets exactly: in one batch or continued anywhere, from splits, and
// as wider groups of narrower ones.
func TestCountersAreExact(t *testing.T) {
	granularities := []time.Duration{time.Minute, 5 * time.Minute, time.Hour}
	plan := carbonara.NewPlan(granularities, counterMethods)
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(35, seed))
		timestamps, values := counterSeries(rng, 300)
		batch := &carbonara.Batch{Timestamps: timestamps, Values: values}
		batch.Series = []carbonara.Series{{Plan: plan, To: len(values)}}
		whole := resample(t, 1, batch)

		cut := 1 + rng.IntN(len(values)-1)
		first := &carbonara.Batch{Timestamps: timestamps[:cut], Values: values[:cut]}
		first.Series = []carbonara.Series{{Plan: plan, To: cut}}
		before := resample(t, 1, first)
		var open []float64
		for j := range granularities {
			open = before.Groups(0, j).AppendOpen(open)
		}
		second := &carbonara.Batch{Timestamps: timestamps[cut:], Values: values[cut:]}
		second.Series = []carbonara.Series{{Plan: plan, To: len(values) - cut, Open: open, HasPrevious: true,
			Previous: carbonara.Measure{Timestamp: timestamps[cut-1], Value: values[cut-1]}}}
		after := resample(t, 1, second)

		for j, granularity := range granularities {
			g := whole.Groups(0, j)
			requireCounter(t, "one batch", g, timestamps, values)

			var continued, scratch carbonara.Groups
			continued.Reset(granularity, plan.Columns)
			continued.Append(before.Groups(0, j))
			continued.Overlay(0, after.Groups(0, j), &scratch)
			requireSameGroups(t, "continued", &continued, g)

			if key := carbonara.SplitKeyOf(g.Starts[0], granularity); g.Starts[g.Len()-1] < key.End() {
				var stored carbonara.Groups
				stored.Reset(granularity, plan.Columns)
				fatal.If(t, carbonara.DecodeSplit(carbonara.AppendSplit(nil, key, g), key, plan.Columns, 0,
					carbonara.MaxTimestamp, &stored))
				requireSameGroups(t, "stored", &stored, g)
			}
			if j > 0 {
				var wide carbonara.Groups
				fatal.If(t, carbonara.Coarsen(&wide, whole.Groups(0, 0), granularity))
				requireCounter(t, "of minutes", &wide, timestamps, values)
				for _, column := range []carbonara.Column{carbonara.ColumnFirstTime, carbonara.ColumnLastTime} {
					for i, v := range wide.Column(column) {
						if want := g.Column(column)[i]; v != want {
							t.Fatalf("%v of minutes: %v, want %v", column, v, want)
						}
					}
				}
			}
		}
	}
}

func requireSameGroups(t *testing.T, what string, got, want *carbonara.Groups) {
	t.Helper()
	if !slices.Equal(got.Starts, want.Starts) || !slices.Equal(got.Columns, want.Columns) {
		t.Fatalf("%s: %v of %v, want %v of %v", what, got.Starts, got.Columns, want.Starts, want.Columns)
	}
	for i, column := range want.Columns {
		if !sameBits(got.Values[i], want.Values[i]) {
			t.Fatalf("%s: %v: %v, want %v", what, column, got.Values[i], want.Values[i])
		}
	}
}

// A group before the range gives the step to its first group, and no aggregate of its own.
func TestLead(t *testing.T) {
	timestamps, values := []carbonara.Timestamp{10e9, 70e9, 130e9}, []float64{5, 3, 10}
	batch := &carbonara.Batch{Timestamps: timestamps, Values: values}
	batch.Series = []carbonara.Series{{Plan: carbonara.NewPlan([]time.Duration{time.Minute}, counterMethods), To: 3}}
	all := resample(t, 1, batch).Groups(0, 0)
	show := func(g carbonara.Groups) (s string) {
		for _, m := range counterMethods {
			starts, values := g.Aggregate(m, nil, nil)
			s += fmt.Sprint(len(starts), values)
		}
		return s
	}
	f := func(want string, from int, lead bool) {
		t.Helper()
		g := all.Slice(from, 3)
		g.Lead = lead
		if got := show(g); got != want {
			t.Errorf("from %d, lead %v: got %s, want %s", from, lead, got, want)
		}
	}
	f("3 [0 3 7]3 [0 1 0]", 0, false)
	f("2 [3 7]2 [1 0]", 0, true)
	f("2 [0 7]2 [0 0]", 1, false)
	f("1 [7]1 [0]", 1, true)
}

// An unknown value of a group makes the methods absent that need it, and those of wider groups.
func TestCountersOfUnknownGroups(t *testing.T) {
	timestamps, values := []carbonara.Timestamp{10e9, 70e9, 130e9}, []float64{5, 8, 10}
	batch := &carbonara.Batch{Timestamps: timestamps, Values: values}
	batch.Series = []carbonara.Series{{Plan: carbonara.NewPlan([]time.Duration{time.Minute}, counterMethods), To: 3}}
	g := resample(t, 1, batch).Groups(0, 0)
	g.Column(carbonara.ColumnResetSum)[1] = carbonara.Absent()
	if starts, _ := g.Aggregate(carbonara.Increase, nil, nil); !slices.Equal(starts, []carbonara.Timestamp{0, 120e9}) {
		t.Errorf("increase of %v", starts)
	}
	if starts, _ := g.Aggregate(carbonara.Resets, nil, nil); len(starts) != 3 {
		t.Errorf("resets of %v", starts)
	}
	g.Column(carbonara.ColumnLast)[0] = carbonara.Absent()
	if starts, _ := g.Aggregate(carbonara.Resets, nil, nil); !slices.Equal(starts, []carbonara.Timestamp{120e9}) {
		t.Errorf("resets of %v after an unknown last value", starts)
	}
	g.Column(carbonara.ColumnLast)[0] = 5
	var wide carbonara.Groups
	fatal.If(t, carbonara.Coarsen(&wide, g, time.Hour))
	if starts, _ := wide.Aggregate(carbonara.Increase, nil, nil); len(starts) != 0 {
		t.Errorf("increase of an hour with an unknown minute: %v", starts)
	}
	if _, resets := wide.Aggregate(carbonara.Resets, nil, nil); !slices.Equal(resets, []float64{0}) {
		t.Errorf("resets of the hour: %v", resets)
	}
}

// The columns of counters take few bytes of a split; of counters that are not reset, and scraped on time, nearly none.
func TestBytesOfCounters(t *testing.T) {
	moments := []carbonara.Method{carbonara.Mean, carbonara.Min, carbonara.Max, carbonara.Sum, carbonara.Std,
		carbonara.Count, carbonara.First, carbonara.Last}
	f := func(what string, jitter, resets int, granularity time.Duration, atMost float64) {
		t.Helper()
		rng := rand.New(rand.NewPCG(35, 2))
		batch, at, v := &carbonara.Batch{}, carbonara.Timestamp(1_700_006_400e9), 0.
		for range 3600 * int(granularity/(15*time.Second)) {
			batch.Timestamps = append(batch.Timestamps, at+carbonara.Timestamp(rng.IntN(jitter+1))*1e6)
			batch.Values = append(batch.Values, v)
			at, v = at+15e9, v+float64(rng.IntN(200))
			if resets > 0 && rng.IntN(resets) == 0 {
				v = 0
			}
		}
		var size [2]float64
		for i, methods := range [][]carbonara.Method{moments, append(slices.Clone(moments), carbonara.Increase)} {
			batch.Series = []carbonara.Series{{Plan: carbonara.NewPlan([]time.Duration{granularity}, methods),
				To: len(batch.Values)}}
			g := resample(t, 1, batch).Groups(0, 0)
			key := carbonara.SplitKeyOf(g.Starts[0], granularity)
			part := g.Slice(0, g.Search(key.End()))
			size[i] = float64(len(carbonara.AppendSplit(nil, key, &part))) / float64(part.Len())
		}
		t.Logf("%s, groups of %v: %.2f, with counters %.2f", what, granularity, size[0], size[1])
		if more := size[1] - size[0]; more > atMost {
			t.Errorf("%s, groups of %v: %.2f bytes more, at most %.2f expected", what, granularity, more, atMost)
		}
	}
	for _, granularity := range []time.Duration{time.Minute, 15 * time.Minute} {
		f("on time, no resets", 0, 0, granularity, 0.05)
		f("jitter, no resets", 20, 0, granularity, 2)
		f("jitter, a reset in 5,000 scrapes", 20, 5000, granularity, 2.2)
		f("jitter, a reset in 200 scrapes", 20, 200, granularity, 6)
	}
}
