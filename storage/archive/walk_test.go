package archive_test

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// TestWalk reads metrics in any order, at two granularities and with any timespan, through one iterator: each read
// gives what it gives alone, wherever the one before left the iterator.
func TestWalk(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer s.Close()
	r := rand.New(rand.NewPCG(14, 55))
	const splits, perSplit = 8, 3600
	granularities := []time.Duration{time.Minute, time.Hour}
	ids := make([]uuid.UUID, 12)
	for i := range ids {
		for b := range ids[i] {
			ids[i][b] = byte(r.Uint32())
		}
		for j, granularity := range granularities {
			if i%4 == 3-j {
				continue // some have one granularity, or none
			}
			for k := range splits {
				if (i+k)%5 == 4 {
					continue
				}
				g := carbonara.Groups{}
				g.Reset(granularity, columns)
				for row := range 50 {
					g.Starts = append(g.Starts, carbonara.Timestamp(k*perSplit+70*row)*carbonara.Timestamp(granularity))
					g.Values[0], g.Values[1] = append(g.Values[0], 1), append(g.Values[1], float64(1000*i+row))
				}
				commit(t, s, func(c *archive.Checkpoint) { c.PutGroups(ids[i], &g) },
					func(c *archive.Checkpoint) { c.AppendRaw(ids[i], 0, g.Starts, g.Values[1]) })
			}
		}
	}
	for round := range 40 {
		walk := s.Walk()
		for range 50 {
			granularity := granularities[r.IntN(2)]
			at := func() carbonara.Timestamp {
				return carbonara.Timestamp(r.IntN((splits+1)*perSplit)) * carbonara.Timestamp(granularity)
			}
			asked := model.Read{Metric: &model.Metric{ID: ids[r.IntN(len(ids))]}, Granularity: granularity,
				From: at(), To: at()}
			timespan := time.Duration(r.IntN(4)*r.IntN(splits*perSplit)) * granularity

			var want, got carbonara.Groups
			want.Reset(granularity, columns)
			if asked.From < asked.To {
				from := asked.From
				if newest, ok, err := s.Newest(asked.Metric.ID, granularity); err != nil {
					t.Fatal(err)
				} else if ok && timespan > 0 {
					from = max(from, archive.OldestKept(newest, timespan))
				}
				if _, err := s.Groups(asked.Metric.ID, granularity, from, asked.To, &want); err != nil {
					t.Fatal(err)
				}
			}
			got.Reset(granularity, columns)
			if corrupt, err := walk.KeptGroups(t.Context(), &asked, timespan, &got); err != nil || corrupt != 0 {
				t.Fatal(corrupt, err)
			}
			if !slices.Equal(got.Starts, want.Starts) || !slices.Equal(got.Values[1], want.Values[1]) {
				t.Fatalf("round %d: %v of %s from %d to %d, %v kept: %d groups, want %d", round,
					granularity, asked.Metric.ID, asked.From, asked.To, timespan, got.Len(), want.Len())
			}
		}
		for range 50 {
			compareWithStore(t, s, &walk, ids[r.IntN(len(ids))], granularities[r.IntN(2)])
		}
		fatal.If(t, walk.Close())
	}
}

// compareWithStore holds a walk's raw series and oldest split to the store's.
func compareWithStore(t *testing.T, s *archive.Store, walk *archive.Walk, id uuid.UUID, granularity time.Duration) {
	t.Helper()
	wantEnd, err := s.RawEnd(id)
	fatal.If(t, err)
	wantTimestamps, wantValues, _, err := s.Raw(id, nil, nil)
	fatal.If(t, err)
	for _, wanted := range []bool{false, true} {
		newest := func(end carbonara.RawEnd) (carbonara.Timestamp, bool) { return end.Newest, wanted }
		end, timestamps, values, err := walk.EndAndRaw(id, nil, nil, newest)
		last := 0
		if wanted {
			last = min(1, len(wantValues))
		}
		from := len(wantValues) - last
		if err != nil || end != wantEnd || !slices.Equal(timestamps, wantTimestamps[from:]) ||
			!slices.Equal(values, wantValues[from:]) {
			t.Fatalf("raw series of %s ends %+v by %v, want %+v; %v", id, end, values, wantEnd, err)
		}
	}
	end, timestamps, values, err := walk.EndAndRaw(id, nil, nil,
		func(carbonara.RawEnd) (carbonara.Timestamp, bool) { return 0, true })
	corrupt := end.Corrupt
	if err != nil || corrupt != 0 || !slices.Equal(timestamps, wantTimestamps) || !slices.Equal(values, wantValues) {
		t.Fatalf("raw series of %s: %d measures, want %d; %v", id, len(values), len(wantValues), err)
	}
	want, wantOK, err := s.Oldest(id, granularity)
	fatal.If(t, err)
	if oldest, ok, err := walk.Oldest(id, granularity); err != nil || ok != wantOK || oldest != want {
		t.Fatalf("oldest split of %s at %v: %v, %t, want %v, %t; %v", id, granularity, oldest, ok, want, wantOK, err)
	}
}
