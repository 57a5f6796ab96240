package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"
)

// By default the heap grows to twice what lives in it before Go collects, however rare that is, and what was free then
// is kept for the next time. Where measures come slowly, that is as much memory again for a collection in some minutes.

const (
	// scanRate is how many bytes a second collections may look through to keep the heap small: less than a thousandth
	// of a core's time. Their cost is not measured, since it depends on the load of the processors.
	scanRate = 1.5e6

	leastWait = 10 * time.Second
	mostWait  = 110 * time.Second // Go collects every two minutes, and keeps what is free then
	// mostScanned is up to where memory is given back. In a larger heap it is used again by the next collection.
	mostScanned = 256 << 20

	// scannedPerAllocated is how many bytes a collection looks through for each byte that is allocated before it. Go
	// itself has one for one in a heap of pointers alone. Waiting measures and blocks have none: a heap of these may
	// grow by less between two collections.
	scannedPerAllocated = 1.0 / 3
	// leastGrowth is by how much a heap may always grow: a collection has costs of its own.
	leastGrowth = 64 << 20

	gcPercentLeast   = 25
	gcPercentDefault = 100 // Go's
	raiseAtOnce      = 1.5 // times GOGC: a checkpoint is over after some collections
)

// worthBytes is what a collection has to bring before Go would have one.
const worthBytes = 8 << 20

// paceCollector sets GOGC after each collection, collects where that takes long, and gives back what is free then. It
// does nothing if GOGC was set from outside.
func paceCollector() {
	if os.Getenv("GOGC") == "" {
		p := &gcPace{percent: gcPercentDefault, last: time.Now(), wait: mostWait}
		p.due = time.AfterFunc(p.wait, p.collect)
		p.awaitCollection()
	}
}

// gcPace is the collector's pace.
type gcPace struct {
	due *time.Timer // for collect

	mu        sync.Mutex    // guards what follows
	percent   float64       // GOGC
	last      time.Time     // when there was a collection
	allocated uint64        // bytes by then, since the program began
	wait      time.Duration // until the next one is due
}

// awaitCollection has the pace set after the next collection, and after each one that follows.
func (p *gcPace) awaitCollection() {
	garbage := new([16]byte) // the next collection finds it; a smaller one shares its memory with others
	runtime.AddCleanup(garbage, func(p *gcPace) {
		p.mu.Lock()
		defer p.mu.Unlock()
		heap := readHeap()
		p.collected(time.Now(), heap)
		if heap.scanned <= mostScanned {
			p.due.Reset(p.wait)
		} else {
			p.due.Stop()
		}
		debug.SetGCPercent(int(p.percent))
		p.awaitCollection()
	}, p)
}

// collected sets percent and wait so that scanRate is kept if as much is allocated as since the last collection, as far
// as Go's own pace and scannedPerAllocated allow.
func (p *gcPace) collected(now time.Time, heap heapFigures) {
	scanned := float64(heap.scanned)
	if since := now.Sub(p.last).Seconds(); since > 0 && heap.live > 0 {
		grown := float64(heap.allocated-p.allocated) / float64(heap.live)
		rate := 100 * grown * scanned / since // of GOGC=1
		enough := 100 * max(scanned/scannedPerAllocated, leastGrowth) / float64(heap.live)
		p.percent = max(gcPercentLeast, min(rate/scanRate, enough, gcPercentDefault, p.percent*raiseAtOnce))
	}
	p.last, p.allocated = now, heap.allocated
	p.wait = min(max(leastWait, time.Duration(scanned/scanRate*float64(time.Second))), mostWait)
}

// collect collects and gives memory back, or waits for more to do.
func (p *gcPace) collect() {
	p.mu.Lock()
	heap := readHeap()
	worth := heap.allocated-p.allocated+heap.free >= worthBytes
	if !worth {
		p.due.Reset(p.wait)
	}
	p.mu.Unlock()
	if worth {
		debug.FreeOSMemory()
	}
}

// heapFigures are bytes of the heap.
type heapFigures struct {
	scanned   uint64 // by a collection
	live      uint64 // after the last one
	allocated uint64 // since the program began
	free      uint64 // and not given back
}

func readHeap() heapFigures {
	samples := []metrics.Sample{{Name: "/gc/scan/total:bytes"}, {Name: "/gc/heap/live:bytes"},
		{Name: "/gc/heap/allocs:bytes"}, {Name: "/memory/classes/heap/free:bytes"}}
	metrics.Read(samples)
	return heapFigures{samples[0].Value.Uint64(), samples[1].Value.Uint64(), samples[2].Value.Uint64(),
		samples[3].Value.Uint64()}
}
