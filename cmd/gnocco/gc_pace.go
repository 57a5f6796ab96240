package main

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// By default the heap grows to twice what lives in it before Go collects, however rare that is. Where measures come
// slowly, that is as much memory again for a collection in some minutes.

const (
	// scanRate is how many bytes a second collections may look through to keep the heap small: about a thousandth of a
	// core's time. What they cost is not measured, since that depends on who else uses the processors.
	scanRate = 1e6

	gcPercentLeast    = 25
	gcPercentDefault  = 100 // Go's
	gcPercentFullRate = 200 // where collections at Go's default would look through more than fullRate
	fullRate          = 8 * scanRate
)

// paceCollector sets GOGC after each collection, unless it was set from outside.
func paceCollector() {
	if os.Getenv("GOGC") == "" {
		p := &gcPace{percent: gcPercentDefault, last: time.Now()}
		p.awaitCollection()
	}
}

// gcPace is the collector's pace.
type gcPace struct {
	percent float64   // GOGC
	last    time.Time // when there was a collection
}

// awaitCollection has the pace set after the next collection, and after each one that follows.
func (p *gcPace) awaitCollection() {
	garbage := new([16]byte) // the next collection finds it; what is smaller shares its memory with others
	runtime.AddCleanup(garbage, func(p *gcPace) {
		scanned := []metrics.Sample{{Name: "/gc/scan/total:bytes"}}
		metrics.Read(scanned)
		p.collected(time.Now(), scanned[0].Value.Uint64())
		debug.SetGCPercent(int(p.percent))
		p.awaitCollection()
	}, p)
}

// collected sets percent so that, if as much is allocated as since the last collection, scanRate is kept.
func (p *gcPace) collected(now time.Time, scanned uint64) {
	if since := now.Sub(p.last).Seconds(); since > 0 {
		rate := p.percent * float64(scanned) / since // of GOGC=1
		p.percent = min(max(rate/scanRate, gcPercentLeast),
			max(gcPercentDefault, min(rate/fullRate, gcPercentFullRate)))
	}
	p.last = now
}
