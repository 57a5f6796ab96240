package view_test

import (
	"flag"
	"maps"
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
	"github.com/gnocco-db/gnocco/tests/seedtest"
)

var schedules = flag.Int("pairs.schedules", 30, "schedules of replicas that are stored and read")

// reload makes the head anew, of the store. All its measures are in a checkpoint.
func (s *sack) reload() {
	s.heads.Lock()
	s.heads.Drop(s.metric.ID)
	s.heads.Unlock()
	fatal.If(s.t, s.heads.Renew([]*model.Metric{s.metric}, 1))
}

// Measures of replicas, open groups, groups of checkpoints and those after a start say the same at any moment, for any
// order of arrival and any batches: the measures that count by package replica.
func TestReplicasSayTheSameEverywhere(t *testing.T) {
	counters := model.CounterArchivePolicy(model.SeriesArchivePolicy())
	minute, ten := time.Minute, 10*time.Second
	plain, err := model.NewArchivePolicy("p", 100, []model.DefinitionInput{{Granularity: &ten}, {Granularity: &minute}},
		[]string{"mean", "last", "count", "rate:mean"})
	fatal.If(t, err)
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnLast}
	slices.Sort(columns)
	begin := carbonara.Timestamp(time.Date(2026, 11, 29, 0, 0, 0, 0, time.UTC).UnixNano())
	began := time.Now()
	for round := range *schedules {
		if testing.Short() && time.Since(began) > 20*time.Second {
			break
		}
		seed := seedtest.Next(t)
		r := rand.New(rand.NewPCG(seed, 5))
		policy := []*model.ArchivePolicy{counters, plain}[round%2]
		metric := &model.Metric{ID: uuid.UUID{15: 9}, ArchivePolicy: policy, Replicas: true}
		s := openSack(t, metric, []int64{0, 1 << 20}[r.IntN(2)])
		schedule := pairtest.New(seed, begin, 100*time.Minute)
		sent := measures{}
		counting := func() measures {
			times := slices.Sorted(maps.Keys(sent))
			values := make([]float64, len(times))
			for i, t := range times {
				values[i] = sent[t]
			}
			times, values = replica.Counting(times, values)
			left := measures{}
			for i, t := range times {
				left[replica.Plain(t)] = values[i]
			}
			return left
		}
		look := func(what string) {
			t.Helper()
			want, now := counting(), time.Now()
			for _, granularity := range append([]time.Duration{0}, policy.Granularities()...) {
				from := begin.Add(-time.Hour)
				if r.IntN(2) == 0 {
					from = begin.Add(time.Duration(r.IntN(6000)) * time.Second).Floor(max(granularity, 1))
				}
				to := from.Add(time.Duration(r.IntN(12000)) * time.Second)
				got := s.read(model.Read{Metric: metric, Granularity: granularity, Columns: columns, From: from,
					To: to}, now)
				rows := want.rows(granularity, from, to)
				if got.Len() != len(rows) {
					t.Fatalf("seed %d, every %v, %s: %d rows of %v, want %d", seed, schedule.Interval, what, got.Len(),
						granularity, len(rows))
				}
				for i, row := range rows {
					for c, column := range columns {
						value := map[carbonara.Column]float64{carbonara.ColumnLast: row[1],
							carbonara.ColumnCount: row[2], carbonara.ColumnSum: row[3]}[column]
						if granularity == 0 {
							value = row[1]
						}
						if d := got.Values[c][i] - value; float64(got.Starts[i]) != row[0] || d > 1e-6 || d < -1e-6 {
							t.Fatalf("seed %d, every %v, %s: row %d of %v is %v of %v, want %v", seed, schedule.Interval, what,
								i, granularity, got.Values[c][i], got.Starts[i], row)
						}
					}
				}
			}
		}
		for queue := schedule.Samples; len(queue) > 0; {
			n := min(len(queue), 1+r.IntN(30))
			var times []carbonara.Timestamp
			var values []float64
			for _, one := range queue[:n] {
				times, values = append(times, one.Marked()), append(values, one.Value)
				sent[one.Marked()] = one.Value
			}
			queue = queue[n:]
			s.add(times, values)
			if r.IntN(3) == 0 {
				look("pending")
			}
			if r.IntN(3) == 0 {
				s.checkpoint()
				look("after a checkpoint")
				if r.IntN(3) == 0 {
					s.reload()
					look("after a start")
				}
			}
		}
		s.checkpoint()
		s.heads.Lock()
		s.heads.Drop(metric.ID)
		s.heads.Unlock()
		look("without a head")
	}
}
