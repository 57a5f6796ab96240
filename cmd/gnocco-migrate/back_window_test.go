package main

import (
	"context"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// A late measure after the move changes a group that begins before the back window only if all its measures are known.
func TestLateMeasureAfterTheMove(t *testing.T) {
	const minute = carbonara.Timestamp(time.Minute)
	// 08:00 begins neither a group of 7 minutes nor one of the back window, which begins at 07:00.
	hour := carbonara.Timestamp(1_700_031_600e9) // 07:00
	policy := sevenMinutes(t)
	straddling := hour.Floor(7 * time.Minute)
	if straddling == hour {
		t.Fatal("the back window begins with a group")
	}
	all := series{}
	for at := straddling; at < hour+90*minute; at += minute {
		all.add(at, 1)
	}
	cut := series{}
	for i, at := range all.timestamps {
		if at >= hour {
			cut.add(at, all.values[i])
		}
	}
	f := func(name string, raw series, late carbonara.Timestamp, want float64) {
		t.Helper()
		s := newMemorySource(t, 1)
		s.d.policies = append(s.d.policies, policy)
		m := s.d.metrics[0]
		m.ArchivePolicy = policy
		s.archives[m.ID] = &archived{aggregates: aggregatesOf(t, policy, all), raw: &raw}
		path := filepath.Join(t.TempDir(), "data")
		if _, err := runPass(t, s, path); err != nil {
			t.Fatal(err)
		}
		counts := countsAfter(t, path, m.ID, late)
		if got := counts[late.Floor(7*time.Minute)]; got != want {
			t.Errorf("%s: the group of the late measure has %v measures, want %v", name, got, want)
		}
		if got := counts[straddling+7*minute]; got != 7 {
			t.Errorf("%s: the next group has %v measures, want 7", name, got)
		}
	}
	f("raw measures of the whole group", all, hour+minute/2, 8)
	f("raw measures from the back window on", cut, hour+minute/2, 7) // it is dropped
	f("a group within the back window", cut, hour+20*minute+minute/2, 8)
	ahead := series{append(slices.Clone(all.timestamps), 4_000_000_000e9), append(slices.Clone(all.values), 9)}
	f("a measure far ahead", ahead, hour+minute/2, 8)
}

func sevenMinutes(t *testing.T) *model.ArchivePolicy {
	t.Helper()
	fine, coarse := 7*time.Minute, time.Hour
	p, err := model.NewArchivePolicy("seven", 1, []model.DefinitionInput{{Granularity: &fine}, {Granularity: &coarse}},
		[]string{"count"})
	fatal.If(t, err)
	return p
}

// countsAfter posts a measure to a metric of a migrated folder and returns its counts of 7 minutes.
func countsAfter(t *testing.T, path string, id uuid.UUID, at carbonara.Timestamp) map[carbonara.Timestamp]float64 {
	t.Helper()
	metrics, err := index.Open(filepath.Join(path, "index", "e1"), index.Options{SkipDefaults: true})
	fatal.If(t, err)
	defer metrics.Close()
	waiting, err := incoming.Open(filepath.Join(t.TempDir(), "incoming"), incoming.Options{Sacks: 4})
	fatal.If(t, err)
	defer waiting.Close()
	sacks, err := testnode.Workers(metricd.Options{Sacks: 4, Workers: 1,
		Index: testnode.WorkersIndex{Store: metrics}}, filepath.Join(path, "sacks"), waiting)
	fatal.If(t, err)
	defer func() {
		if err := sacks.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	m := &model.Measures{Metrics: []uuid.UUID{id}, Offsets: []int{0, 1}, Timestamps: []carbonara.Timestamp{at},
		Values: []float64{1}}
	block := incoming.Block{Sack: model.Sack(id, 4), Data: incoming.AppendBlock(nil, m, []int{0}, time.Now())}
	fatal.If(t, waiting.Append(t.Context(), []incoming.Block{block}))
	fatal.If(t, sacks.Refresh(t.Context(), m.Metrics))
	metric, err := metrics.Metric(id)
	fatal.If(t, err)
	var groups carbonara.Groups
	read := model.Read{Metric: metric, Granularity: 7 * time.Minute, Columns: metric.ArchivePolicy.Plan().Columns,
		To: carbonara.MaxTimestamp}
	fatal.If(t, sacks.Groups(t.Context(), read, &groups))
	counts := make(map[carbonara.Timestamp]float64)
	for i, start := range groups.Starts {
		counts[start] = groups.Column(carbonara.ColumnCount)[i]
	}
	return counts
}
