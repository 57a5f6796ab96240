package main

import (
	"math"
	"runtime"
	"runtime/debug"
	"testing"
	"time"
)

func TestGCPace(t *testing.T) {
	const mb = 1_000_000
	p := &gcPace{percent: gcPercentDefault}
	collect := func(since time.Duration, scanned uint64) { p.collected(p.last.Add(since), scanned) }
	// f expects from what GOGC is on, after collections of a program that allocates so many MB a second, while so many
	// live, of which so many are scanned.
	f := func(name string, allocates, live float64, scanned uint64, want float64) {
		t.Helper()
		for range 10 {
			collect(time.Duration(live*p.percent/100/allocates*float64(time.Second)), scanned*mb)
		}
		if math.Abs(p.percent-want) > 1 {
			t.Errorf("%s: GOGC is %v, want %v", name, p.percent, want)
		}
	}
	f("a fleet that reports slowly", 1.2, 100, 40, 48) // one in 40 s
	f("a larger one", 6, 1000, 400, gcPercentDefault)
	f("at full speed", 200, 100, 40, gcPercentFullRate)
	f("nearly idle", 0.01, 30, 5, gcPercentLeast)
	collect(time.Second, 5*mb)
	if p.percent != gcPercentDefault {
		t.Errorf("after a burst GOGC is %v", p.percent)
	}
}

func TestGCPaceIsSet(t *testing.T) {
	t.Setenv("GOGC", "")
	defer debug.SetGCPercent(debug.SetGCPercent(90))
	paceCollector()
	for tries := 0; ; tries++ {
		percent := debug.SetGCPercent(90)
		if percent != 90 {
			break
		}
		if tries == 1000 {
			t.Fatal("collections set no pace")
		}
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
}
