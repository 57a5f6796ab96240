package archive_test

import (
	"bytes"
	"log/slog"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/archive"
	"github.com/gnocco-db/gnocco/storage/engine"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

var columns = []carbonara.Column{carbonara.ColumnCount, carbonara.ColumnSum}

func open(t *testing.T, fs vfs.FS) *archive.Store {
	t.Helper()
	s, err := archive.Open("sack", archive.Options{FS: fs})
	fatal.If(t, err)
	return s
}

func minutes(from, n int, value float64) *carbonara.Groups {
	g := &carbonara.Groups{}
	g.Reset(time.Minute, columns)
	for i := range n {
		g.Starts = append(g.Starts, carbonara.Timestamp(from+i)*carbonara.Timestamp(time.Minute))
		g.Values[0] = append(g.Values[0], 1)
		g.Values[1] = append(g.Values[1], value+float64(i))
	}
	return g
}

func commit(t *testing.T, s *archive.Store, steps ...func(*archive.Checkpoint)) {
	t.Helper()
	c := s.NewCheckpoint()
	for _, step := range steps {
		step(c)
	}
	fatal.If(t, c.Commit())
}

func read(t *testing.T, s *archive.Store, id uuid.UUID, from, to carbonara.Timestamp) *carbonara.Groups {
	t.Helper()
	var g carbonara.Groups
	g.Reset(time.Minute, columns)
	corrupt, err := s.Groups(id, time.Minute, from, to, &g)
	if err != nil || corrupt != 0 {
		t.Fatal(corrupt, err)
	}
	return &g
}

func TestGroupsOfManySplitsAndCheckpoints(t *testing.T) {
	fs := vfs.NewMem()
	s := open(t, fs)
	id, other := uuid.New(), uuid.New()
	want := make(map[carbonara.Timestamp]float64)
	for k := range 40 {
		g := minutes(k*450, 500, float64(k*1000))
		for i, start := range g.Starts {
			want[start] = g.Values[1][i]
		}
		commit(t, s,
			func(c *archive.Checkpoint) { c.PutGroups(id, g) },
			func(c *archive.Checkpoint) { c.PutGroups(other, minutes(k, 3, 5)) },
			func(c *archive.Checkpoint) { c.SetMark("api", uint64(k)) })
		if k == 20 {
			fatal.If(t, s.Compact())
		}
	}
	check := func() {
		t.Helper()
		g := read(t, s, id, 0, carbonara.MaxTimestamp)
		if g.Len() != len(want) || !slices.IsSorted(g.Starts) {
			t.Fatalf("%d groups, want %d", g.Len(), len(want))
		}
		for i, start := range g.Starts {
			if g.Values[1][i] != want[start] {
				t.Fatalf("group %v is %v, want %v", start, g.Values[1][i], want[start])
			}
		}
		from, to := g.Starts[3500], g.Starts[3700]
		if part := read(t, s, id, from, to); part.Len() != 200 || part.Starts[0] != from {
			t.Fatalf("%d groups of 200", part.Len())
		}
		if newest, ok, err := s.Newest(id, time.Minute); err != nil || !ok || newest != g.Starts[g.Len()-1] {
			t.Fatal(newest, ok, err)
		}
	}
	check()
	fatal.If(t, s.Compact())
	check()
	fatal.If(t, s.Close())
	s = open(t, fs)
	check()
	if mark, err := s.Mark("api"); err != nil || mark != 39 {
		t.Fatal(mark, err)
	}
	if mark, err := s.Mark("another"); err != nil || mark != 0 {
		t.Fatal(mark, err)
	}
	commit(t, s, func(c *archive.Checkpoint) {
		c.Expire(id, time.Minute, 0, carbonara.Timestamp(2*3600)*carbonara.Timestamp(time.Minute))
	})
	if oldest, ok, err := s.Oldest(id, time.Minute); err != nil || !ok ||
		oldest != carbonara.Timestamp(2*3600)*carbonara.Timestamp(time.Minute) {
		t.Fatal(oldest, ok, err)
	}
	commit(t, s, func(c *archive.Checkpoint) { c.Delete(id) })
	if g := read(t, s, id, 0, carbonara.MaxTimestamp); g.Len() != 0 {
		t.Fatalf("%d groups of a deleted metric", g.Len())
	}
	if g := read(t, s, other, 0, carbonara.MaxTimestamp); g.Len() != 42 {
		t.Fatalf("%d groups of the other metric", g.Len())
	}
	fatal.If(t, s.Close())
}

// KeptGroups has to answer as if the newest group were looked up first, wherever the timespan ends.
func TestKeptGroups(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer s.Close()
	id := uuid.New()
	if _, err := s.KeptGroups(t.Context(), &model.Read{Metric: &model.Metric{ID: id}, Granularity: time.Minute,
		To: carbonara.MaxTimestamp}, time.Hour, new(carbonara.Groups)); err != nil {
		t.Fatal(err)
	}
	for k := range 9 {
		commit(t, s, func(c *archive.Checkpoint) { c.PutGroups(id, minutes(k*1000+50, 990, float64(k))) })
	}
	all := read(t, s, id, 0, carbonara.MaxTimestamp)
	newest := all.Starts[all.Len()-1]
	minute := carbonara.Timestamp(time.Minute)
	for _, points := range []int{1, 100, 1800, 1841, 3600, 5439, 5440, 5441, 9000, 100_000} {
		for _, span := range [][2]carbonara.Timestamp{{0, carbonara.MaxTimestamp},
			{newest - 60*minute, carbonara.MaxTimestamp}, {newest, newest + 1}, {newest + 1, carbonara.MaxTimestamp},
			{100 * minute, 4000 * minute},
			{3600 * minute, 3601 * minute}} {
			timespan := time.Duration(points) * time.Minute
			want := read(t, s, id, max(span[0], archive.OldestKept(newest, timespan)), span[1])
			var got carbonara.Groups
			got.Reset(time.Minute, columns)
			asked := model.Read{Metric: &model.Metric{ID: id}, Granularity: time.Minute, From: span[0], To: span[1]}
			if corrupt, err := s.KeptGroups(t.Context(), &asked, timespan, &got); err != nil || corrupt != 0 {
				t.Fatal(corrupt, err)
			}
			if !slices.Equal(got.Starts, want.Starts) || !slices.Equal(got.Values[1], want.Values[1]) {
				t.Errorf("%d points, %v: %d groups, want %d", points, span, got.Len(), want.Len())
			}
		}
	}
}

// Each of a metric's two counts adds up for itself, also through compactions. A count of zero has no key.
func TestCountsAddUp(t *testing.T) {
	s := open(t, vfs.NewMem())
	defer s.Close()
	// How many measures are dropped, and late, each time.
	counts := map[uuid.UUID][2]uint64{uuid.New(): {3, 0}, uuid.New(): {0, 2}, uuid.New(): {3, 2}, uuid.New(): {0, 0}}
	for i := range 100 {
		for id, n := range counts {
			commit(t, s, func(c *archive.Checkpoint) {
				c.AddDropped(id, n[0])
				c.AddLate(id, n[1])
			})
		}
		if i == 50 {
			fatal.If(t, s.Compact())
		}
	}
	for id, n := range counts {
		if size, err := s.Size(id); err != nil || size.Dropped != 100*n[0] || size.Late != 100*n[1] {
			t.Errorf("%d dropped, %d late, want 100 times %v: %v", size.Dropped, size.Late, n, err)
		}
	}
	holes, err := engine.Walk(s.DB(), nil, func(key, value []byte) error {
		id, _, _, ok := archive.ParseKey(key)
		if n := counts[id]; ok && n[0]+n[1] == 0 {
			t.Errorf("%s, of nothing", archive.KeyOf(key))
		}
		if _, damaged := archive.Verify(key, value); len(damaged) > 0 {
			t.Errorf("%s does not verify", archive.KeyOf(key))
		}
		return nil
	})
	if err != nil || len(holes) > 0 {
		t.Error(holes, err)
	}
}

// TestCorruptOperandsAreLeftOutAndKept puts bytes that do not decode among the operands of a split and a raw series.
// They are told once, by metric, granularity and split.
func TestCorruptOperandsAreLeftOutAndKept(t *testing.T) {
	var log bytes.Buffer
	s, err := archive.Open("sack", archive.Options{FS: vfs.NewMem(), Logger: slog.New(slog.NewTextHandler(&log, nil))})
	fatal.If(t, err)
	defer s.Close()
	id := uuid.New()
	timestamps, values := []carbonara.Timestamp{1e9, 2e9}, []float64{1, 2}
	commit(t, s,
		func(c *archive.Checkpoint) { c.PutGroups(id, minutes(0, 100, 1)) },
		func(c *archive.Checkpoint) { c.AppendRaw(id, 0, timestamps, values) })
	garbage := []byte("\x01 these bytes are no split")
	lower, upper := archive.MetricBounds(id)
	var keys [][]byte
	iter, err := s.DB().NewIter(&pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	fatal.If(t, err)
	for valid := iter.First(); valid; valid = iter.Next() {
		keys = append(keys, slices.Clone(iter.Key()))
	}
	if err := iter.Close(); err != nil || len(keys) != 2 {
		t.Fatal(len(keys), err)
	}
	for _, key := range keys {
		fatal.If(t, s.DB().Merge(key, garbage, pebble.Sync))
	}
	commit(t, s,
		func(c *archive.Checkpoint) { c.PutGroups(id, minutes(100, 10, 5)) },
		func(c *archive.Checkpoint) { c.AppendRaw(id, 0, []carbonara.Timestamp{3e9}, []float64{3}) })
	check := func() {
		t.Helper()
		var g carbonara.Groups
		g.Reset(time.Minute, columns)
		if corrupt, err := s.Groups(id, time.Minute, 0, carbonara.MaxTimestamp, &g); err != nil ||
			corrupt != 1 || g.Len() != 110 {
			t.Fatalf("%d groups, %d corrupt, %v", g.Len(), corrupt, err)
		}
		if timestamps, values, corrupt, err := s.Raw(id, nil, nil); err != nil || corrupt != 1 ||
			len(timestamps) != 3 || values[2] != 3 {
			t.Fatalf("measures %v at %v, %d corrupt, %v", values, timestamps, corrupt, err)
		}
		if end, err := s.RawEnd(id); err != nil || end.Corrupt != 1 || !end.Any || end.Newest != 3e9 {
			t.Fatal(end, err)
		}
	}
	check()
	fatal.If(t, s.Compact())
	check()
	for _, want := range []string{
		`msg="split does not decode" metric=` + id.String() +
			` granularity=1m0s start=1970-01-01T00:00:00.000Z operands=1`,
		`msg="raw series does not decode" metric=` + id.String() + ` operands=1`,
	} {
		if strings.Count(log.String(), want) != 1 {
			t.Errorf("not once: %s\n%s", want, log.String())
		}
	}
	for _, key := range keys {
		value, closer, err := s.DB().Get(key)
		fatal.If(t, err)
		if !slices.ContainsFunc(archive.Operands(value), func(o []byte) bool { return string(o) == string(garbage) }) {
			t.Errorf("the bytes of %x that do not decode are gone", key)
		}
		closer.Close()
	}
}

// Raw measures that are trimmed leave the disk, though nothing makes Pebble compact a store of this size.
func TestTrimmedMeasuresGo(t *testing.T) {
	stores := engine.NewPebbleCollector()
	s, err := archive.Open("sack", archive.Options{FS: vfs.NewMem(), Collector: stores})
	fatal.If(t, err)
	ticks := make(chan time.Time)
	go stores.Upkeep(t.Context(), ticks)
	now := time.Unix(0, 0)
	rest := func() {
		for range 3 {
			now = now.Add(40 * time.Minute)
			ticks <- now
		}
		ticks <- now // has looked at the store
	}
	id := uuid.New()
	raw := func(from, n int, keepFrom carbonara.Timestamp) {
		var timestamps []carbonara.Timestamp
		var values []float64
		for i := from; i < from+n; i++ {
			timestamps = append(timestamps, carbonara.Timestamp(i)*carbonara.Timestamp(time.Second))
			values = append(values, math.Sqrt(float64(i)))
		}
		commit(t, s, func(c *archive.Checkpoint) { c.AppendRaw(id, keepFrom, timestamps, values) })
	}
	size := func() int64 { return s.DB().Metrics().Total().TablesSize }
	raw(1, 18_000, 0)
	rest()
	all := size()
	raw(18_001, 2, carbonara.Timestamp(17_998*time.Second))
	rest()
	timestamps, _, _, err := s.Raw(id, nil, nil)
	if err != nil || len(timestamps) > 6 {
		t.Fatal(len(timestamps), err)
	}
	if trimmed := size(); all < 50_000 || trimmed > 2000 {
		t.Errorf("%d bytes for 18,000 measures, %d for the last five", all, trimmed)
	}
	fatal.If(t, s.Close())
}
