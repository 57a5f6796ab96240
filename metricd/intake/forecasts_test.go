package intake_test

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/storage/incoming"
)

// sent is a request of one measure, of one of two stores.
type sent struct {
	store, at, second int
}

// forecastHistory makes requests in the order of their stamps: of the present, late, and of the next hour.
func forecastHistory(rng *rand.Rand) (history []sent) {
	at := 0
	for range 40 {
		at += 1 + rng.IntN(400)
		second := at
		switch rng.IntN(4) {
		case 0:
			second = max(0, at-rng.IntN(900))
		case 1:
			second += rng.IntN(3600)
		}
		history = append(history, sent{rng.IntN(2), at, second})
	}
	return history
}

// A measure that counts in the order in which requests were accepted counts in any order of draining: a forecast makes
// it too old only if the forecast's time had come when it was accepted.
func TestForecastsDrainedLate(t *testing.T) {
	plan := carbonara.NewPlan([]time.Duration{time.Minute, 5 * time.Minute}, []carbonara.Method{carbonara.Mean})
	tooOld, kept := 0, 0
	for seed := range uint64(3000) {
		rng := rand.New(rand.NewPCG(seed, 7))
		history := forecastHistory(rng)
		accepted := make(map[sent]bool)
		inOrder := intake.NewJudge(plan, 0)
		for _, r := range history {
			accepted[r] = judged(&inOrder, r, nil)
		}
		var waiting [2][]sent
		for _, r := range history {
			waiting[r.store] = append(waiting[r.store], r)
		}
		known := &intake.Sources{Complete: true, Waited: []string{"0", "1"}}
		in := intake.New(intake.Options{Sources: func() *intake.Sources { return known }})
		var cursors [2]*intake.Cursor
		var sequence [2]uint64
		for i, id := range known.Waited {
			cursors[i], _ = in.Attach(id, func(string) (uint64, error) { return sequence[i], nil })
			cursors[i].Hear(incoming.Stamp{Clock: clockOf("one"), At: clockStart})
		}
		judge := intake.NewJudge(plan, 0)
		drained := rng.IntN(2)
		for len(waiting[0])+len(waiting[1]) > 0 {
			if rng.IntN(6) == 0 || len(waiting[drained]) == 0 {
				drained = 1 - drained
				continue
			}
			r := waiting[drained][0]
			waiting[drained] = waiting[drained][1:]
			counts := judged(&judge, r, in.Origin(known.Waited[drained], clockOf("one")))
			switch {
			case accepted[r] && !counts:
				t.Fatalf("seed %d: the measure of second %d that was accepted at %d is too old", seed, r.second, r.at)
			case !accepted[r] && counts:
				kept++
			case !counts:
				tooOld++
			}
			sequence[drained]++
			cursors[drained].Advance(&incoming.Record{Sequence: sequence[drained],
				Stamp: incoming.Stamp{Clock: clockOf("one"), At: clockStart + int64(r.at)*1e9}})
			in.Settle()
		}
	}
	if t.Logf("%d measures were too old, and %d counted nevertheless", tooOld, kept); tooOld < 1000 {
		t.Errorf("only %d measures were too old", tooOld)
	}
}

// judged reports whether the measure of a request counts.
func judged(j *intake.Judge, r sent, from *intake.Origin) bool {
	var limits intake.Limits
	t := carbonara.Timestamp(clockStart) + carbonara.Timestamp(r.second)*1e9
	j.SetLimits(&limits, clockStart+int64(r.at)*1e9, from)
	if limits.Verdict(t)&intake.TooOld != 0 {
		return false
	}
	if limits.Verdict(t)&intake.Counts != 0 {
		j.Add(carbonara.Measure{Timestamp: t})
		j.Counted(&limits, []carbonara.Timestamp{t})
	}
	return true
}
