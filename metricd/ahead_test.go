package metricd_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// A head with measures ahead in many blocks goes at a checkpoint, and comes back with them.
func TestHeadsWithMuchAhead(t *testing.T) {
	const blocks = 65
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1,
		Clock: func() int64 { return int64(start) }})
	defer n.Stop(t.Context())
	heads := func(metric uuid.UUID, ahead int) float64 {
		t.Helper()
		measures := map[int]float64{0: 1}
		for i := range ahead {
			measures[600*(i+2)] = 1
		}
		post(t, n, metric, measures)
		checkpoint(t, n)
		return n.Value("gnocco_metricd_heads")
	}
	few := newMetric(t, n, 0, 1)
	if got := heads(few, blocks-1); got != 1 {
		t.Errorf("%v heads after few measures ahead, want 1", got)
	}
	metric, err := n.Index.Metric(few)
	fatal.If(t, err)
	many := createMetric(t, n, metric.ArchivePolicy)
	if got := heads(many, blocks); got != 1 {
		t.Errorf("%v heads after many measures ahead, want 1", got)
	}
	post(t, n, many, map[int]float64{1: 2}) // in order
	requireValues(t, values(t, n, many, time.Minute, carbonara.Sum), wantAhead(blocks, 3))
}

func wantAhead(blocks int, first float64) map[int]float64 {
	want := map[int]float64{0: first}
	for i := range blocks {
		want[600*(i+2)] = 1
	}
	return want
}

// The last measure is that of the present, or, where all are ahead, the newest.
func TestLastMeasuresAhead(t *testing.T) {
	n := testnode.Start(t, testnode.Options{FS: vfs.NewMem(), Sacks: 1, Workers: 1,
		Clock: func() int64 { return int64(start) }})
	defer n.Stop(t.Context())
	id := newMetric(t, n, 0, 1)
	want := func(second int) {
		t.Helper()
		for range 2 {
			fatal.If(t, n.Metricd.Refresh(t.Context(), []uuid.UUID{id}))
			last, err := n.Metricd.LastMeasures(t.Context(), []uuid.UUID{id})
			fatal.If(t, err)
			if got := int((last[0] - start) / 1e9); got != second {
				t.Errorf("the last measure is at %d, want %d", got, second)
			}
			n.Restart(true)
		}
	}
	post(t, n, id, map[int]float64{400_000_000: 1})
	want(400_000_000)
	post(t, n, id, map[int]float64{10: 1})
	want(10)
}

// A measure that was ahead at a checkpoint, but no longer is, does not prevent the removal of older splits.
func TestExpiryAfterMeasuresAhead(t *testing.T) {
	const hour = 3600
	var now atomic.Int64 // seconds after start
	fs := vfs.NewMem()
	n := testnode.Start(t, testnode.Options{FS: fs, Sacks: 1, Workers: 1,
		Clock: func() int64 { return int64(start) + now.Load()*1e9 }})
	id := newMetric(t, n, 0, 1)
	post(t, n, id, map[int]float64{0: 1, 200 * hour: 2})
	checkpoint(t, n)
	now.Store(400 * hour)
	post(t, n, id, map[int]float64{400 * hour: 3})
	checkpoint(t, n)
	n.Stop(context.Background())
	s, err := archive.Open("sacks/000/e1", archive.Options{FS: fs, ReadOnly: true})
	fatal.If(t, err)
	defer s.Close()
	oldest, ok, err := s.Oldest(id, time.Minute)
	fatal.If(t, err)
	if want := (start + 399*hour*1e9).Floor(3600 * time.Minute); !ok || oldest < want {
		t.Errorf("the oldest split starts at %v, %v; want %v", oldest.Time(), ok, want.Time())
	}
}
