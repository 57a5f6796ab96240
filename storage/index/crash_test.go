package index_test

import (
	"errors"
	"fmt"
	"sync"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// TestCrash runs clients against a store, at moments crashes the file system under it, and reopens what is left: all
// that was acknowledged before the crash is there, and a resource is there with all its metrics or not at all.
func TestCrash(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := open(t, index.Options{FS: fs})
	defer closeStore(t, s)

	const clients, rounds = 4, 12
	var mu sync.Mutex                    // guards acked
	acked := map[uuid.UUID][]uuid.UUID{} // resource: its metrics; nil once deleted
	var all []uuid.UUID                  // resources, acknowledged or not
	snapshot := func() map[uuid.UUID][]uuid.UUID {
		mu.Lock()
		defer mu.Unlock()
		copied := map[uuid.UUID][]uuid.UUID{}
		for id, metrics := range acked {
			copied[id] = metrics
		}
		return copied
	}
	for round := range rounds {
		var wg sync.WaitGroup
		for client := range clients {
			wg.Go(func() {
				for i := range 5 {
					r := newResource(fmt.Sprintf("%d.%d.%d", round, client, i))
					var metrics []*model.Metric
					var ids []uuid.UUID
					for n := range 3 {
						m := newMetric("low")
						m.Name = fmt.Sprint(n)
						metrics, ids = append(metrics, m), append(ids, m.ID)
					}
					mu.Lock()
					all = append(all, r.ID)
					mu.Unlock()
					if err := s.CreateResource(ctx, r, metrics); err != nil {
						t.Error(err)
						return
					}
					mu.Lock()
					acked[r.ID] = ids
					mu.Unlock()
				}
			})
		}
		before := snapshot()
		crashed := fs.CrashClone(vfs.CrashCloneCfg{}) // somewhere in the middle of the clients' work
		wg.Wait()
		checkAfterCrash(t, crashed, before, all)
	}
}

func checkAfterCrash(t *testing.T, fs *vfs.MemFS, acked map[uuid.UUID][]uuid.UUID, all []uuid.UUID) {
	t.Helper()
	s := open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	for id, metrics := range acked {
		if _, err := s.Resource("generic", id); err != nil {
			t.Fatalf("acknowledged resource is lost: %v", err)
		}
		for _, m := range metrics {
			if s.Lookup(m) == nil {
				t.Fatal("acknowledged metric is lost")
			}
		}
	}
	count := 0
	for _, id := range all {
		r, err := s.Resource("generic", id)
		if errors.Is(err, model.ErrNotFound) {
			continue
		}
		fatal.If(t, err)
		if len(r.Metrics) != 3 {
			t.Fatalf("half a resource: %v", r.Metrics)
		}
		count += len(r.Metrics)
	}
	listed, err := s.ListMetrics(ctx, index.MetricQuery{})
	fatal.If(t, err)
	if s.CountMetrics() != count || len(listed) != count {
		t.Fatalf("%d metrics in resources, counted as %d, listed as %d", count, s.CountMetrics(), len(listed))
	}
}

// Deletions, expunges and policies survive a crash right after they were acknowledged.
func TestCrashAfterEach(t *testing.T) {
	fs := vfs.NewCrashableMem()
	s := open(t, index.Options{FS: fs})
	defer closeStore(t, s)
	after := func(check func(s *index.Store)) {
		t.Helper()
		s := open(t, index.Options{FS: fs.CrashClone(vfs.CrashCloneCfg{})})
		defer closeStore(t, s)
		check(s)
	}
	m := newMetric("low")
	fatal.If(t, s.CreateMetric(ctx, m))
	fatal.If(t, s.DeleteMetric(ctx, m.ID))
	after(func(s *index.Store) {
		deleted, err := s.DeletedMetrics(ctx, 1)
		fatal.If(t, err)
		if s.Lookup(m.ID) != nil || len(deleted) != 1 {
			t.Error("a deletion is lost")
		}
	})
	fatal.If(t, s.Expunge(ctx, m.ID))
	fatal.If(t, s.DeleteArchivePolicyRule(ctx, "default"))
	fatal.If(t, s.DeleteArchivePolicy(ctx, "low"))
	after(func(s *index.Store) {
		deleted, err := s.DeletedMetrics(ctx, 1)
		fatal.If(t, err)
		_, err = s.ArchivePolicy("low")
		wantIs(t, err, model.ErrNotFound)
		if len(deleted) != 0 {
			t.Error("an expunge is lost")
		}
	})
}
