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
	p := &gcPace{percent: gcPercentDefault, wait: mostWait}
	collect := func(allocates, live, scanned float64) {
		since := min(live*p.percent/100/allocates, p.wait.Seconds())
		p.collected(p.last.Add(time.Duration(since*float64(time.Second))), heapFigures{scanned: uint64(scanned * mb),
			live: uint64(live * mb), allocated: p.allocated + uint64(allocates*since*mb)})
	}
	// f expects GOGC, and after how many seconds a collection is due, after collections of a program. The program
	// allocates so many MB a second, while so many live and so many of these are scanned.
	f := func(name string, allocates, live, scanned, percent, wait float64) {
		t.Helper()
		for range 10 {
			collect(allocates, live, scanned)
		}
		if math.Abs(p.percent-percent) > 1 || math.Abs(p.wait.Seconds()-wait) > 1 {
			t.Errorf("%s: GOGC is %v, the next is due within %v, want %v, %v s", name, p.percent, p.wait, percent, wait)
		}
	}
	f("a fleet that reports slowly", 0.8, 100, 90, 48, 60)
	f("a larger one", 6, 1000, 250, 75, 110)
	f("at full speed", 200, 100, 27, 81, 18)
	f("many measures in memory", 200, 2000, 100, gcPercentLeast, 67)
	f("a small heap without pointers", 200, 80, 1, 84, 10)
	f("a heap of pointers", 200, 1000, 900, gcPercentDefault, 110)
	f("nearly idle", 0.01, 30, 5, gcPercentLeast, 10)
	collect(100, 30, 5)
	if want := gcPercentLeast * raiseAtOnce; p.percent != want {
		t.Errorf("after a burst GOGC is %v, want %v", p.percent, want)
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

// A collection that is due gives free memory back.
func TestGCPaceGivesMemoryBack(t *testing.T) {
	p := &gcPace{percent: gcPercentDefault, wait: time.Hour}
	p.due = time.NewTimer(p.wait)
	garbage := make([]byte, 64<<20)
	for i := 0; i < len(garbage); i += 4096 {
		garbage[i] = 1
	}
	runtime.KeepAlive(garbage)
	p.collect()
	if free := readHeap().free; free >= worthBytes {
		t.Errorf("%d bytes are free and not given back", free)
	}
	p.allocated = readHeap().allocated
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	p.collect()
	if runtime.ReadMemStats(&after); after.NumGC != before.NumGC {
		t.Error("a collection that brings nothing")
	}
}
