package promql_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/internal/replica"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/pairtest"
	"github.com/gnocco-db/gnocco/tests/promtest"
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

// At any age PromQL answers of replicas what it would of one scraper that was never down, within a scrape for each
// change of replica, wherever one of them lived.
func TestReplicasAreOneScraper(t *testing.T) {
	rounds, asked := seedtest.Rounds(15, 60), 0
	begun := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
	for range rounds {
		seed := seedtest.Next(t)
		schedule := pairtest.New(seed, carbonara.FromTime(begun), 30*time.Hour)
		asked += testSchedule(t, seed, begun, schedule)
	}
	if asked < rounds {
		t.Errorf("only %d ranges had a replica that lived all the time", asked)
	}
}

func testSchedule(t *testing.T, seed uint64, begun time.Time, schedule *pairtest.Schedule) (ranges int) {
	s := newStore(t, promtest.Syntax)
	defer s.stop()
	r := rand.New(rand.NewPCG(seed, 57))
	counter := model.CounterArchivePolicy(model.SeriesArchivePolicy())
	fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), counter))
	m := s.replicated(counter, true)
	send := func(samples []pairtest.Sample) {
		of := &model.Measures{Metrics: []uuid.UUID{m.ID}, Offsets: []int{0, len(samples)}}
		for i := range samples {
			of.Timestamps, of.Values = append(of.Timestamps, samples[i].Marked()), append(of.Values, samples[i].Value)
		}
		fatal.If(t, s.Post(of))
		fatal.If(t, s.Metricd.Refresh(t.Context(), []uuid.UUID{m.ID}))
	}
	for queue := schedule.Samples; len(queue) > 0; {
		n := min(len(queue), 1+r.IntN(100))
		send(queue[:n])
		queue = queue[n:]
	}
	length := max(time.Hour, 30*schedule.Interval).Truncate(time.Hour)
	if schedule.Length < length {
		length = 2 * time.Minute
	}
	var ends []time.Time
	for at := begun.Add(length); !at.After(begun.Add(schedule.Length)); at = at.Add(length) {
		if livesIn(schedule, carbonara.FromTime(at.Add(-length)), carbonara.FromTime(at)) {
			ends = append(ends, at)
		}
	}
	for _, age := range []time.Duration{time.Hour, 24 * time.Hour, 40 * 24 * time.Hour} {
		if age > 24*time.Hour && length < time.Hour {
			continue // narrower than the groups that are left
		}
		s.now = begun.Add(schedule.Length + age)
		send([]pairtest.Sample{{Replica: replica.NumberOf("a"), Stamp: carbonara.FromTime(s.now),
			Value: pairtest.Value(schedule.Length + age)}})
		for _, at := range ends {
			s.askOfReplicas(seed, schedule, begun, at, length, age)
		}
	}
	return len(ends)
}

// askOfReplicas compares with a scraper of a counter that grows by 10 a second. Each change of replica costs a scrape,
// or the least distance of replicas where scrapes are nearer.
func (s *store) askOfReplicas(seed uint64, schedule *pairtest.Schedule, begun, at time.Time,
	length, age time.Duration) {
	from, to := carbonara.FromTime(at.Add(-length-schedule.Interval)), carbonara.FromTime(at)
	changes := schedule.ChangesIn(from, to)
	scrape := max(schedule.Interval+schedule.Jitter, 12*time.Second)
	off := (time.Duration(1+changes)*scrape + pairtest.MaxApart).Seconds()
	end := 10 * at.Sub(begun).Seconds()
	for expr, want := range map[string][2]float64{
		"increase(x[%s])":        {10 * length.Seconds(), 10 * off},
		"rate(x[%s])":            {10, 10 * off / length.Seconds()},
		"resets(x[%s])":          {0, 0},
		"count_over_time(x[%s])": {length.Seconds() / schedule.Interval.Seconds(), off / schedule.Interval.Seconds()},
		"max_over_time(x[%s])":   {end, 10 * (schedule.Interval + scrape + pairtest.MaxApart).Seconds()},
		"avg_over_time(x[%s])":   {end - 5*length.Seconds(), 10 * off},
	} {
		expr = fmt.Sprintf(expr, length)
		got, ok := s.value(expr, at)
		if !ok || math.Abs(got-want[0]) > want[1] {
			s.t.Errorf("seed %d, every %v, %d changes, %v old: %s is %v (%t), want %v within %v", seed, schedule.Interval,
				changes, age, expr, got, ok, want[0], want[1])
		}
	}
}

