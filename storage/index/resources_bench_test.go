package index_test

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/carbonara"
	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// serverType has an attribute of each kind.
func serverType(t testing.TB) *model.ResourceType {
	t.Helper()
	server, err := model.NewResourceType("server", []*model.Attribute{
		attribute("host", model.KindString, true, nil), attribute("image", model.KindUUID, false, nil),
		attribute("memory", model.KindNumber, false, nil), attribute("on", model.KindBool, false, nil),
		attribute("launched", model.KindDatetime, false, nil),
	})
	fatal.If(t, err)
	return server
}

func newServer(i int) (*model.Resource, []*model.Metric) {
	project := fmt.Sprintf("project %d", i%100)
	r := &model.Resource{ID: uuid.New(), Type: "server", Creator: "admin", ProjectID: &project,
		StartedAt: 1, RevisionStart: 2, Attributes: model.Values{{Name: "host", Value: fmt.Sprintf("host-%d", i%1000)},
			{Name: "image", Value: uuid.New()}, {Name: "launched", Value: carbonara.Timestamp(i)},
			{Name: "memory", Value: float64(i % 64)},
			{Name: "on", Value: i%2 == 0}}}
	r.OriginalID = r.ID.String()
	var metrics []*model.Metric
	for _, name := range []string{"cpu", "memory.usage", "disk.read", "disk.write", "network"} {
		m := newMetric("low")
		m.Name = name
		metrics = append(metrics, m)
	}
	return r, metrics
}

// openCached opens a store with a cache as the server has it.
func openCached(b *testing.B) *index.Store {
	cache := pebble.NewCache(128 << 20)
	b.Cleanup(cache.Unref)
	return open(b, index.Options{Cache: cache})
}

// Resources of 5 metrics each, by as many clients as the API has under load. The file system is in memory.
func BenchmarkCreateResource(b *testing.B) {
	s := openCached(b)
	defer closeStore(b, s)
	fatal.If(b, s.CreateResourceType(ctx, serverType(b)))
	var n atomic.Int64
	b.SetParallelism(32)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			r, metrics := newServer(int(n.Add(1)))
			if err := s.CreateResource(ctx, r, metrics); err != nil {
				b.Error(err)
			}
		}
	})
}

func BenchmarkResources(b *testing.B) {
	const resources = 20_000
	s := openCached(b)
	defer closeStore(b, s)
	fatal.If(b, s.CreateResourceType(ctx, serverType(b)))
	ids := make([]uuid.UUID, resources)
	for i := range ids {
		r, metrics := newServer(i)
		ids[i] = r.ID
		fatal.If(b, s.CreateResource(ctx, r, metrics))
		if i%2 == 0 { // resources of another type in between
			fatal.If(b, s.CreateResource(ctx, newResource(fmt.Sprint(i)), nil))
		}
	}
	each := func(name, resourceType string, want int, each func(f func(*model.Resource) bool) error) {
		b.Run("op="+name+"/type="+resourceType, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				n := 0
				if err := each(func(*model.Resource) bool { n++; return true }); err != nil || n != want {
					b.Fatal(n, err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*want), "ns/resource")
		})
	}
	for resourceType, want := range map[string]int{"server": resources, "generic": resources + resources/2} {
		each("EachRevision", resourceType, want, func(f func(*model.Resource) bool) error {
			return s.EachRevision(ctx, resourceType, f)
		})
	}
	b.Run("op=Resource", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if r, err := s.Resource("server", ids[i%resources]); err != nil || len(r.Metrics) != 5 {
				b.Fatal(r, err)
			}
		}
	})
	b.Run("op=UpdateResource", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			_, err := s.UpdateResource(ctx, "server", ids[i%resources], 3,
				func(r *model.Resource) (*index.MetricSet, error) {
					r.Attributes.Set("memory", float64(i))
					return nil, nil
				})
			fatal.If(b, err)
		}
	})
}
