package view_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var pairDays = flag.Int("pairs.days", 2, "for how many days TestBytesOfPairs pushes at most")

// archived pushes a series every 15 s by some replicas. It returns what its archive takes, and how many checkpoints
// wrote it: these come as by default, each half an hour, or after five minutes if they pay.
func archived(t *testing.T, policy *model.ArchivePolicy, replicas int, age time.Duration) (bytes int64, written int) {
	const interval, look = 15 * time.Second, 5 * time.Minute
	rng := rand.New(rand.NewPCG(2, 3))
	metric := &model.Metric{ID: uuid.UUID{15: 9}, ArchivePolicy: policy, Replicas: replicas > 1}
	s := openSack(t, metric, 0)
	start := carbonara.Timestamp(time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC).UnixNano())
	last := 0.
	value := func() float64 { // a load with a digit, or a counter of some requests a second
		if !policy.HasMethod(carbonara.Increase) {
			return float64(rng.IntN(1000)) / 10
		}
		last += float64(rng.IntN(100 / replicas))
		return last
	}
	looked := 0
	for from := start; from < start.Add(age); from = from.Add(look) {
		var times []carbonara.Timestamp
		var all []float64
		for at := from; at < from.Add(look); at = at.Add(interval) {
			for r := range replicas {
				taken := at.Add(time.Duration(r)*7*time.Second + 123*time.Millisecond)
				mark := taken
				if replicas > 1 {
					mark = replica.Mark(taken, replica.NumberOf(fmt.Sprint("prometheus-", r)))
				}
				times, all = append(times, mark), append(all, value())
			}
		}
		s.add(times, all)
		if looked++; looked == 6 || s.heads.HasEnough() {
			looked, written = 0, written+1
			s.checkpoint()
		}
	}
	s.checkpoint()
	fatal.If(t, s.store.Compact())
	size, err := s.store.Size(metric.ID)
	fatal.If(t, err)
	return size.Total(), written
}

// Two replicas take little more than one sender, at any age, and are written as often.
func TestBytesOfPairs(t *testing.T) {
	t.Parallel()
	gauges := model.SeriesArchivePolicy()
	for _, age := range []time.Duration{time.Hour, 24 * time.Hour, time.Duration(*pairDays) * 24 * time.Hour} {
		var one, pair int64
		for _, policy := range []*model.ArchivePolicy{gauges, model.CounterArchivePolicy(gauges)} {
			a, times := archived(t, policy, 1, age)
			b, timesOfPair := archived(t, policy, 2, age)
			if one, pair = one+a, pair+b; times != timesOfPair {
				t.Errorf("%s, %v: %d checkpoints of one sender, and %d of a pair", policy.Name, age, times, timesOfPair)
			}
			t.Logf("%s, %v: %d bytes of one sender, %d of a pair", policy.Name, age, a, b)
		}
		if float64(pair) > 1.1*float64(one) {
			t.Errorf("%v: %d bytes of a gauge and a counter, and %d of those of pairs", age, one, pair)
		}
	}
}
