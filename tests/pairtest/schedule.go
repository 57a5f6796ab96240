package pairtest

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
)

// Intervals are the scrape intervals of schedules, by turns.
var Intervals = []time.Duration{time.Second, 15 * time.Second, time.Minute, 2 * time.Minute, 5 * time.Minute}

// MaxApart is how far the clocks of two replicas are apart at most.
const MaxApart = 5 * time.Second

// A Sample is a scrape as a replica pushes it.
type Sample struct {
	Replica replica.Number
	Stamp   carbonara.Timestamp // by its clock, in whole milliseconds
	Taken   time.Duration       // since the schedule began, by the target's clock
	Value   float64
	Arrives time.Duration
}

// Marked returns the timestamp that is stored.
func (s *Sample) Marked() carbonara.Timestamp { return replica.Mark(s.Stamp, s.Replica) }

// A Schedule is what some replicas push.
type Schedule struct {
	Interval, Jitter, Length time.Duration
	Replicas                 int
	Steps                    bool     // a clock steps
	Samples                  []Sample // as they arrive
	Changes                  int      // deaths, returns and steps of clocks

	changed []carbonara.Timestamp
}

// Value is that of the counter, which grows by 10 a second.
func Value(taken time.Duration) float64 { return float64(taken/time.Millisecond) / 100 }

// New returns the schedule of a seed, which begins at a time.
func New(seed uint64, begin carbonara.Timestamp, most time.Duration) *Schedule {
	r := rand.New(rand.NewPCG(seed, 57))
	s := &Schedule{Interval: Intervals[seed%uint64(len(Intervals))], Replicas: 2 + r.IntN(4)/3}
	s.Length = min(most, 300*s.Interval)
	s.Jitter = min(time.Duration(r.IntN(2))*time.Second, s.Interval/10)
	late := r.IntN(s.Replicas + 2) // this one is minutes late, if it is one
	for i := range s.Replicas {
		s.add(r, replica.NumberOf(string(rune('a'+i))), begin, i == late)
	}
	slices.SortStableFunc(s.Samples, func(a, b Sample) int { return int(a.Arrives - b.Arrives) })
	return s
}

func (s *Schedule) change(at carbonara.Timestamp) {
	s.Changes++
	s.changed = append(s.changed, at)
}

// ChangesIn returns how many of the changes come between two times.
func (s *Schedule) ChangesIn(from, to carbonara.Timestamp) (n int) {
	for _, at := range s.changed {
		if at >= from && at <= to {
			n++
		}
	}
	return n
}

func upTo(r *rand.Rand, d time.Duration) time.Duration {
	return time.Duration(r.Float64() * float64(d))
}

// add adds the samples of a replica. They arrive in order, as Prometheus sends them.
func (s *Schedule) add(r *rand.Rand, n replica.Number, begin carbonara.Timestamp, late bool) {
	phase, skew, up := upTo(r, s.Interval), upTo(r, MaxApart)-MaxApart/2, true
	last, arrived := carbonara.Timestamp(0), time.Duration(0)
	stuck := time.Duration(0) // until when nothing is pushed
	change := func() time.Duration {
		mean := 60 * s.Interval
		if !up {
			mean = []time.Duration{2, 20}[r.IntN(2)] * s.Interval
		}
		return time.Duration(r.ExpFloat64() * float64(mean))
	}
	next := change()
	for at := phase; at < s.Length; at += s.Interval {
		if at >= next {
			up, next = !up, at+change()
			at += time.Duration(r.IntN(2)) * upTo(r, s.Interval) // it comes back at another phase
			s.change(begin.Add(at))
		}
		switch r.IntN(150) {
		case 0:
			skew = upTo(r, MaxApart) - MaxApart/2
			s.Steps = true
			s.change(begin.Add(at))
		case 1, 2:
			stuck = at + upTo(r, 10*time.Minute)
		}
		if !up {
			continue
		}
		taken := at + upTo(r, s.Jitter)
		stamp := begin.Add((taken + skew).Truncate(time.Millisecond))
		stamp -= stamp % 1e6
		if stamp <= last { // Prometheus drops it
			continue
		}
		last = stamp
		arrives := max(taken, stuck) + upTo(r, s.Interval)
		if late {
			arrives += 4 * time.Minute
		}
		arrived = max(arrived, arrives)
		s.Samples = append(s.Samples, Sample{Replica: n, Stamp: stamp, Taken: taken, Value: Value(taken),
			Arrives: arrived})
	}
}
