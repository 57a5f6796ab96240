package model_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// cpuOf returns the CPU that f takes, the least of some runs, in seconds.
func cpuOf(t *testing.T, runs int, f func()) float64 {
	t.Helper()
	used := func() float64 {
		var r syscall.Rusage
		fatal.If(t, syscall.Getrusage(syscall.RUSAGE_SELF, &r))
		return float64(r.Utime.Nano()+r.Stime.Nano()) / 1e9
	}
	var all []float64
	for range runs {
		before := used()
		f()
		all = append(all, used()-before)
	}
	return slices.Min(all)
}

// Bytes of a group and CPU of resampling and encoding, with and without the methods of counters and sketches, in three
// archive policies. A policy without them pays nothing. GNOCCO_COUNTERS=table prints the table of
// docs/decisions/0107-what-groups-tell.md.
func TestCostOfCountersAndSketches(t *testing.T) {
	table := os.Getenv("GNOCCO_COUNTERS") == "table"
	measures, runs := 40_000, 1
	if table {
		measures, runs = 1_000_000, 5
	}
	r := rand.New(rand.NewPCG(35, 107))
	var timestamps []carbonara.Timestamp
	var counter, latency []float64
	v := 0.0
	for i := range measures {
		jitter := time.Duration(r.IntN(3000)) * time.Millisecond
		at := time.Duration(i)*15*time.Second + jitter
		timestamps = append(timestamps, carbonara.Timestamp(1_700_000_000e9).Add(at))
		if v += float64(r.IntN(50)); r.IntN(5760) == 0 { // a day
			v = 0
		}
		counter = append(counter, v)
		latency = append(latency, math.Round(2e4*math.Exp(0.5*r.NormFloat64()))/1e6)
	}
	minute, hour, day := time.Minute, time.Hour, 24*time.Hour
	benchmarks, err := model.NewArchivePolicy("benchmark's", 0, // of gnocco-bench
		[]model.DefinitionInput{{Granularity: &minute}, {Granularity: &hour}, {Granularity: &day}}, nil)
	fatal.If(t, err)
	policies := []*model.ArchivePolicy{model.SeriesArchivePolicy(), benchmarks}
	for _, p := range model.DefaultArchivePolicies() {
		if p.Name == "medium" {
			policies = append(policies, p)
		}
	}
	var text strings.Builder
	for _, p := range policies {
		bytes := make(map[string][]float64) // by methods, of a group at each granularity
		for _, c := range []struct {
			values  string
			methods []carbonara.Method
		}{{"counter", nil}, {"counter", []carbonara.Method{carbonara.Increase, carbonara.Resets}}, {"latency", nil},
			{"latency", []carbonara.Method{carbonara.SketchMethod}},
			{"counter", []carbonara.Method{carbonara.Increase, carbonara.Resets, carbonara.SketchMethod}}} {
			values := counter
			if c.values == "latency" {
				values = latency
			}
			plan := carbonara.NewPlan(p.Granularities(), slices.Concat(p.Methods(), c.methods))
			var of []float64
			cpu := cpuOf(t, runs, func() { of = bytesOfGroups(t, plan, timestamps, values) })
			names := make([]string, len(c.methods))
			for i, m := range c.methods {
				names[i] = m.String()
			}
			key := c.values + " " + strings.Join(names, " + ")
			bytes[key] = of
			for i, g := range plan.Granularities {
				fmt.Fprintf(&text, "%s,%s,%s,%v,%.2f\n", p.Name, c.values, strings.Join(names, " + "), g, of[i])
			}
			fmt.Fprintf(&text, "%s,%s,%s,CPU s per million,%.3f\n", p.Name, c.values, strings.Join(names, " + "),
				cpu*1e6/float64(measures))
		}
		for i, g := range p.Granularities() {
			// Where the policy lacks first and last, these also come.
			with, without := bytes["counter increase + resets"][i], bytes["counter "][i]
			if g <= time.Hour && with > without+8 {
				t.Errorf("%s, %v: increase takes %.1f bytes a group, %.1f without", p.Name, g, with, without)
			}
			if more := bytes["latency sketch"][i] - bytes["latency "][i]; more > 40 && g <= 15*time.Minute {
				t.Errorf("%s, %v: a sketch takes %.1f bytes a group", p.Name, g, more)
			}
		}
	}
	if table {
		t.Log("\n" + text.String())
	}
}

// bytesOfGroups resamples measures and returns how many bytes a group of each granularity takes in splits.
func bytesOfGroups(t *testing.T, plan *carbonara.Plan, timestamps []carbonara.Timestamp, values []float64) (
	of []float64) {
	var result carbonara.Result
	batch := carbonara.Batch{Timestamps: timestamps, Values: values,
		Series: []carbonara.Series{{Plan: plan, To: len(values)}}}
	fatal.If(t, carbonara.NewCPUResampler(1).Resample(context.Background(), &batch, &result))
	for j, g := range plan.Granularities {
		groups := result.Groups(0, j)
		bytes := 0
		for from := 0; from < groups.Len(); {
			key := carbonara.SplitKeyOf(groups.Starts[from], g)
			to := groups.Search(key.End())
			part := groups.Slice(from, to)
			bytes += len(carbonara.AppendSplit(nil, key, &part))
			from = to
		}
		of = append(of, float64(bytes)/float64(groups.Len()))
	}
	return of
}
