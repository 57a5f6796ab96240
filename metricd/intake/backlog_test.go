package intake_test

import (
	"runtime"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// backlog is two stores of one clock. The first has sent so many measures, one a request at odd seconds. They are all
// unsettled, because the second, which sent in between at even seconds, was not drained.
type backlog struct {
	intake *intake.Intake
	judge  intake.Judge
	second *intake.Origin
	limits intake.Limits
}

func newBacklog(requests int) *backlog {
	known := &intake.Sources{Complete: true, Waited: []string{"first", "second"}}
	b := &backlog{intake: intake.New(intake.Options{Sources: func() *intake.Sources { return known }})}
	for _, id := range known.Waited {
		c, _ := b.intake.Attach(id, func(string) (uint64, error) { return 0, nil })
		c.Hear(incoming.Stamp{Clock: clockOf("one"), At: clockStart})
	}
	b.second = b.intake.Origin("second", clockOf("one"))
	b.judge = intake.NewJudge(carbonara.NewPlan([]time.Duration{time.Minute}, []carbonara.Method{carbonara.Mean}), 0)
	first := b.intake.Origin("first", clockOf("one"))
	for i := range requests {
		b.send(first, 2*i+1, 2*i+1)
	}
	return b
}

// send reports whether a measure of a second, that was sent at a second, counts.
func (b *backlog) send(from *intake.Origin, at, second int) bool {
	t := start + carbonara.Timestamp(second)*1e9
	b.judge.SetLimits(&b.limits, clockStart+int64(at)*1e9, from)
	if b.limits.Verdict(t)&intake.Counts == 0 {
		return false
	}
	b.judge.Add(carbonara.Measure{Timestamp: t})
	b.judge.Took(&b.limits, []carbonara.Timestamp{t})
	return true
}

// The measures of a store that is adopted count as they were sent, and each takes no memory for those of the other one.
func TestBacklog(t *testing.T) {
	const requests = 5_000
	b := newBacklog(requests)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range requests {
		if !b.send(b.second, 2*i, 2*i) {
			t.Fatalf("the measure of second %d is too old", 2*i)
		}
		if i%100 == 1 {
			if b.send(b.second, 2*i, 2*i+1) {
				t.Fatalf("a measure of second %d counts that a later one has replaced", 2*i+1)
			}
			if b.send(b.second, 2*i, 2*i-601) {
				t.Fatalf("a measure of ten minutes before second %d is not too old", 2*i)
			}
		}
	}
	runtime.ReadMemStats(&after)
	if bytes := (after.TotalAlloc - before.TotalAlloc) / requests; bytes > 1<<10 {
		t.Errorf("a measure takes %d bytes", bytes)
	}
}

// BenchmarkBacklog drains a store that is adopted, where another one has sent as many measures meanwhile.
func BenchmarkBacklog(b *testing.B) {
	const requests = 5_000
	for b.Loop() {
		log := newBacklog(requests)
		for i := range requests {
			log.send(log.second, 2*i, 2*i)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2*requests), "ns/measure")
}
