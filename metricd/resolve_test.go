package metricd_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/metricd"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/incoming"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
	"github.com/gnocco-db/gnocco/tests/testnode"
)

// movingIndex is one that has changed each time that it is asked, as one may have that another process holds.
type movingIndex struct {
	testnode.WorkersIndex
	generation atomic.Uint64
}

func (x *movingIndex) Generation() uint64 { return x.generation.Load() }

func (x *movingIndex) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	x.generation.Add(1)
	return x.Store.Find(ctx, ids, found)
}

// listSource gives what it is told, all at once.
type listSource struct {
	mu      sync.Mutex
	records []incoming.Record
	ready   chan struct{}
}

func (s *listSource) ID() string                    { return "list" }
func (s *listSource) Ready(int) <-chan struct{}     { return s.ready }
func (s *listSource) Acknowledge(int, uint64) error { return nil }
func (s *listSource) Frontier(int, uint64) (incoming.Stamp, bool) {
	return incoming.Stamp{}, false
}
func (s *listSource) Drain(_ int, after uint64, _ int) ([]incoming.Record, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.records[min(int(after), len(s.records)):], nil
}

// put adds requests of one measure for each of some metrics, which are drained together.
func (s *listSource) put(second int, requests ...[]uuid.UUID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, metrics := range requests {
		m := &model.Measures{Metrics: metrics, Offsets: []int{0}}
		var pick []int
		for i := range metrics {
			m.Timestamps = append(m.Timestamps, start+carbonara.Timestamp(second)*1e9)
			m.Values = append(m.Values, 1)
			m.Offsets = append(m.Offsets, i+1)
			pick = append(pick, i)
		}
		s.records = append(s.records, incoming.Record{Sequence: uint64(len(s.records) + 1),
			Block: incoming.AppendBlock(nil, m, pick, time.Now())})
	}
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// movingSource is a source whose store moves to another process while it is asked.
type movingSource struct {
	listSource
	moved func()
}

func (s *movingSource) Follow(int, uint64) {}
func (s *movingSource) Unfollow(int)       {}
func (s *movingSource) Fetch(context.Context, int) (more bool, err error) {
	s.moved()
	return false, nil
}

// A refresh does not pretend to have what a store had accepted that moved to another process meanwhile.
func TestRefreshMissesAStoreThatMoves(t *testing.T) {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	defer store.Close()
	source := &movingSource{listSource: listSource{ready: make(chan struct{}, 1)}, moved: func() {}}
	p, err := testnode.Workers(metricd.Options{Sacks: 1, FS: vfs.NewMem(),
		Index:              testnode.WorkersIndex{Store: store},
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour}, "sacks", source)
	fatal.If(t, err)
	defer p.Close(context.Background())
	fatal.If(t, p.Refresh(t.Context(), []uuid.UUID{{}}))
	source.moved = func() { p.Detach(source.ID()) }
	if err := p.Refresh(t.Context(), []uuid.UUID{{}}); !errors.Is(err, model.ErrUnavailable) {
		t.Errorf("refreshed: %v", err)
	}
}

// A look into the index may tell that it has changed: then metrics whose heads were up to date before it must be looked
// up too, and are not taken for deleted.
func TestNoMeasureIsLostWhenTheIndexMoves(t *testing.T) {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	defer store.Close()
	policy, err := store.ArchivePolicy("low")
	fatal.If(t, err)
	var metrics []uuid.UUID
	for range 4 {
		m := &model.Metric{ID: uuid.New(), ArchivePolicy: policy, Creator: "admin"}
		fatal.If(t, store.CreateMetric(t.Context(), m))
		metrics = append(metrics, m.ID)
	}
	source := &listSource{ready: make(chan struct{}, 1)}
	p, err := testnode.Workers(metricd.Options{Sacks: 1, FS: vfs.NewMem(),
		Index:              &movingIndex{WorkersIndex: testnode.WorkersIndex{Store: store}},
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour}, "sacks", source)
	fatal.If(t, err)
	defer p.Close(context.Background())
	want := make(map[uuid.UUID]float64)
	for second := range 3 {
		// The first request of each round brings a metric without a head, the second those that have one.
		source.put(second, metrics[second+1:second+2], metrics[:second+1], metrics[:second+2])
		fatal.If(t, p.Refresh(t.Context(), metrics))
		for _, id := range metrics[:second+2] {
			want[id]++
		}
	}
	for _, id := range metrics {
		metric, err := store.Metric(id)
		fatal.If(t, err)
		var groups carbonara.Groups
		fatal.If(t, p.Groups(t.Context(), model.Read{Metric: metric, Granularity: policy.Granularities()[0],
			Columns: []carbonara.Column{carbonara.ColumnCount}, To: carbonara.MaxTimestamp}, &groups))
		got := 0.0
		for _, n := range groups.Column(carbonara.ColumnCount) {
			got += n
		}
		if got != want[id] {
			t.Errorf("%s has %v measures, want %v", id, got, want[id])
		}
	}
}

// countingIndex counts the metrics that are looked up.
type countingIndex struct {
	testnode.WorkersIndex
	asked atomic.Int64
}

func (x *countingIndex) Find(ctx context.Context, ids []uuid.UUID, found []*model.Metric) error {
	x.asked.Add(int64(len(ids)))
	return x.Store.Find(ctx, ids, found)
}

// Metrics that are gone are looked up once for all requests that are drained together.
func TestMetricsThatAreGoneAreLookedUpOnce(t *testing.T) {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	defer store.Close()
	counting := &countingIndex{WorkersIndex: testnode.WorkersIndex{Store: store}}
	source := &listSource{ready: make(chan struct{}, 1)}
	gone := []uuid.UUID{uuid.New(), uuid.New()}
	source.put(0, slices.Repeat([][]uuid.UUID{gone}, 50)...)
	p, err := testnode.Workers(metricd.Options{Sacks: 1, FS: vfs.NewMem(), Index: counting,
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour}, "sacks", source)
	fatal.If(t, err)
	fatal.If(t, p.Refresh(t.Context(), gone))
	fatal.If(t, p.Close(t.Context()))
	if n := counting.asked.Load(); n != 2 {
		t.Errorf("%d metrics were looked up, want 2", n)
	}
}

// slowIndex takes a while for each request.
type slowIndex struct {
	testnode.WorkersIndex
	asked atomic.Int64
	begun chan struct{} // closed when it is asked for the first time
}

func (x *slowIndex) Generation() uint64 {
	if x.asked.Add(1) == 1 {
		close(x.begun)
	}
	time.Sleep(time.Millisecond)
	return 0
}

// A stop whose time is over ends between two requests, however many the worker has drained at once.
func TestStopEndsBetweenRequests(t *testing.T) {
	store, err := index.Open("index", index.Options{FS: vfs.NewMem()})
	fatal.If(t, err)
	defer store.Close()
	slow := &slowIndex{WorkersIndex: testnode.WorkersIndex{Store: store}, begun: make(chan struct{})}
	source := &listSource{ready: make(chan struct{}, 1)}
	const requests = 5000
	source.put(0, slices.Repeat([][]uuid.UUID{{uuid.New()}}, requests)...)
	p, err := testnode.Workers(metricd.Options{Sacks: 1, FS: vfs.NewMem(), Index: slow,
		CheckpointInterval: time.Hour, ExpungeInterval: time.Hour}, "sacks", source)
	fatal.If(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	<-slow.begun
	cancel()
	if err := p.Close(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	if n := slow.asked.Load(); n > requests/2 {
		t.Errorf("%d of %d requests were taken before the worker stopped", n, requests)
	}
}
