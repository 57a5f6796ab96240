package view_test

import (
	"errors"
	"log/slog"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd/heads"
	"github.com/gnocco-db/gnocco/metricd/intake"
	"github.com/gnocco-db/gnocco/metricd/view"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// sack is a store, heads that continue it, and the view of both.
type sack struct {
	t         *testing.T
	metric    *model.Metric
	store     *archive.Store
	heads     *heads.Heads
	view      *view.View
	resampler *carbonara.CPUResampler
}

func openSack(t *testing.T, metric *model.Metric, groupBytes int64) *sack {
	t.Helper()
	s := &sack{t: t, metric: metric, resampler: carbonara.NewCPUResampler(1)}
	logger, corrupt := slog.New(slog.DiscardHandler), func(n int) {
		if n > 0 {
			t.Errorf("%d values do not decode", n)
		}
	}
	var err error
	s.store, err = archive.Open("s", archive.Options{FS: vfs.NewMem(), Sack: archive.Sack{Of: 1}, Logger: logger})
	fatal.If(t, err)
	s.heads, err = heads.New(heads.Options{Store: s.store, Intake: intake.New(intake.Options{}), Bytes: 1 << 20,
		Logger: logger, Corrupt: corrupt, Dropped: func(h *heads.Head) { s.view.Forget(h) }})
	fatal.If(t, err)
	s.view, err = view.New(view.Options{Store: s.store, Heads: s.heads, GroupBytes: groupBytes,
		Memory: view.NewMemory(s.resampler), Corrupt: corrupt})
	fatal.If(t, err)
	t.Cleanup(func() { fatal.If(t, s.view.Close()) })
	fatal.If(t, s.heads.Renew([]*model.Metric{metric}, 1))
	return s
}

func (s *sack) add(timestamps []carbonara.Timestamp, values []float64) {
	s.heads.Add([]*heads.Head{s.heads.Get(s.metric.ID)}, &model.Measures{Metrics: []uuid.UUID{s.metric.ID},
		Offsets: []int{0, len(timestamps)}, Timestamps: timestamps, Values: values}, time.Now().UnixNano(), nil, nil)
}

func (s *sack) checkpoint() {
	s.t.Helper()
	var b heads.Batch
	parts, c := s.view.Parts(), s.store.NewCheckpointWithSize(1<<10)
	defer c.Close()
	fatal.If(s.t, s.heads.Write(s.t.Context(), c, &b, heads.Resamplers{Many: s.resampler, Few: s.resampler,
		BatchMeasures: 100}, parts.Note))
	written, _ := b.Written()
	fatal.If(s.t, s.view.Commit(c, func() {
		parts.Checkpointed(written)
		s.heads.Checkpointed(&b)
	}))
}

func (s *sack) read(read model.Read, now time.Time) *carbonara.Groups {
	s.t.Helper()
	groups := new(carbonara.Groups)
	groups.Reset(read.Granularity, read.Columns)
	fatal.If(s.t, s.view.Groups(s.t.Context(), read, now, groups))
	return groups
}

// measures are what counts, by time.
type measures map[carbonara.Timestamp]float64

// rows returns what a read of granularity has to give, in columns last, count and sum; raw measures for 0.
func (m measures) rows(granularity time.Duration, from, to carbonara.Timestamp) (rows [][]float64) {
	var group carbonara.Timestamp = -1
	for _, t := range slices.Sorted(maps.Keys(m)) {
		start := t
		if granularity > 0 {
			start = t.Floor(granularity)
		}
		switch {
		case start < from || start >= to:
			continue
		case granularity == 0 || start != group:
			group = start
			rows = append(rows, []float64{float64(start), 0, 0, 0})
		}
		row := rows[len(rows)-1]
		row[1], row[2], row[3] = m[t], row[2]+1, row[3]+m[t]
	}
	return rows
}

// A view shows what counts of the measures, wherever these are: in the store, in heads, in recent groups, partly here
// and partly there; of equal timestamps the one that came later. It shows nothing beyond the window that is asked for.
func TestViewShowsAllMeasures(t *testing.T) {
	minute, five := time.Minute, 5*time.Minute
	columns := []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum, carbonara.ColumnLast}
	slices.Sort(columns)
	place := map[carbonara.Column]int{carbonara.ColumnLast: 1, carbonara.ColumnCount: 2, carbonara.ColumnSum: 3}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		backWindow := []int{0, 3, 1000}[seed%3]
		policy, err := model.NewArchivePolicy("p", backWindow, []model.DefinitionInput{{Granularity: &minute},
			{Granularity: &five}}, []string{"mean", "last", "count"})
		fatal.If(t, err)
		s := openSack(t, &model.Metric{ID: uuid.UUID{15: 7}, ArchivePolicy: policy}, []int64{0, 1 << 20}[seed/3%2])
		begin := carbonara.Timestamp(time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC).UnixNano())
		counted, newest, now := measures{}, begin, time.Now()
		for range 300 {
			now = now.Add(time.Second)
			switch rng.IntN(6) {
			case 0:
				s.checkpoint()
			case 1, 2:
				var timestamps []carbonara.Timestamp
				var values []float64
				for range 1 + rng.IntN(20) {
					at := newest.Add(time.Duration(rng.IntN(100)-50) * time.Second)
					if at < model.OldestAccepted(policy.Plan(), backWindow, newest) || at < begin {
						continue
					}
					timestamps, values = append(timestamps, at), append(values, float64(rng.IntN(100)))
					counted[at], newest = values[len(values)-1], max(newest, at)
				}
				s.add(timestamps, values)
			default:
				granularity := []time.Duration{0, minute, five}[rng.IntN(3)]
				from := newest.Add(-time.Duration(rng.IntN(3600)) * time.Second)
				read := model.Read{Metric: s.metric, Granularity: granularity, Columns: columns, From: from,
					To: from.Add(time.Duration(rng.IntN(4000)) * time.Second)}
				if granularity == 0 && len(counted) > 0 {
					from = max(from, model.KeepFrom(policy.Plan(), backWindow, newest))
				}
				got, want := s.read(read, now), counted.rows(granularity, from, read.To)
				if got.Len() != len(want) {
					t.Fatalf("seed %d: %d rows of %v, want %d", seed, got.Len(), granularity, len(want))
				}
				for i, row := range want {
					for c, column := range columns {
						value := row[place[column]]
						if granularity == 0 {
							value = row[1]
						}
						if got.Starts[i] != carbonara.Timestamp(row[0]) || got.Values[c][i] != value {
							t.Fatalf("seed %d, %v: row %d is %v of %v, want %v", seed, granularity, i, got.Values[c][i],
								got.Starts[i], row)
						}
					}
				}
			}
			if last, err := s.view.LastMeasure(s.metric.ID); err != nil || len(counted) > 0 && last != newest {
				t.Fatalf("seed %d: the newest measure is of %v, not %v: %v", seed, last, newest, err)
			}
		}
		if seed/3%2 == 1 && s.view.RecentBytes() == 0 {
			t.Errorf("seed %d: a metric that is read again and again has no recent groups", seed)
		}
	}
}

// A read that begins while the view is closed, or later, says so.
func TestClosedView(t *testing.T) {
	policy, err := model.NewArchivePolicy("p", 0, []model.DefinitionInput{{Granularity: new(time.Minute)}}, []string{"mean"})
	fatal.If(t, err)
	s := openSack(t, &model.Metric{ID: uuid.UUID{1}, ArchivePolicy: policy}, 0)
	fatal.If(t, errors.Join(s.view.Close(), s.view.Close()))
	read := model.Read{Metric: s.metric, Granularity: time.Minute, To: 1}
	err = s.view.Groups(t.Context(), read, time.Now(), new(carbonara.Groups))
	if !errors.Is(err, view.ErrClosed) {
		t.Error(err)
	}
	if _, err := s.view.Size(s.metric.ID); !errors.Is(err, view.ErrClosed) || !s.view.IsClosed() {
		t.Error(err)
	}
}
