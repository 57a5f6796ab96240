package replica_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/tests/pairtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

var schedules = flag.Int("replica.schedules", 200, "schedules of replicas that are judged")

// The measures that count are those of one scraper that was never down while any replica was up: in the order in which
// they were true, at its interval, without gaps.
func TestSchedules(t *testing.T) {
	for range *schedules {
		seed := seedtest.Next(t)
		s := pairtest.New(seed, start, 24*time.Hour)
		slices.SortFunc(s.Samples, func(a, b pairtest.Sample) int { return int(a.Marked() - b.Marked()) })
		var times []carbonara.Timestamp
		for i := range s.Samples {
			times = append(times, s.Samples[i].Marked())
		}
		var v replica.Verdicts
		v.Judge(times)
		problem := func(format string, args ...any) {
			t.Errorf("seed %d, every %v, jitter %v, %d replicas: "+format, append([]any{seed, s.Interval, s.Jitter, s.Replicas},
				args...)...)
		}
		last, n, alternations := -1, 0, 0
		for i := range s.Samples {
			if !v.Counts[i] {
				continue
			}
			one := &s.Samples[i]
			if n++; last < 0 {
				last = i
				continue
			}
			before := &s.Samples[last]
			apart := time.Duration(one.Stamp - before.Stamp)
			if one.Taken <= before.Taken {
				problem("the counter falls from %v to %v", before.Taken, one.Taken)
			}
			if one.Replica != before.Replica {
				alternations++
				if apart < 6*time.Second && apart < s.Interval/2 {
					problem("%v count twice within %v", one.Taken, apart)
				}
			}
			if longest := max(2*s.Interval, s.Interval+12*time.Second) + 2*s.Jitter; apart > longest {
				for n := range 3 {
					if lives(s, replica.NumberOf(string(rune('a'+n))), before.Stamp, one.Stamp) {
						problem("nothing counts from %v to %v, though replica %d lives", before.Taken, one.Taken, n)
					}
				}
			}
			last = i
		}
		if most := int(s.Length/s.Interval) + 2 + s.Changes; n > most {
			problem("%d measures count, of one scraper %d", n, most)
		}
		if alternations > 4*s.Changes+4 {
			problem("%d changes from one replica to another in %d events", alternations, s.Changes)
		}
	}
}

// lives reports whether a replica has all its scrapes between two times, at the interval.
func lives(s *pairtest.Schedule, n replica.Number, from, to carbonara.Timestamp) bool {
	longest := carbonara.Timestamp(s.Interval + 2*s.Jitter)
	for i := range s.Samples {
		one := &s.Samples[i]
		if one.Replica != n || one.Stamp <= from || one.Stamp >= to {
			continue
		}
		if one.Stamp-from > longest {
			return false
		}
		from = one.Stamp
	}
	return to-from <= longest
}
