package index_test

import (
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

func TestMetricLifeCycle(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	r := newResource("web")
	fatal.If(t, s.CreateResource(ctx, r, nil))
	m := newMetric("low")
	m.Name, m.ResourceID = "cpu", &r.ID
	fatal.If(t, s.CreateMetric(ctx, m))

	again := newMetric("low")
	again.Name, again.ResourceID = "cpu", &r.ID
	err := s.CreateMetric(ctx, again)
	wantIs(t, err, model.ErrExists)
	if err.Error() != "Named metric cpu already exists" {
		t.Errorf("text %q", err)
	}
	wantIs(t, s.CreateMetric(ctx, m), model.ErrExists)
	wantIs(t, s.Expunge(ctx, m.ID), model.ErrInUse)

	held, generation := s.Lookup(m.ID), s.Generation()
	fatal.If(t, s.DeleteMetric(ctx, m.ID))
	if s.Lookup(m.ID) != nil || s.Generation() == generation {
		t.Error("a deleted metric can be looked up, or the generation did not move")
	}
	if held.Deleted {
		t.Error("a metric that was handed out was modified")
	}
	wantIs(t, s.DeleteMetric(ctx, m.ID), model.ErrNotFound)
	_, err = s.MetricOfResource(r.ID, "cpu")
	wantIs(t, err, model.ErrNotFound)
	wantIs(t, s.CreateMetric(ctx, m), model.ErrExists) // the ID is taken until it is expunged
	fatal.If(t, s.CreateMetric(ctx, again))            // the name is free
	fatal.If(t, s.Expunge(ctx, m.ID))
	fatal.If(t, s.CreateMetric(ctx, newMetric("low")))
	if s.CountMetrics() != 2 {
		t.Errorf("%d metrics, want 2", s.CountMetrics())
	}

	lost := newMetric("low")
	unknown := uuid.New()
	lost.Name, lost.ResourceID = "cpu", &unknown
	wantIs(t, s.CreateMetric(ctx, lost), model.ErrNotFound)
	lost.Name = ""
	wantIs(t, s.CreateMetric(ctx, lost), model.ErrInvalid)
}

func TestExpungeIsAllOrNothing(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	a, b := newMetric("low"), newMetric("low")
	fatal.If(t, s.CreateMetrics(ctx, []*model.Metric{a, b}))
	fatal.If(t, s.DeleteMetric(ctx, a.ID))
	wantIs(t, s.Expunge(ctx, a.ID, b.ID), model.ErrInUse)
	wantIs(t, s.Expunge(ctx, a.ID, uuid.New()), model.ErrNotFound)
	fatal.If(t, s.DeleteMetric(ctx, b.ID))
	fatal.If(t, s.Expunge(ctx, a.ID, b.ID, a.ID))
	if deleted, err := s.DeletedMetrics(ctx, 0); err != nil || len(deleted) != 0 {
		t.Errorf("still there: %v %v", deleted, err)
	}
	fatal.If(t, s.CreateMetric(ctx, a))
}

func TestCreateMetricsIsAllOrNothing(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	r := newResource("web")
	fatal.If(t, s.CreateResource(ctx, r, nil))
	a, b := newMetric("low"), newMetric("low")
	a.Name, a.ResourceID = "cpu", &r.ID
	b.Name, b.ResourceID = "cpu", &r.ID
	wantIs(t, s.CreateMetrics(ctx, []*model.Metric{a, b}), model.ErrExists)
	wantIs(t, s.CreateMetrics(ctx, []*model.Metric{a, newMetric("none")}), model.ErrNotFound)
	wantIs(t, s.CreateMetrics(ctx, []*model.Metric{a, a}), model.ErrExists)
	if s.Lookup(a.ID) != nil || s.CountMetrics() != 0 {
		t.Error("a refused call left something")
	}
}

func TestResources(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	web, db := newResource("web"), newResource("db")
	cpu, free := newMetric("low"), newMetric("low")
	cpu.Name = "cpu"
	fatal.If(t, s.CreateMetric(ctx, free))
	s.Lookup(free.ID)
	web.Metrics = map[string]uuid.UUID{"free": free.ID}
	fatal.If(t, s.CreateResource(ctx, web, []*model.Metric{cpu}))
	wantIs(t, s.CreateResource(ctx, web, nil), model.ErrExists)
	if m := s.Lookup(free.ID); m.Name != "free" || *m.ResourceID != web.ID {
		t.Errorf("attached metric is %+v", m)
	}

	// Attached to another resource, a metric leaves the first; another creator's cannot be attached.
	db.Metrics = map[string]uuid.UUID{"moved": free.ID}
	fatal.If(t, s.CreateResource(ctx, db, nil))
	stranger := newResource("stranger")
	stranger.Creator, stranger.Metrics = "jd", map[string]uuid.UUID{"m": free.ID}
	wantIs(t, s.CreateResource(ctx, stranger, nil), model.ErrNotFound)
	r, err := s.Resource("generic", web.ID)
	fatal.If(t, err)
	if len(r.Metrics) != 1 || r.Metrics["cpu"] != cpu.ID {
		t.Errorf("metrics %v", r.Metrics)
	}
	_, err = s.Resource("instance", web.ID)
	wantIs(t, err, model.ErrNotFound)
	_, err = s.Resource("generic", stranger.ID)
	wantIs(t, err, model.ErrNotFound)

	list, err := s.ListResources(ctx, 1, uuid.Nil)
	fatal.If(t, err)
	rest, err := s.ListResources(ctx, 5, list[0].ID)
	fatal.If(t, err)
	if len(list) != 1 || len(rest) != 1 || list[0].ID == rest[0].ID {
		t.Errorf("pages %v, %v", list, rest)
	}

	metrics, err := s.MetricsOfResource(ctx, db.ID)
	fatal.If(t, err)
	if len(metrics) != 1 || metrics[0].Name != "moved" {
		t.Errorf("metrics %v", metrics)
	}
	generation := s.Generation()
	fatal.If(t, s.DeleteResource(ctx, "generic", db.ID, nil))
	wantIs(t, s.DeleteResource(ctx, "generic", db.ID, nil), model.ErrNotFound)
	if s.Lookup(free.ID) != nil || s.Lookup(cpu.ID) == nil || s.CountMetrics() != 1 || s.Generation() == generation {
		t.Error("deleting a resource must delete its metrics, and only those")
	}
	fatal.If(t, s.CreateResource(ctx, newResource("db"), nil))
}

// Of many who create the same thing at once, one succeeds; and what the others are told exists can be read.
func TestUniqueUnderConcurrency(t *testing.T) {
	s := open(t, index.Options{})
	defer closeStore(t, s)
	r := newResource("web")
	fatal.If(t, s.CreateResource(ctx, r, nil))
	const rounds, clients = 20, 8
	for round := range rounds {
		name := fmt.Sprintf("m%d", round)
		var created atomic.Int32
		var wg sync.WaitGroup
		for range clients {
			wg.Go(func() {
				m := newMetric("low")
				m.Name, m.ResourceID = name, &r.ID
				switch err := s.CreateMetric(ctx, m); {
				case err == nil:
					created.Add(1)
					if s.Lookup(m.ID) == nil {
						t.Error("a created metric is unknown")
					}
				default:
					wantIs(t, err, model.ErrExists)
				}
				if _, err := s.MetricOfResource(r.ID, name); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if created.Load() != 1 {
			t.Fatalf("%d clients created %s", created.Load(), name)
		}
	}
	if s.CountMetrics() != rounds {
		t.Errorf("%d metrics, want %d", s.CountMetrics(), rounds)
	}
}

// Lookups, deletions and policy updates at once. A lookup never returns a metric after its deletion was acknowledged,
// nor an old policy after its update was.
func TestLookupWhileChanging(t *testing.T) {
	s := open(t, index.Options{CachedMetrics: 64}) // small, to cause evictions
	defer closeStore(t, s)
	const metrics, rounds = 200, 20
	ids := make([]uuid.UUID, metrics)
	gone := make([]atomic.Bool, metrics)
	for i := range ids {
		m := newMetric("low")
		fatal.If(t, s.CreateMetric(ctx, m))
		ids[i] = m.ID
	}
	var backWindow atomic.Int64
	var done atomic.Bool
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for i := 0; !done.Load(); i = (i + 7) % metrics {
				wasGone, least := gone[i].Load(), backWindow.Load()
				m := s.Lookup(ids[i])
				switch {
				case wasGone && m != nil:
					t.Errorf("metric %d is back", i)
					return
				case m != nil && (m.ID != ids[i] || int64(m.ArchivePolicy.BackWindow) < least):
					t.Errorf("metric %d has back window %d, want at least %d", i, m.ArchivePolicy.BackWindow, least)
					return
				}
			}
		})
	}
	for round := range rounds {
		for i := range metrics / rounds {
			n := round*metrics/rounds + i
			fatal.If(t, s.DeleteMetric(ctx, ids[n]))
			gone[n].Store(true)
		}
		blocks := round + 1
		_, err := s.UpdateArchivePolicy(ctx, "low", func(old *model.ArchivePolicy) (*model.ArchivePolicy, error) {
			return old.Update(&blocks, nil)
		})
		fatal.If(t, err)
		backWindow.Store(int64(blocks))
	}
	done.Store(true)
	wg.Wait()
}
