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
	first  *intake.Origin
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
	b.first = b.intake.Origin("first", clockOf("one"))
	for i := range requests {
		b.send(b.first, 2*i+1, 2*i+1)
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
	b.judge.Counted(&b.limits, []carbonara.Timestamp{t})
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

// drained makes the backlog of a store, which begins at a second, with an odd measure in its midst, and drains as many
// measures of another store that is adopted then.
func drained(requests, begin, odd int) {
	log := newBacklog(0)
	send := func(from *intake.Origin, at, second int) { log.send(from, at, begin+second) }
	for i := range requests {
		if i == requests/2 {
			send(log.first, 2*i, 2*i+odd)
		}
		send(log.first, 2*i+1, 2*i+1)
	}
	for i := range requests {
		send(log.second, 2*i, 2*i)
	}
}

// backlogs are with and without a measure that is late, or ahead of its request's clock.
var backlogs = []struct {
	name       string
	begin, odd int
}{
	{"in-order", 0, 0},
	{"late", 0, -10},
	{"ahead", 24 * 3600, 3 * 24 * 3600},
}

// A late measure, or one that is ahead, leaves a backlog about as fast to drain as one in order.
func TestOddMeasuresKeepABacklogFast(t *testing.T) {
	took := make([]time.Duration, len(backlogs))
	for i, log := range backlogs {
		took[i] = time.Hour
		for range 3 {
			began := time.Now()
			drained(2_000, log.begin, log.odd)
			took[i] = min(took[i], time.Since(began))
		}
		if took[i] > 10*took[0]+10*time.Millisecond {
			t.Errorf("a backlog that is %s takes %v, one in order %v", log.name, took[i], took[0])
		}
	}
}

// BenchmarkBacklog drains a store that is adopted, where another one has sent as many measures meanwhile.
func BenchmarkBacklog(b *testing.B) {
	const requests = 5_000
	for _, log := range backlogs {
		b.Run("odd="+log.name, func(b *testing.B) {
			for b.Loop() {
				drained(requests, log.begin, log.odd)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*2*requests), "ns/measure")
		})
	}
}
