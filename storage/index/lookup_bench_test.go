package index_test

import (
	"testing"

	"github.com/google/uuid"

	"github.com/gnocco-db/gnocco/model"
	"github.com/gnocco-db/gnocco/storage/index"
	"github.com/gnocco-db/gnocco/tests/fatal"
)

// manyMetrics creates n metrics and returns their IDs.
func manyMetrics(b *testing.B, s *index.Store, n int) []uuid.UUID {
	metrics := make([]*model.Metric, n)
	ids := make([]uuid.UUID, n)
	for i := range metrics {
		metrics[i] = newMetric("low")
		ids[i] = metrics[i].ID
	}
	fatal.If(b, s.CreateMetrics(ctx, metrics))
	return ids
}

func BenchmarkLookup(b *testing.B) {
	const metrics = 100_000
	s := open(b, index.Options{})
	defer closeStore(b, s)
	ids := manyMetrics(b, s, metrics)
	b.Run("warm/metrics=100k", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if s.Lookup(ids[i%metrics]) == nil {
				b.Fatal("unknown")
			}
		}
	})
	b.Run("warm/metrics=100k/parallel", func(b *testing.B) {
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for i := 0; pb.Next(); i++ {
				if s.Lookup(ids[i%metrics]) == nil {
					b.Fail()
				}
			}
		})
	})
	b.Run("unknown", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if s.Lookup(uuid.Nil) != nil {
				b.Fatal("known")
			}
		}
	})
	small := index.Options{CachedMetrics: 1000}
	cold := open(b, small)
	defer closeStore(b, cold)
	ids = manyMetrics(b, cold, metrics)
	b.Run("cold/metrics=100k", func(b *testing.B) {
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if cold.Lookup(ids[i%metrics]) == nil {
				b.Fatal("unknown")
			}
		}
	})
	b.Run("cold/metrics=100k/together", func(b *testing.B) {
		const of = 16 // as a sack's metrics are of all
		asked := make([]uuid.UUID, 0, metrics/of)
		for i := 0; i < metrics; i += of {
			asked = append(asked, ids[i])
		}
		found := make([]*model.Metric, len(asked))
		b.ReportAllocs()
		for b.Loop() {
			fatal.If(b, cold.Find(ctx, asked, found))
		}
		if found[0] == nil {
			b.Fatal("unknown")
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(asked)), "ns/metric")
	})
}

func BenchmarkCreateMetrics(b *testing.B) {
	const batch = 1000
	s := open(b, index.Options{})
	defer closeStore(b, s)
	b.ReportAllocs()
	for b.Loop() {
		manyMetrics(b, s, batch)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*batch), "ns/metric")
}

func BenchmarkListMetrics(b *testing.B) {
	const metrics, limit = 100_000, 1000
	s := open(b, index.Options{})
	defer closeStore(b, s)
	manyMetrics(b, s, metrics)
	for name, sort := range map[string][]index.SortKey{"sort=id": nil, "sort=name": {{Key: "name"}}} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				page, err := s.ListMetrics(ctx, index.MetricQuery{Sort: sort, Limit: limit})
				if err != nil || len(page) != limit {
					b.Fatal(len(page), err)
				}
			}
		})
	}
}
