package main

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// policyOf returns a policy of one-minute and five-minute groups.
func policyOf(t *testing.T, name string, methods ...string) *model.ArchivePolicy {
	t.Helper()
	minute, five, points := time.Minute, 5*time.Minute, int64(1000)
	p, err := model.NewArchivePolicy(name, 1, []model.DefinitionInput{{Granularity: &minute, Points: &points},
		{Granularity: &five, Points: &points}}, methods)
	fatal.If(t, err)
	return p
}

// aggregatesOf returns what a policy's methods say of measures.
func aggregatesOf(t *testing.T, p *model.ArchivePolicy, s series) map[time.Duration]map[carbonara.Method]series {
	t.Helper()
	resampler := carbonara.NewCPUResampler(1)
	var batch carbonara.Batch
	var result carbonara.Result
	batch.Timestamps, batch.Values = s.timestamps, s.values
	batch.Series = []carbonara.Series{{Plan: p.Plan(), To: len(s.timestamps)}}
	fatal.If(t, resampler.Resample(context.Background(), &batch, &result))
	all := make(map[time.Duration]map[carbonara.Method]series)
	for j, g := range p.Granularities() {
		all[g] = make(map[carbonara.Method]series)
		for _, m := range p.Methods() {
			starts, values := result.Groups(0, j).Aggregate(m, nil, nil)
			all[g][m] = series{starts, values}
		}
	}
	return all
}

func randomSeries(r *rand.Rand, n int) (s series) {
	at := carbonara.Timestamp(1_700_000_000e9 + r.Int64N(1e12))
	for range n {
		at += carbonara.Timestamp(1 + r.Int64N(70e9))
		v := r.NormFloat64() * math.Pow(10, float64(r.IntN(9)-4))
		switch r.IntN(20) {
		case 0:
			v = 0
		case 1:
			v = float64(r.IntN(1000))
		}
		s.add(at, v)
	}
	return s
}

func equal(a, b float64) bool { return a == b || a != a && b != b }

// Groups made of aggregates answer as these do, for any methods.
func TestGroupsSayWhatAggregatesDo(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 52))
	policies := []*model.ArchivePolicy{
		policyOf(t, "all", "*"), policyOf(t, "mean", "mean"), policyOf(t, "std", "std"),
		policyOf(t, "mean and count", "mean", "count"),
		policyOf(t, "mean and std", "mean", "std"), policyOf(t, "six", "mean", "min", "max", "sum", "std", "count"),
		policyOf(t, "rates", "rate:mean", "rate:std", "last"), policyOf(t, "sum and mean", "sum", "mean", "median"),
	}
	for range 30 {
		s := randomSeries(r, 1+r.IntN(300))
		for _, p := range policies {
			want := aggregatesOf(t, p, s)
			for _, g := range p.Granularities() {
				groups, _ := groupsOf(p, g, want[g])
				for _, m := range p.Methods() {
					starts, values := groups.Aggregate(m, nil, nil)
					if !slices.Equal(starts, want[g][m].timestamps) {
						t.Fatalf("policy %s: %s has other times: %d, want %d", p.Name, m, len(starts),
							len(want[g][m].timestamps))
					}
					if !slices.EqualFunc(values, want[g][m].values, equal) {
						t.Fatalf("policy %s: %s has other values:\n%v, want\n%v", p.Name, m, values, want[g][m].values)
					}
				}
			}
		}
	}
}

// Numbers of measures are known from counts, or sums and means; else they are counted as unknown.
func TestUnknownCounts(t *testing.T) {
	var s series
	for i := range 12 {
		s.add(carbonara.Timestamp(1_700_000_000e9+int64(i)*10e9), float64(i+1))
	}
	f := func(want inexact, methods ...string) {
		t.Helper()
		p := policyOf(t, "p", methods...)
		_, unknown := groupsOf(p, time.Minute, aggregatesOf(t, p, s)[time.Minute])
		if unknown != want {
			t.Errorf("%v: %+v, want %+v", methods, unknown, want)
		}
	}
	f(inexact{}, "mean", "count")
	f(inexact{}, "mean", "sum")
	f(inexact{count: 3}, "mean")
	f(inexact{count: 3}, "last")
	f(inexact{count: 3, sum: 3}, "std")
}

func TestParseMeasures(t *testing.T) {
	all, err := parseMeasures(
		[]byte(`[["2023-11-14T22:00:00+00:00", 300.0, 1.5], ["2023-11-14T22:05:00+00:00",300.0,NaN],
		["2023-11-14T22:05:00.500000+00:00", 0.5, -Infinity], ["2023-11-14T22:10:00+00:00", 300.0, null]]`))
	fatal.If(t, err)
	five, half := all[5*time.Minute], all[500*time.Millisecond]
	if len(all) != 2 || !slices.EqualFunc(five.values, []float64{1.5, math.NaN(), math.NaN()}, equal) ||
		!slices.Equal(half.values, []float64{math.Inf(-1)}) ||
		five.timestamps[0] != 1_699_999_200e9 || half.timestamps[0] != 1_699_999_500.5e9 {
		t.Errorf("%v %v", five, half)
	}
	if all, err := parseMeasures([]byte(" []\n")); err != nil || len(all) != 0 {
		t.Errorf("an empty list: %v %v", all, err)
	}
	for _, text := range []string{"", "{}", "[", "[[", `[["2023-11-14T22:00:00", 300.0]]`, `[["x", 1, 2]]`,
		`[["2023-11-14T22:00:00", 1, 2] ["`} {
		if _, err := parseMeasures([]byte(text)); err == nil {
			t.Errorf("%q is accepted", text)
		}
	}
	if _, err := parseMeasures([]byte(`[["+00:00", 0.5, 1.0]]`)); !errors.Is(err, errFractions) {
		t.Errorf("a time without its digits: %v", err)
	}
}