// replicated creates a series that has replicas, or none.
func (s *store) replicated(policy *model.ArchivePolicy, replicas bool) *model.Metric {
	m := &model.Metric{ID: uuid.New(), ArchivePolicy: policy, Creator: "me", Replicas: replicas,
		Labels: model.Labels(model.AppendLabel(nil, model.LabelName, "x"))}
	fatal.If(s.t, s.Index.CreateMetrics(s.t.Context(), []*model.Metric{m}))
	return m
}

// Two replicas take the room of one sender: groups have the times of measures without numbers of replicas, and measures
// that lost go.
func TestReplicasTakeTheRoomOfOne(t *testing.T) {
	ages := []time.Duration{time.Hour, 40 * 24 * time.Hour}
	var alone []int64
	for _, replicas := range []int{0, 2} {
		s := newStore(t, promtest.Syntax)
		defer s.stop()
		counter := model.CounterArchivePolicy(model.SeriesArchivePolicy())
		fatal.If(t, s.Index.CreateArchivePolicy(t.Context(), counter))
		m := s.replicated(counter, replicas > 0)
		begun := time.Unix(1_700_000_000, 0).Truncate(24 * time.Hour)
		send := func(at time.Time, jitter int) {
			for r := range max(1, replicas) {
				stamp := carbonara.FromTime(at.Add(time.Duration(3000+5000*r+jitter*(11+r)%20) * time.Millisecond))
				if replicas > 0 {
					stamp = replica.Mark(stamp, replica.NumberOf(fmt.Sprint(r)))
				}
				fatal.If(t, s.Post(&model.Measures{Metrics: []uuid.UUID{m.ID}, Offsets: []int{0, 1},
					Timestamps: []carbonara.Timestamp{stamp}, Values: []float64{at.Sub(begun).Seconds() * 10}}))
			}
		}
		const scrapes = 4 * 240
		for i := range scrapes {
			if send(begun.Add(time.Duration(i)*15*time.Second), i*37); i%40 == 0 {
				fatal.If(t, s.Metricd.Refresh(t.Context(), []uuid.UUID{m.ID}))
			}
		}
		for i, age := range ages {
			send(begun.Add(scrapes*15*time.Second+age), 0)
			fatal.If(t, s.Metricd.Refresh(t.Context(), []uuid.UUID{m.ID}))
			s.Restart(true)
			sizes, err := s.Metricd.Sizes(t.Context(), []uuid.UUID{m.ID})
			fatal.If(t, err)
			if total := sizes[0].Total(); replicas == 0 {
				alone = append(alone, total)
			} else if float64(total) > 1.1*float64(alone[i]) {
				t.Errorf("%v old: %d bytes, of one sender %d", age, total, alone[i])
			}
		}
	}
}

// livesIn reports whether there are scrapes all the time between two times, by any replica.
func livesIn(s *pairtest.Schedule, from, to carbonara.Timestamp) bool {
	var stamps []carbonara.Timestamp
	for i := range s.Samples {
		stamps = append(stamps, s.Samples[i].Stamp)
	}
	slices.Sort(stamps)
	longest := carbonara.Timestamp(s.Interval + 2*s.Jitter + pairtest.MaxApart)
	for _, at := range append(stamps, to) {
		if at = min(at, to); at <= from {
			continue
		}
		if at-from > longest {
			return false
		}
		from = at
	}
	return true
}
