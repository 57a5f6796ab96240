package archive_test

import (
	"errors"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// NextGroup passes groups and whole splits before a time, and finds no group of another granularity or metric.
func TestNextGroup(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer s.Close()
	const minute = carbonara.Timestamp(time.Minute)
	const far = 10*3600 + 5 // in a later split
	put := func(id uuid.UUID, granularity time.Duration, periods ...carbonara.Timestamp) {
		t.Helper()
		var g carbonara.Groups
		g.Reset(granularity, columns)
		for _, period := range periods {
			g.Starts = append(g.Starts, period*carbonara.Timestamp(granularity))
			g.Values[0], g.Values[1] = append(g.Values[0], 1), append(g.Values[1], 2)
		}
		commit(t, s, func(c *archive.Checkpoint) { c.PutGroups(id, &g) })
	}
	id := uuid.UUID{1}
	put(id, time.Minute, 70, 80, far)
	put(id, time.Minute, 75) // by an operand of its own
	put(id, time.Hour, 1, 500_000)
	put(uuid.UUID{2}, time.Minute, 2*far)
	f := func(from, want carbonara.Timestamp, found bool) {
		t.Helper()
		if start, ok, err := s.NextGroup(id, time.Minute, from); err != nil || ok != found || start != want*minute {
			t.Errorf("from %v: %v, %v, %v", from, start/minute, ok, err)
		}
	}
	f(0, 70, true)
	f(70*minute, 70, true)
	f(70*minute+1, 75, true)
	f(76*minute, 80, true)
	f(80*minute+1, far, true)
	f(5*3600*minute, far, true)
	f(far*minute+1, 0, false)
	f(carbonara.MaxTimestamp, 0, false)

	iter, err := s.DB().NewIter(nil)
	fatal.If(t, err)
	lower, _ := archive.MetricBounds(id)
	if !iter.SeekGE(lower) {
		t.Fatal("no split")
	}
	fatal.If(t, errors.Join(s.DB().Merge(iter.Key(), []byte("\x01odd"), pebble.Sync), iter.Close()))
	if _, _, err := s.NextGroup(id, time.Minute, 0); !errors.Is(err, storage.ErrCorrupt) {
		t.Errorf("a split that does not decode: %v", err)
	}
	f(5*3600*minute, far, true)
}
